package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.shard.PairedBrokers;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The histories of {@link BrokerSimulation} with two or three brokers on one log: whenever the
 * broker of a history ends, another one leads, or the same one again. {@code -Dlightmq.seeds},
 * {@code -Dlightmq.seed}, {@code -Dlightmq.features} and {@code -Dlightmq.steps} say which.
 */
class PairedSimulationTest {
  private static final int SEEDS = Seeds.count(60);
  private static final long FIRST = Seeds.first(1);
  private static final Set<Feature> FEATURES =
      Feature.parse(System.getProperty("lightmq.features", ""));
  private static final @Nullable Set<Integer> STEPS =
      History.steps(System.getProperty("lightmq.steps", ""));

  @Test
  void seeds() {
    List<PairedBrokers> all = new ArrayList<>();
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      long of = seed;
      History history = new History(seed, FEATURES, STEPS);
      Throwable found = history.run(() -> new PairedPlant(of, all::add));
      if (found != null) {
        throw new AssertionError(
            FailureReport.of(history, found, () -> new PairedPlant(of, brokers -> {}), getClass()),
            found);
      }
    }
    Seeds.held(FIRST, SEEDS);
    if (SEEDS >= 50 && FEATURES.equals(Feature.all())) {
      assertThat(all.stream().mapToInt(each -> each.changes).sum()).isGreaterThan(SEEDS);
      assertThat(all.stream().mapToInt(each -> each.lostWithBatches).sum()).isPositive();
      assertThat(all.stream().mapToInt(each -> each.compared).sum()).isGreaterThan(SEEDS / 10);
      assertThat(all.stream().mapToInt(each -> each.restarts).sum()).isPositive();
      assertThat(all.stream().mapToInt(each -> each.closes).sum()).isPositive();
    }
  }
}
