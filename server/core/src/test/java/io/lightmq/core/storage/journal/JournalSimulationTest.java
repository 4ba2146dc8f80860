package io.lightmq.core.storage.journal;

import org.junit.jupiter.api.Test;

/** Many seeds of {@link JournalSimulation}; {@code -Dlightmq.seeds=N} sets how many. */
class JournalSimulationTest {
  private static final int ROUNDS = 12;

  @Test
  void noSeedBreaksAnInvariant() {
    seeds(1, Integer.getInteger("lightmq.seeds", 400), false);
  }

  @Test
  void noSeedWithFailingForcesAndWritesBreaksAnInvariant() {
    seeds(1_000_001, Integer.getInteger("lightmq.seeds", 400), true);
  }

  private static void seeds(long first, int count, boolean failures) {
    long only = Long.getLong("lightmq.seed", -1);
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
