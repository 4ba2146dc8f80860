package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.shard.Simulation.Plant;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class OrderSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 200);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);

  /** Planted bugs are looked for in so many histories. */
  private static final int PLANTED_SEEDS = 100;

  @Test
  void orderHoldsWhileSubscriptionsComeAndGo() {
    int crashes = 0;
    long first = 0;
    long changes = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      OrderSimulation simulation = run(seed);
      crashes += simulation.crashes();
      first += simulation.model().firstDeliveries();
      changes += simulation.model().laneChanges();
    }
    if (SEEDS > 20) {
      assertThat(crashes).as("crashes in %d histories", SEEDS).isGreaterThan(SEEDS);
      assertThat(first).as("first deliveries").isGreaterThan(100L * SEEDS);
      assertThat(changes)
          .as("messages that lie in the other lane than the one of their producer before them")
          .isGreaterThan(10L * SEEDS);
    }
  }

  private static OrderSimulation run(long seed) {
    OrderSimulation simulation = new OrderSimulation(seed, new Plant());
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
    return simulation;
  }

  /** One history at least has to end for the reason that was planted. */
  private static void isFound(Supplier<Plant> planted, String words) {
    List<String> found = new ArrayList<>();
    for (long seed = 1; seed <= PLANTED_SEEDS; seed++) {
      try {
        new OrderSimulation(seed, planted.get()).run();
      } catch (Exception | AssertionError e) {
        found.add("seed " + seed + ": " + e);
        if (e.toString().contains(words)) {
          return;
        }
      }
    }
    assertThat(found).as("violations in %d seeds", PLANTED_SEEDS).anyMatch(e -> e.contains(words));
  }

  /** Held back where it arrives, so that the sender's next one is stored before it. */
  @Test
  void aVolatileMessageThatOvertakesItsDurablePredecessorIsFound() {
    class Planted extends Plant {
      private Command.Publish waiting;

      @Override
      void submit(Broker broker, Command.Publish publish) {
        Command.Publish held = waiting;
        if (held == null && publish.number() > 0) {
          waiting = publish;
          return;
        }
        waiting = null;
        boolean overtakes = held != null && held.peer() == publish.peer() && publish.number() == 0;
        if (held != null && !overtakes) {
          broker.submit(held);
        }
        broker.submit(publish);
        if (overtakes) {
          broker.submit(held);
        }
      }

      @Override
      void starting(boolean begins) {
        waiting = null;
      }
    }
    isFound(Planted::new, "of the other delivery mode");
  }

  /** A view that gives what its volatile lane has before what its durable lane has. */
  @Test
  void lanesThatAreReadOneAfterTheOtherAreFound() {
    class Planted extends Plant {
      @Override
      FakePeer peer(long connectionId) {
        return new FakePeer(connectionId) {
          @Override
          public void deliver(Delivery delivery) {
            Consumer<Received> told = onReceived;
            List<Received> slow = new ArrayList<>();
            onReceived =
                each -> {
                  if (LaneCode.isDurable(each.lane())) {
                    slow.add(each);
                  } else {
                    told.accept(each);
                  }
                };
            super.deliver(delivery);
            onReceived = told;
            slow.forEach(told);
          }
        };
      }
    }
    isFound(Planted::new, "comes after");
  }

  @Test
  void aMessageThatIsDroppedIsFound() {
    class Planted extends Plant {
      private int runs;

      @Override
      void submit(Broker broker, Command.Publish publish) {
        if (publish.count() < 2 || ++runs % 20 != 0) {
          broker.submit(publish);
          return;
        }
        ByteBuffer all = publish.messages().buffer();
        broker.submit(
            new Command.Publish(
                publish.peer(),
                publish.correlation(),
                publish.destinationId(),
                publish.number(),
                1,
                new Command.Bytes() {
                  @Override
                  public ByteBuffer buffer() {
                    return all.duplicate().limit(4 + all.getInt(0));
                  }

                  @Override
                  public void release() {
                    publish.messages().release();
                  }
                }));
      }
    }
    isFound(Planted::new, "never came");
  }
}
