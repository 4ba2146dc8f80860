package io.lightmq.core.simulation;

import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.door.Command;
import io.lightmq.core.shard.BrokerHarness;
import io.lightmq.core.shard.PlantedSeams;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The planted bugs, each a fault at one seam. */
final class Plants {
  private Plants() {}

  private static boolean isJournal(DiskFile file) {
    return file.name().startsWith("journal/");
  }

  /** An orderly end leaves no record. */
  static final class StopsWithoutARecord extends Plant {
    @Override
    void stop(BrokerHarness harness) {
      harness.loops.runUntilIdle();
      harness.crash(false);
    }
  }

  // ---- the disk ----

  /** A journal file is forced when the next one is asked for. */
  static final class ConfirmsBeforeTheForce extends Plant {
    @Override
    Disk disk(Disk disk) {
      return new FaultyDisk(disk) {
        private @Nullable DiskFile late;

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

  static final class ForcesNothing extends Plant {
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

  static final class ForcesNoDirectory extends Plant {
    @Override
    Disk disk(Disk disk) {
      return FaultyDisk.noDirectoryForce(disk);
    }
  }

  /** What is forced at a start is not. */
  static final class TrustsTheTail extends Plant {
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

  static final class DestagesByTheNewestState extends Plant {
    @Override
    void prepare(BrokerHarness harness) {
      PlantedSeams.destageByTheNewestState(harness);
    }
  }

  static final class OverflowsNothing extends Plant {
    @Override
    Disk disk(Disk disk) {
      return new FaultyDisk(disk) {
        @Override
        protected void write(DiskFile file, long at, ByteBuffer... from) throws IOException {
          if (file.name().startsWith("overflow/")) {
            super.write(file, at, ByteBuffer.allocate(from[0].remaining()));
          } else {
            super.write(file, at, from);
          }
        }
      };
    }
  }

  // ---- what the broker is told ----

  /** Of one run in some the last message is not handed on. */
  static final class DropsMessages extends Plant {
    private int runs;

    @Override
    void submit(BrokerHarness harness, Command command) {
      if (command instanceof Command.Publish publish && publish.count() > 1 && ++runs % 50 == 0) {
        super.submit(harness, withoutLast(harness, publish));
      } else {
        super.submit(harness, command);
      }
    }

    private static Command.Publish withoutLast(BrokerHarness harness, Command.Publish publish) {
      ByteBuffer all = publish.messages().buffer();
      int at = 0;
      for (int i = 0; i < publish.count() - 1; i++) {
        at += 4 + all.getInt(at);
      }
      return new Command.Publish(
          publish.peer(),
          publish.correlation(),
          publish.destinationId(),
          publish.number(),
          publish.count() - 1,
          harness.bytes(all.duplicate().limit(at)));
    }
  }

  private static Message.Content with(Message.Content of, int n, int priority) {
    return new Message.Content(
        of.persistent(),
        priority,
        n,
        of.group(),
        of.key(),
        of.delayMillis(),
        of.liveMillis(),
        of.padding());
  }

  private static Message.Content with(
      Message.Content of, @Nullable String group, long delayMillis, long liveMillis) {
    return new Message.Content(
        of.persistent(),
        of.priority(),
        of.n(),
        group,
        of.key(),
        delayMillis,
        liveMillis,
        of.padding());
  }

  /** The property that selectors look at is one more than all others see. */
  static final class SelectsByOther extends Plant {
    @Override
    Message.Content told(Message message) {
      Message.Content of = message.content;
      return with(of, (of.n() + 1) % IntRange.VALUES, of.priority());
    }

    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        Map<String, @Nullable Object> propertiesOf(Map<String, @Nullable Object> told) {
          Map<String, @Nullable Object> sent = new HashMap<>(told);
          sent.computeIfPresent(
              "n", (name, n) -> ((Integer) n + IntRange.VALUES - 1) % IntRange.VALUES);
          return sent;
        }
      };
    }
  }

  static final class OtherPriority extends Plant {
    @Override
    Message.Content told(Message message) {
      Message.Content of = message.content;
      return of.priority() == 7 ? with(of, of.n(), 4) : of;
    }
  }

  static final class ReleasesEarly extends Plant {
    @Override
    Message.Content told(Message message) {
      Message.Content of = message.content;
      return message.order % 10 == 0
          ? with(of, of.group(), of.delayMillis() / 2, of.liveMillis())
          : of;
    }
  }

  static final class OutlivesItsTime extends Plant {
    @Override
    Message.Content told(Message message) {
      Message.Content of = message.content;
      return with(of, of.group(), of.delayMillis(), of.liveMillis() * 2);
    }
  }

  /** The group that the broker is told has a suffix, which nobody sees. */
  static final class SplitsGroups extends Plant {
    @Override
    Message.Content told(Message message) {
      Message.Content of = message.content;
      return of.group() == null
          ? of
          : with(of, of.group() + "/" + message.order % 2, of.delayMillis(), of.liveMillis());
    }

    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        Map<String, @Nullable Object> propertiesOf(Map<String, @Nullable Object> told) {
          Map<String, @Nullable Object> sent = new HashMap<>(told);
          sent.computeIfPresent("JMSXGroupID", (name, group) -> group.toString().split("/")[0]);
          return sent;
        }
      };
    }
  }

  /** With one message all that the same consumer was ever sent is acknowledged. */
  static final class AcknowledgesMore extends Plant {
    private final Map<Integer, List<SequenceRange>> sent = new HashMap<>();

    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        List<Received> order(List<Received> batch) {
          for (Received each : batch) {
            sent.computeIfAbsent(each.consumerId(), id -> new ArrayList<>()).add(each.range());
          }
          return batch;
        }
      };
    }

    @Override
    void submit(BrokerHarness harness, Command command) {
      super.submit(
          harness,
          command instanceof Command.Acknowledge acknowledge
              ? new Command.Acknowledge(
                  acknowledge.peer(),
                  acknowledge.correlation(),
                  acknowledge.acked().stream().map(this::all).toList())
              : command);
    }

    private Command.Acked all(Command.Acked told) {
      List<SequenceRange> all = sent.getOrDefault(told.consumerId(), told.ranges());
      return new Command.Acked(told.consumerId(), told.destinationId(), List.copyOf(all));
    }
  }

  /** A persistent run waits until the sender's next one, which is unlogged, is stored. */
  static final class UnloggedOvertakes extends Plant {
    private Command.@Nullable Publish waiting;

    @Override
    void submit(BrokerHarness harness, Command command) {
      Command.Publish held = waiting;
      waiting = null;
      if (held == null && command instanceof Command.Publish publish && publish.number() > 0) {
        waiting = publish;
        return;
      }
      boolean overtakes =
          held != null
              && command instanceof Command.Publish publish
              && publish.peer() == held.peer()
              && publish.number() == 0;
      if (held != null && !overtakes) {
        super.submit(harness, held);
      }
      super.submit(harness, command);
      if (held != null && overtakes) {
        super.submit(harness, held);
      }
    }

    @Override
    void starting(boolean begins) {
      waiting = null;
    }
  }

  static final class Suppresses extends Plant {
    private final String told;

    Suppresses(String told) {
      this.told = told;
    }

    @Override
    @Nullable String suppression(@Nullable String suppression) {
      return suppression == null ? null : told;
    }
  }

  /** Of some failed attempts the broker is told that nothing has failed. */
  static final class ForgetsAttempts extends Plant {
    private int failures;

    @Override
    boolean flagsAll() {
      return true;
    }

    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        int deliveriesOf(int told) {
          return Math.max(1, told); // or it would be missed first
        }
      };
    }

    @Override
    void submit(BrokerHarness harness, Command command) {
      boolean forgets =
          command instanceof Command.Return back && back.attempted() && ++failures % 3 == 0;
      super.submit(
          harness,
          forgets && command instanceof Command.Return back
              ? new Command.Return(back.peer(), back.correlation(), back.returned(), false)
              : command);
    }
  }

  /** A consumer that acknowledges by pulling is opened as one that acknowledges itself. */
  static final class SendsWithoutAcknowledgement extends Plant {
    @Override
    void submit(BrokerHarness harness, Command command) {
      super.submit(
          harness,
          command instanceof Command.AttachConsumer attach
              ? new Command.AttachConsumer(
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
                  attach.mayCreate())
              : command);
    }
  }

  /** What a commit acknowledges is acknowledged at once, what it sends with the next command. */
  static final class CommitsInTwoParts extends Plant {
    private Command.@Nullable Commit waiting;

    @Override
    void submit(BrokerHarness harness, Command command) {
      Command.Commit held = waiting;
      waiting = null;
      if (held != null) {
        super.submit(
            harness,
            new Command.Commit(
                held.peer(),
                held.correlation(),
                held.sessionId(),
                held.number(),
                held.runs(),
                List.of()));
      }
      if (command instanceof Command.Commit commit) {
        super.submit(harness, new Command.Acknowledge(commit.peer(), 0, commit.acked()));
        waiting = commit;
      } else {
        super.submit(harness, command);
      }
    }

    @Override
    void starting(boolean begins) {
      waiting = null;
    }
  }

  /** A commit's messages are stored, and what it acknowledges is forgotten. */
  static final class CommitsByHalves extends Plant {
    @Override
    void submit(BrokerHarness harness, Command command) {
      super.submit(
          harness,
          command instanceof Command.Commit commit
              ? new Command.Commit(
                  commit.peer(),
                  commit.correlation(),
                  commit.sessionId(),
                  commit.number(),
                  commit.runs(),
                  List.of())
              : command);
    }
  }

  // ---- what the broker does ----

  static final class MovesInTwoRecords extends Plant {
    private final boolean settlesFirst;

    MovesInTwoRecords(boolean settlesFirst) {
      this.settlesFirst = settlesFirst;
    }

    @Override
    void prepare(BrokerHarness harness) {
      PlantedSeams.moveInTwoRecords(harness, settlesFirst);
    }
  }

  static final class ForgetsNumbers extends Plant {
    @Override
    void prepare(BrokerHarness harness) {
      PlantedSeams.forgetNumbersOfUnloggedCommits(harness);
    }
  }

  static final class ReplayForgets extends Plant {
    private final Consumer<BrokerHarness> what;

    ReplayForgets(Consumer<BrokerHarness> what) {
      this.what = what;
    }

    @Override
    void prepare(BrokerHarness harness) {
      what.accept(harness);
    }
  }

  // ---- what clients see ----

  static final class NeverFlags extends Plant {
    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        int deliveriesOf(int told) {
          return 0;
        }
      };
    }
  }

  static final class ReusesSequences extends Plant {
    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        long sequenceOf(long stored) {
          return stored & 0xFFFFFFFFL;
        }
      };
    }
  }

  /** A view that gives what its unlogged lane has before what its durable lane has. */
  static final class ReadsLanesInTurn extends Plant {
    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        List<Received> order(List<Received> batch) {
          List<Received> sorted = new ArrayList<>(batch);
          sorted.sort(Comparator.comparing(each -> LaneCode.isDurable(each.lane())));
          return sorted;
        }
      };
    }
  }

  static final class LowPrioritiesFirst extends Plant {
    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        List<Received> order(List<Received> batch) {
          List<Received> sorted = new ArrayList<>(batch);
          sorted.sort(Comparator.comparingInt(each -> each.lane() & 0x7F));
          return sorted;
        }
      };
    }
  }

  /** A connection of one look shows less: only visitors ask for just one consumer. */
  static final class BrowsesLess extends Plant {
    private int seen;

    @Override
    SimulatedPeer peer(long connectionId) {
      return new SimulatedPeer(connectionId) {
        @Override
        List<Received> order(List<Received> batch) {
          boolean browser = batch.get(0).consumerId() == Visitor.CONSUMER;
          return browser && batch.size() > 1 && ++seen % 3 == 0
              ? batch.subList(1, batch.size())
              : batch;
        }
      };
    }
  }

  // ---- several brokers ----

  static final class ConfirmsBeforeTheCommit extends PairedPlant {
    ConfirmsBeforeTheCommit(long seed) {
      super(seed, brokers -> brokers.planted = member -> member.confirmsEarly = true);
    }
  }

  static final class KeepsWhatIsLost extends PairedPlant {
    KeepsWhatIsLost(long seed) {
      super(seed, brokers -> brokers.planted = member -> member.hidesLosses = true);
    }
  }

  static final class AppliesWithoutARecord extends PairedPlant {
    AppliesWithoutARecord(long seed) {
      super(seed, brokers -> {});
    }

    @Override
    void prepare(BrokerHarness harness) {
      super.prepare(harness);
      PlantedSeams.applyWithoutARecord(harness);
    }
  }
}
