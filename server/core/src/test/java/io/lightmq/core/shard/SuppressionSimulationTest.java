package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class SuppressionSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 200);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  @Test
  void ofEachKeyOneMessageIsTakenAndNoneIsDropped() {
    long suppressed = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      suppressed += run(seed);
    }
    assertThat(suppressed).isGreaterThan(SEEDS);
  }

  @Test
  void aQueueThatSuppressesNothingIsNoticed() {
    assertThatThrownBy(() -> new SuppressionSimulation(1, "none").run())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(" comes ");
  }

  @Test
  void aWindowThatIsTooSmallIsNoticed() {
    assertThatThrownBy(
            () -> {
              for (long seed = 1; seed <= 10; seed++) {
                new SuppressionSimulation(seed, "property:key,keys=3").run();
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(" comes although ");
  }

  private static long run(long seed) {
    try {
      return new SuppressionSimulation(seed, "property:key").run();
    } catch (IOException | RuntimeException | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + " fails; run it again with: ./mvnw -pl server/core -am test"
              + " -Dtest=SuppressionSimulationTest -Dsurefire.failIfNoSpecifiedTests=false"
              + " -Dlightmq.seeds=1 -Dlightmq.seed="
              + seed,
          e);
    }
  }
}
