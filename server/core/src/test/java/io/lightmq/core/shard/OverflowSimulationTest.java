package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class OverflowSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 200);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  @Test
  void everyMessageReachesEverySubscriptionOnceAndInOrder() {
    long moved = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      moved += run(seed);
    }
    assertThat(moved).isGreaterThan(10L * SEEDS);
  }

  @Test
  void aDiskThatKeepsNothingIsNoticed() {
    assertThatThrownBy(
            () -> {
              for (long seed = 1; seed <= 10; seed++) {
                new OverflowSimulation(seed, true).run();
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("never got");
  }

  private static long run(long seed) {
    try {
      return new OverflowSimulation(seed, false).run();
    } catch (IOException | RuntimeException | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + " fails; run it again with: ./mvnw -pl server/core -am test"
              + " -Dtest=OverflowSimulationTest -Dsurefire.failIfNoSpecifiedTests=false"
              + " -Dlightmq.seeds=1 -Dlightmq.seed="
              + seed,
          e);
    }
  }
}
