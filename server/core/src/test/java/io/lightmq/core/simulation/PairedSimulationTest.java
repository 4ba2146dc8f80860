package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.shard.BrokerHarness;
import io.lightmq.core.shard.PairedBrokers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The histories of {@link BrokerSimulation} with two or three brokers on one log: whenever the
 * broker of a history ends, another one leads, or the same one again. {@code -Dlightmq.seeds} and
 * {@code -Dlightmq.seed} say which.
 */
class PairedSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 60);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  /** So much is told of how it ends. */
  private static final int LAST_WORDS = Integer.getInteger("lightmq.story", 40);

  /** Makes several brokers of the one. */
  private static final class Paired extends Plant {
    private final List<PairedBrokers> made;
    private final long seed;

    Paired(long seed, List<PairedBrokers> made) {
      this.seed = seed;
      this.made = made;
    }

    @Override
    void prepare(BrokerHarness harness) {
      PairedBrokers brokers = new PairedBrokers(seed);
      harness.paired = brokers;
      made.add(brokers);
    }
  }

  @Test
  void seeds() {
    List<PairedBrokers> all = new ArrayList<>();
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      long of = seed;
      History history = new History(seed, Feature.parse(""), null);
      Throwable found = history.run(() -> new Paired(of, all));
      if (found != null) {
        List<String> story = history.story(() -> new Paired(of, new ArrayList<>()));
        throw new AssertionError(
            "seed "
                + seed
                + " fails: "
                + found
                + " which ends so: "
                + String.join(
                    "\n", story.subList(Math.max(0, story.size() - LAST_WORDS), story.size())),
            found);
      }
    }
    if (SEEDS >= 50) {
      assertThat(all.stream().mapToInt(each -> each.changes).sum()).isGreaterThan(SEEDS);
      assertThat(all.stream().mapToInt(each -> each.lostWithBatches).sum()).isPositive();
      assertThat(all.stream().mapToInt(each -> each.compared).sum()).isGreaterThan(SEEDS / 10);
      assertThat(all.stream().mapToInt(each -> each.restarts).sum()).isPositive();
    }
  }
}
