package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GroupSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 300);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  @Test
  void theOrderOfAGroupHoldsWhoeverComesAndGoesAndNothingIsLeft() {
    long delivered = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      delivered += run(seed);
    }
    assertThat(delivered).isGreaterThan(50L * SEEDS);
  }

  @Test
  void messagesOfOneGroupThatTheBrokerTakesForSeveralAreFound() {
    isFound(
        new GroupSimulation.Plant() {
          @Override
          @Nullable String group(@Nullable String group, int message) {
            return group == null ? null : group + message % 2;
          }
        },
        " before ");
  }

  @Test
  void aKeyViewThatMovesWhileSomethingIsInFlightIsFound() {
    isFound(
        new GroupSimulation.Plant() {
          @Override
          List<FakePeer.Received> alsoAcknowledged(List<FakePeer.Received> held) {
            return held;
          }
        },
        " while ");
  }

  private static void isFound(GroupSimulation.Plant plant, String facts) {
    List<String> found = new ArrayList<>();
    for (long seed = 1; seed <= 200 && found.isEmpty(); seed++) {
      try {
        new GroupSimulation(seed, plant).run();
      } catch (IOException | AssertionError e) {
        if (String.valueOf(e.getMessage()).contains(facts)) {
          found.add("seed " + seed + ": " + e);
        }
      }
    }
    assertThat(found).as("a violation in 200 seeds").isNotEmpty();
  }

  private static long run(long seed) {
    try {
      return new GroupSimulation(seed, new GroupSimulation.Plant()).run();
    } catch (IOException | RuntimeException | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + " fails; run it again with: ./mvnw -pl server/core -am test"
              + " -Dtest=GroupSimulationTest -Dsurefire.failIfNoSpecifiedTests=false"
              + " -Dlightmq.seeds=1 -Dlightmq.seed="
              + seed,
          e);
    }
  }
}
