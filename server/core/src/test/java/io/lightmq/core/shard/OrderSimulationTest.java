package io.lightmq.core.shard;

import org.junit.jupiter.api.Test;

class OrderSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 200);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  @Test
  void orderHoldsWhileSubscriptionsComeAndGo() {
    int crashes = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      crashes += run(seed);
    }
    if (SEEDS > 20 && crashes < SEEDS) {
      throw new AssertionError("only " + crashes + " crashes in " + SEEDS + " histories");
    }
  }

  private static int run(long seed) {
    OrderSimulation simulation = new OrderSimulation(seed, new Simulation.Plant());
    try {
      simulation.run();
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + " fails; run it again with: ./mvnw -pl server/core -am test"
              + " -Dtest=OrderSimulationTest -Dsurefire.failIfNoSpecifiedTests=false"
              + " -Dlightmq.seeds=1 -Dlightmq.seed="
              + seed,
          e);
    }
    return simulation.crashes();
  }
}
