package io.lightmq.core.shard;

import java.util.ArrayList;
import java.util.List;
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
    List<Long> withoutOverflow = new ArrayList<>();
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      Simulation simulation = run(seed);
      crashes += simulation.crashes();
      if (simulation.overflowFiles() == 0) {
        withoutOverflow.add(seed);
      }
    }
    if (SEEDS > 20 && crashes < SEEDS) {
      throw new AssertionError("only " + crashes + " crashes in " + SEEDS + " histories");
    }
    if (!withoutOverflow.isEmpty()) {
      throw new AssertionError("these histories did not overflow: " + withoutOverflow);
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
