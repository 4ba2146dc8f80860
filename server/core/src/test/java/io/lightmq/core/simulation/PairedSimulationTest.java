package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.shard.PairedBrokers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
    // Sums, not the brokers: those of thousands of seeds fill the heap.
    Map<String, Integer> sums = new TreeMap<>();
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
      for (PairedBrokers each : all) {
        sums.merge("changes", each.changes, Integer::sum);
        sums.merge("lost with batches", each.lostWithBatches, Integer::sum);
        sums.merge("compared", each.compared, Integer::sum);
        sums.merge("restarts", each.restarts, Integer::sum);
        sums.merge("closes", each.closes, Integer::sum);
      }
      all.clear();
    }
    Seeds.held(FIRST, SEEDS);
    if (SEEDS >= 50 && FEATURES.equals(Feature.all())) {
      assertThat(sums.get("changes")).isGreaterThan(SEEDS);
      assertThat(sums.get("lost with batches")).isPositive();
      assertThat(sums.get("compared")).isGreaterThan(SEEDS / 10);
      assertThat(sums.get("restarts")).isPositive();
      assertThat(sums.get("closes")).isPositive();
    }
  }
}
