package io.lightmq.core.storage.journal;

import io.lightmq.core.simulation.Seeds;
import org.junit.jupiter.api.Test;

/** Many seeds of {@link JournalSimulation}; {@code -Dlightmq.seeds=N} sets how many. */
class JournalSimulationTest {
  private static final int ROUNDS = 12;

  @Test
  void noSeedBreaksAnInvariant() {
    seeds(1, Seeds.count(400), false);
  }

  @Test
  void noSeedWithFailingForcesAndWritesBreaksAnInvariant() {
    seeds(1_000_001, Seeds.count(400), true);
  }

  private static void seeds(long first, int count, boolean failures) {
    long only = Seeds.first(-1);
    for (long seed = only < 0 ? first : only;
        seed < (only < 0 ? first + count : only + 1);
        seed++) {
      try {
        new JournalSimulation(seed, new JournalRig(seed), failures).run(ROUNDS);
      } catch (Throwable e) {
        throw new AssertionError(
            "seed "
                + seed
                + "; again with: ./mvnw -pl server/core -am test -Dtest=JournalSimulationTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dlightmq.seed="
                + seed,
            e);
      }
    }
  }
}
