package io.lightmq.core.shard;

import org.junit.jupiter.api.Test;

class SimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 300);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  /**
   * An attach that waited for a checkpoint; a repetition answered after the run before it; two
   * journals full of what only the older snapshot needed.
   */
  private static final long[] ONCE_FAILED = {4150, 4391, 31015, 31245};

  @Test
  void everyHistoryKeepsEveryPromise() {
    int crashes = 0;
    int overflowing = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      Simulation simulation = run(seed);
      crashes += simulation.crashes();
      overflowing += simulation.overflowFiles() > 0 ? 1 : 0;
    }
    if (SEEDS > 20 && crashes < SEEDS) {
      throw new AssertionError("only " + crashes + " crashes in " + SEEDS + " histories");
    }
    if (overflowing < SEEDS) {
      throw new AssertionError("only " + overflowing + " of " + SEEDS + " histories overflowed");
    }
  }

  @Test
  void historiesThatOnceFailedKeepEveryPromise() {
    for (long seed : ONCE_FAILED) {
      run(seed);
    }
  }

  private static Simulation run(long seed) {
    Simulation simulation = new Simulation(seed, new Simulation.Plant());
    try {
      simulation.run();
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + " fails; run it again with: ./mvnw -pl server/core -am test"
              + " -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dlightmq.seeds=1"
              + " -Dlightmq.seed="
              + seed,
          e);
    }
    return simulation;
  }
}
