package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.shard.Simulation.Plant;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.segment.Wanted;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Each known way to break the promises, planted at a seam, must turn the simulation red. What does
 * not is a hole in the simulation.
 */
class PlantedBugTest {
  private static final int SEEDS = 1_500;

  private static void isFound(Supplier<Plant> planted) {
    List<String> found = new ArrayList<>();
    for (long seed = 1; seed <= SEEDS && found.isEmpty(); seed++) {
      try {
        new Simulation(seed, planted.get()).run();
      } catch (Exception | AssertionError e) {
        found.add("seed " + seed + ": " + e);
      }
    }
    assertThat(found).as("a violation in %d seeds", SEEDS).isNotEmpty();
    if (Boolean.getBoolean("lightmq.show")) {
      System.out.println(planted.get().getClass().getName() + " " + found);
    }
  }

  private static boolean isJournal(DiskFile file) {
    return file.name().startsWith("journal/");
  }

  @Test
  void confirmingBeforeTheForceIsFound() {
    class Planted extends Plant {
      @Override
      Disk disk(Disk disk) {
        return new FaultyDisk(disk) {
          private DiskFile late;

          @Override
          protected void force(DiskFile file) throws IOException {
            if (!isJournal(file)) {
              file.force();
              return;
            }
            if (late != null) {
              try {
                late.force();
              } catch (IOException closedMeanwhile) {
                late = null;
              }
            }
            late = file;
          }
        };
      }
    }
    isFound(Planted::new);
  }

  @Test
  void aForceThatDoesNothingIsFound() {
    class Planted extends Plant {
      @Override
      Disk disk(Disk disk) {
        return new FaultyDisk(disk) {
          @Override
          protected void force(DiskFile file) throws IOException {
            if (!isJournal(file)) {
              file.force();
            }
          }
        };
      }
    }
    isFound(Planted::new);
  }

  @Test
  void aMissingForceOfDirectoriesIsFound() {
    class Planted extends Plant {
      @Override
      Disk disk(Disk disk) {
        return new FaultyDisk(disk) {
          @Override
          public void forceDirectory(String folder) {}
        };
      }
    }
    isFound(Planted::new);
  }

  @Test
  void selectingByWhatIsNotInTheMessageIsFound() {
    class Planted extends Plant {
      @Override
      void submit(Broker broker, Command.Publish publish) {
        broker.submit(
            new Command.Publish(
                publish.peer(),
                publish.correlation(),
                publish.destinationId(),
                publish.number(),
                publish.count(),
                withOtherProperties(publish.messages())));
      }
    }
    isFound(Planted::new);
  }

  /** The same messages; the property that selectors look at is one more. */
  private static Command.Bytes withOtherProperties(Command.Bytes bytes) {
    ByteBuffer messages = bytes.buffer();
    MessageWriter writer = new MessageWriter(1 << 16);
    ByteBuffer changed = ByteBuffer.allocate(messages.remaining());
    for (int at = messages.position(); at < messages.limit(); at += 4 + messages.getInt(at)) {
      MessageReader reader = new MessageReader(messages, at + 4, messages.getInt(at));
      Integer n = (Integer) reader.property("n");
      writer
          .start(BodyType.TEXT, reader.priority(), reader.isPersistent(), 0, 0)
          .correlationId(reader.correlationId())
          .properties(Map.of("n", n == null ? 0 : (n + 1) % 7))
          .textBody(reader.textBody())
          .finish();
      changed.putInt(writer.length()).put(writer.array(), 0, writer.length());
    }
    changed.flip();
    return new Command.Bytes() {
      @Override
      public ByteBuffer buffer() {
        return changed;
      }

      @Override
      public void release() {
        bytes.release();
      }
    };
  }

  @Test
  void trustingTheRecoveredTailIsFound() {
    class Planted extends Plant {
      private boolean starts;

      @Override
      void starting(boolean begins) {
        starts = begins;
      }

      @Override
      Disk disk(Disk disk) {
        return new FaultyDisk(disk) {
          @Override
          protected void force(DiskFile file) throws IOException {
            if (!starts || !isJournal(file)) {
              file.force();
            }
          }
        };
      }
    }
    isFound(Planted::new);
  }

  @Test
  void droppingOneMessageInSomeHundredIsFound() {
    class Planted extends Plant {
      private int runs;

      @Override
      void submit(Broker broker, Command.Publish publish) {
        if (publish.count() < 2 || ++runs % 50 != 0) {
          broker.submit(publish);
          return;
        }
        ByteBuffer all = publish.messages().buffer();
        int at = 0;
        for (int i = 0; i < publish.count() - 1; i++) {
          at += 4 + all.getInt(at);
        }
        ByteBuffer fewer = all.duplicate().limit(at);
        broker.submit(
            new Command.Publish(
                publish.peer(),
                publish.correlation(),
                publish.destinationId(),
                publish.number(),
                publish.count() - 1,
                new Command.Bytes() {
                  @Override
                  public ByteBuffer buffer() {
                    return fewer;
                  }

                  @Override
                  public void release() {
                    publish.messages().release();
                  }
                }));
      }
    }
    isFound(Planted::new);
  }

  @Test
  void deliveringTwiceWithoutTheFlagIsFound() {
    class Planted extends Plant {
      @Override
      FakePeer peer(long connectionId) {
        return new FakePeer(connectionId) {
          @Override
          public void deliver(Delivery delivery) {
            super.deliver(
                new Delivery(
                    delivery.consumerId(),
                    delivery.pullId(),
                    delivery.count(),
                    List.of(),
                    delivery.entries(),
                    delivery.length()));
          }
        };
      }
    }
    isFound(Planted::new);
  }

  @Test
  void reusingSequencesAfterACrashIsFound() {
    class Planted extends Plant {
      @Override
      FakePeer peer(long connectionId) {
        return new FakePeer(connectionId) {
          @Override
          long sequenceOf(long stored) {
            return stored & 0xFFFFFFFFL;
          }
        };
      }
    }
    isFound(Planted::new);
  }

  @Test
  void aMessageInTheLaneOfAnotherPriorityIsFound() {
    class Planted extends Plant {
      private static final int PRIORITY_AT = 4 + 6;

      @Override
      void submit(Broker broker, Command.Publish publish) {
        ByteBuffer all = publish.messages().buffer();
        int at = 0;
        for (int i = 0; i < publish.count(); i++) {
          if (all.get(at + PRIORITY_AT) == 7) {
            all.put(at + PRIORITY_AT, (byte) 4);
          }
          at += 4 + all.getInt(at);
        }
        broker.submit(publish);
      }
    }
    isFound(Planted::new);
  }

  /** No seam lies between the view and what comes, so the invariant is asked itself. */
  @Test
  void givingLowPrioritiesFirstIsFound() {
    SimulationModel.Queue queue =
        new SimulationModel.Queue(new DestinationName(DestinationKind.QUEUE, "q"), true);
    Invariant invariant = new Invariant.HighestPriorityFirst();
    invariant.drained(queue, new SimulationModel.Message("a", 1, 1, true, 9));
    invariant.drained(queue, new SimulationModel.Message("b", 1, 2, true, 3));
    assertThatThrownBy(
            () -> invariant.drained(queue, new SimulationModel.Message("c", 1, 3, true, 4)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("HighestPriorityFirst");
  }

  @Test
  void destagingByTheNewestStateIsFound() {
    class Planted extends Plant {
      @Override
      Checkpoints.Destaging destaging(SegmentStore segments, ShardState state) {
        return (plan, bytes) -> {
          List<DestagePlan.LanePlan> lanes = new ArrayList<>();
          for (DestagePlan.LanePlan lane : plan.lanes()) {
            Wanted newest =
                sequence ->
                    lane.needed().wants(sequence)
                        && isNeededNow(
                            state.destinations().find(lane.destinationId()), lane.lane(), sequence);
            lanes.add(
                new DestagePlan.LanePlan(
                    lane.destinationId(),
                    lane.lane(),
                    lane.holderId(),
                    lane.pieces(),
                    lane.runs(),
                    lane.expectedBytes(),
                    newest));
          }
          return segments.destage(
              new DestagePlan(plan.offset(), lanes, plan.rewrite()), bytes, () -> false);
        };
      }

      private static boolean isNeededNow(Destination destination, int lane, long sequence) {
        if (destination == null) {
          return false;
        }
        for (Subscription subscription : destination.subscriptions()) {
          if (subscription.isUnacknowledged(lane, sequence)) {
            return true;
          }
        }
        return false;
      }
    }
    isFound(Planted::new);
  }

  @Test
  void sendingWithoutTheAcknowledgementOfThePullIsFound() {
    class Planted extends Plant {
      @Override
      void submit(Broker broker, Command.AttachConsumer attach) {
        broker.submit(
            new Command.AttachConsumer(
                attach.peer(),
                attach.correlation(),
                attach.consumerId(),
                attach.sessionId(),
                attach.destination(),
                attach.subscribe(),
                attach.subscription(),
                attach.selector(),
                attach.noLocal(),
                false,
                attach.mayCreate()));
      }
    }
    isFound(Planted::new);
  }
}
