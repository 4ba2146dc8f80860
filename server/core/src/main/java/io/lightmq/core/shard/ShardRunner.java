package io.lightmq.core.shard;

import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.door.Command;
import io.lightmq.core.intake.Intake;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.state.BatchBuilder;
import io.lightmq.core.state.ShardBatch;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The turns of a shard. A turn drains the mailbox, then reads the journal's marks (so that whoever
 * got a receipt before asking finds the message), decides and applies command by command. At its
 * end all parts of the owner have their shares, in the order that {@link Owner} writes down.
 */
@OwnedBy("shard")
final class ShardRunner {
  /** Commands of one turn in each lane; the rest comes in the next. */
  private static final int MAX_OTHERS = 1024;

  private static final int MAX_PUBLISHES = 256;

  private static final long RETRY_NANOS = 5_000_000;

  /** What a runner has of its shard, which outlives it: other owners come behind this one. */
  interface Home extends ShardBatch.Observer {
    /** Carries out what is in the mailbox, whoever owns the shard then. */
    void drain();
  }

  private final Home home;
  private final Loop loop;
  private final CommandQueue queue;
  private final TurnTime time;
  private final Work work;
  private final Commands commands;
  private final Intake intake;
  private final Dispatcher dispatcher;
  private final Appending appending;
  private final TurnOrder shares;
  private final ArrayDeque<Command> others = new ArrayDeque<>();

  private long carriedOut;
  private int turnOthers;
  private int turnPublishes;
  private boolean again;
  private boolean dropped;

  private Loop.@Nullable Timer retryTimer;

  ShardRunner(
      Home home,
      Loop loop,
      CommandQueue queue,
      TurnTime time,
      Work work,
      Commands commands,
      Intake intake,
      Dispatcher dispatcher,
      Appending appending,
      TurnOrder shares) {
    this.home = home;
    this.loop = loop;
    this.queue = queue;
    this.time = time;
    this.work = work;
    this.commands = commands;
    this.intake = intake;
    this.dispatcher = dispatcher;
    this.appending = appending;
    this.shares = shares;
    this.carriedOut = queue.takenOthers();
  }

  /** Takes nothing more: the shard has failed or is closed. */
  void end() {
    if (retryTimer != null) {
      retryTimer.cancel();
    }
  }

  /** Sends away whose commands were collected and are not decided. The mailbox is another's now. */
  void drop() {
    dropped = true;
    while (!others.isEmpty()) {
      commands.execute(others.remove());
    }
  }

  // ---- a turn ----

  /** Drains the mailbox and carries the commands out. */
  void drain() {
    if (dropped) {
      throw new IllegalStateException("an owner that has gone takes commands of the next one");
    }
    appending.guard().check();
    queue.draining();
    time.look();
    dispatcher.time(time.nanos(), time.millis());
    collect();
    appending.advance();
    takeOthers();
    if (!appending.hasEnded()) {
      appending.unpause();
      intake.retryHeld();
    }
    if (others.isEmpty() || othersHadTheirShare()) {
      takePublishes();
      if (!othersHadTheirShare() && turnPublishes < MAX_PUBLISHES && !work.isTired()) {
        goOn();
      } else {
        again = true;
      }
    }
  }

  private void goOn() {
    if ((queue.size() > 0 || !others.isEmpty()) && queue.wake()) {
      loop.execute(home::drain);
    }
  }

  /** Whether publishes and what waits are next; half of a turn's work is theirs. */
  private boolean othersHadTheirShare() {
    return turnOthers >= MAX_OTHERS || work.ofTurn() >= Work.TURN / 2;
  }

  private void collect() {
    while (others.size() < MAX_OTHERS - turnOthers) {
      Command other = queue.pollOther();
      if (other == null) {
        return;
      }
      others.add(other);
    }
  }

  /** Carries out what was collected, as far as there is room. */
  private void takeOthers() {
    while (!others.isEmpty() && !othersHadTheirShare()) {
      Command next = others.peek();
      if (!(next instanceof Command.Commit)) { // its places are counted when it is its turn
        work.addPlaces(Command.Acked.places(next.named()));
      }
      long room = commands.roomFor(next);
      if (room == Commands.REFUSED) {
        others.remove();
        continue;
      }
      if (appending.isLeading() && !appending.admitSent(room, false)) {
        return;
      }
      others.remove();
      if ((next instanceof Command.Acknowledge || next instanceof Command.Return)
          && room > appending.maxBytes()) {
        commands.replace(next);
        next = tooLong(next, room);
      }
      carriedOut++;
      turnOthers++;
      commands.execute(next);
    }
  }

  /** Takes the publishes that nothing is ahead of, at most a turn's share. */
  private void takePublishes() {
    long bytes = 0;
    while (turnPublishes < MAX_PUBLISHES && bytes < BatchBuilder.FULL_BYTES && !work.isTired()) {
      Command.Publish publish = queue.pollPublish(carriedOut);
      if (publish == null) {
        return;
      }
      turnPublishes++;
      bytes += publish.messages().buffer().remaining();
      commands.execute(publish);
    }
  }

  private Command tooLong(Command command, long bytes) {
    return new Command.Expel(
        command.peer(),
        FaultCode.TOO_LARGE,
        "one acknowledgement or return takes "
            + bytes
            + " bytes in the journal, the limit is "
            + appending.maxBytes()
            + "; acknowledge in smaller steps");
  }

  /** Ends a turn: appends, gives out, appends what that asked for, and answers. */
  void endTurn() {
    appending.guard().check();
    turnOthers = 0;
    turnPublishes = 0;
    work.endTurn();
    if (again) {
      again = false;
      goOn();
    }
    if (appending.hasEnded()) {
      return;
    }
    shares.turn();
    boolean waits = shares.waits() || !others.isEmpty();
    if (waits && retryTimer == null) {
      // Room and the lease may come without a mark moving: the journal's trim, a message freed from
      // memory.
      retryTimer =
          loop.schedule(
              RETRY_NANOS,
              () -> {
                retryTimer = null;
                home.drain();
              });
    }
  }

  // ---- in between ----

  /** Something that a command waited for is there. */
  void lookAgain() {
    if (!appending.hasEnded()) {
      drain();
    }
  }

  /** Takes another turn soon. */
  void wakeSoon() {
    if (!appending.hasEnded()) {
      loop.execute(() -> {});
    }
  }
}
