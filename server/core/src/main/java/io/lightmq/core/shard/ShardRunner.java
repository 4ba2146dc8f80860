package io.lightmq.core.shard;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Overflow;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.intake.Intake;
import io.lightmq.core.intake.Placing;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.BatchBuilder;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.OrderlyEnd;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardBatch;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The turns of a shard. A turn drains the mailbox, then reads the journal's marks (so that whoever
 * got a receipt before asking finds the message), decides and applies command by command, appends
 * what was recorded as one batch, and gives out what is visible.
 *
 * <p>Publishes are taken while the window has room beyond a reserve and the journal is not in its
 * last eighth; everything else frees room and goes on while there is any.
 */
@OwnedBy("shard")
final class ShardRunner implements Admission {
  /** Commands of one turn in each lane; the rest comes in the next. */
  private static final int MAX_OTHERS = 1024;

  private static final int MAX_PUBLISHES = 256;

  /**
   * This part of the journal is left for records that no command asks room for, such as touches.
   */
  private static final int KEPT_FOR_TURNS = 32;

  private static final long RETRY_NANOS = 5_000_000;

  /**
   * What a turn works with.
   *
   * @param shares which have a share in each turn, in their order
   */
  record Parts(
      BrokerSettings settings,
      ShardState state,
      TurnTime time,
      Work work,
      Ready ready,
      Counters counters,
      BatchBuilder batch,
      Recorder recorder,
      Unforeseen unforeseen,
      Dispatcher dispatcher,
      DeliveryDecisions decisions,
      Placing placing,
      Overflow overflow,
      Intake intake,
      Commands commands,
      Checkpoints checkpoints,
      List<TurnPart> shares) {}

  /** What a runner has of its shard, which outlives it: other owners come behind this one. */
  interface Home extends ShardBatch.Observer {
    /** Carries out what is in the mailbox, whoever owns the shard then. */
    void drain();
  }

  private final Parts parts;
  private final CommandQueue queue;
  private final Loop loop;
  private final Journal journal;
  private final Window window;
  private final BatchBuilder batch;
  private final Recorder recorder;
  private final Home home;
  private final Slices slices;
  private final TurnTimers timers;
  private final ArrayDeque<Command> others = new ArrayDeque<>();

  private final int reserveBytes;
  private final long journalEpoch;
  private long batches;
  private long carriedOut;
  private int turnOthers;
  private int turnPublishes;
  private boolean again;
  private String paused = "";
  private Life life = Life.LEADING;
  private boolean dropped;

  private Loop.@Nullable Timer flushTimer;
  private Loop.@Nullable Timer retryTimer;

  ShardRunner(
      Parts parts,
      CommandQueue queue,
      Journal journal,
      Window window,
      Loop loop,
      Home home,
      long journalEpoch) {
    this.parts = parts;
    this.queue = queue;
    this.loop = loop;
    this.journal = journal;
    this.window = window;
    this.batch = parts.batch();
    this.recorder = parts.recorder();
    this.home = home;
    this.journalEpoch = journalEpoch;
    this.carriedOut = queue.takenOthers();
    this.slices = new Slices(loop, parts.time(), parts.dispatcher());
    this.timers =
        new TurnTimers(loop, parts.time(), parts.dispatcher(), parts.shares(), home::drain);
    this.reserveBytes = window.capacity() / 8;
  }

  /** How many batches were appended. */
  long batches() {
    return batches;
  }

  /** Whether commands are decided, and records may be made. */
  boolean isLeading() {
    return life == Life.LEADING;
  }

  /** Whether publishes wait for room, and why; empty if not. */
  String paused() {
    return paused;
  }

  /** Takes nothing more: the shard has failed or is closed. */
  void end() {
    life = Life.ENDED;
    slices.end();
    parts.dispatcher().drop();
    cancelTimers();
  }

  /** Sends away whose commands were collected and are not decided. The mailbox is another's now. */
  void drop() {
    dropped = true;
    while (!others.isEmpty()) {
      execute(others.remove());
    }
  }

  // ---- a turn ----

  /** Drains the mailbox and carries the commands out. */
  void drain() {
    if (dropped) {
      throw new IllegalStateException("an owner that has gone takes commands of the next one");
    }
    parts.state().guard().check();
    queue.draining();
    parts.time().look();
    parts.dispatcher().time(parts.time().nanos(), parts.time().millis());
    collect();
    advance();
    takeOthers();
    if (life != Life.ENDED) {
      paused = "";
      parts.intake().retryHeld();
    }
    if (others.isEmpty() || othersHadTheirShare()) {
      takePublishes();
      if (!othersHadTheirShare() && turnPublishes < MAX_PUBLISHES && !parts.work().isTired()) {
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
    return turnOthers >= MAX_OTHERS || parts.work().ofTurn() >= Work.TURN / 2;
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
        parts.work().addPlaces(Command.Acked.places(next.named()));
      }
      long room;
      long before = parts.unforeseen().changes();
      try {
        room = parts.commands().roomFor(next);
      } catch (RuntimeException thrown) {
        others.remove();
        parts
            .commands()
            .refuse(next, parts.unforeseen().refusal(thrown, "the room for it", before));
        continue;
      }
      if (isLeading() && !admitSent(room, false)) {
        return;
      }
      others.remove();
      if ((next instanceof Command.Acknowledge || next instanceof Command.Return)
          && room > parts.settings().maxBatchBytes()) {
        parts.commands().replace(next);
        next = tooLong(next, room);
      }
      carriedOut++;
      turnOthers++;
      execute(next);
    }
  }

  /** Takes the publishes that nothing is ahead of, at most a turn's share. */
  private void takePublishes() {
    long bytes = 0;
    while (turnPublishes < MAX_PUBLISHES
        && bytes < BatchBuilder.FULL_BYTES
        && !parts.work().isTired()) {
      Command.Publish publish = queue.pollPublish(carriedOut);
      if (publish == null) {
        return;
      }
      turnPublishes++;
      bytes += publish.messages().buffer().remaining();
      execute(publish);
    }
  }

  private void execute(Command command) {
    parts.counters().commands++;
    parts.commands().execute(command);
  }

  private Command tooLong(Command command, long bytes) {
    return new Command.Expel(
        command.peer(),
        FaultCode.TOO_LARGE,
        "one acknowledgement or return takes "
            + bytes
            + " bytes in the journal, the limit is "
            + parts.settings().maxBatchBytes()
            + "; acknowledge in smaller steps");
  }

  /** Reads the marks and shows what they release. */
  private void advance() {
    long written = journal.written();
    long durable = journal.durable();
    parts.state().destinations().advance(written, durable, parts.ready()::add);
    recorder.reached(written, durable);
  }

  @Override
  public boolean admit(long bytes, boolean publishes) {
    parts.state().guard().check();
    if (life == Life.CLOSING) {
      return false;
    }
    long most = parts.settings().maxBatchBytes();
    if (!batch.isEmpty() && (batch.isFull() || batch.length() + bytes > most)) {
      flush();
    }
    long room = window.room(journal.taken()) - Commands.SLACK_BYTES;
    if (room < bytes + (publishes ? reserveBytes : 0)) {
      paused = publishes ? "window: the journal has not written enough yet" : paused;
      return false;
    }
    long capacity = journal.capacityBytes();
    long left = capacity - journal.usedBytesAfter(Math.toIntExact(batch.length() + bytes));
    if (publishes && left < capacity / 8) {
      paused = "journal: its last eighth is kept for what frees room";
      return false;
    }
    // What is appended beyond all room is never durable, and no checkpoint could free any.
    return left >= capacity / KEPT_FOR_TURNS;
  }

  @Override
  public boolean admitSent(long bytes, boolean publishes) {
    return admit(Math.min(bytes, parts.settings().maxBatchBytes()), publishes);
  }

  /** Ends a turn: appends, gives out, appends what that asked for, and answers. */
  void endTurn() {
    parts.state().guard().check();
    turnOthers = 0;
    turnPublishes = 0;
    parts.work().endTurn();
    parts.decisions().endTurn();
    if (again) {
      again = false;
      goOn();
    }
    if (life == Life.ENDED) {
      return;
    }
    parts.intake().early().endTurn(queue);
    parts.shares().forEach(TurnPart::turn);
    flush();
    advance();
    parts.dispatcher().goOn();
    while (!parts.ready().isEmpty() || parts.decisions().isServing()) {
      parts.decisions().serve();
      for (Subscription subscription : parts.ready().take()) {
        parts.dispatcher().dispatch(subscription);
      }
      flush();
    }
    parts.checkpoints().turn();
    parts.overflow().turn(parts.time().nanos(), parts.placing().diskFull());
    recorder.runTurnEffects();
    timers.set();
    slices.endTurn();
    parts.dispatcher().endTurn();
    boolean waits =
        parts.intake().isHolding()
            || !others.isEmpty()
            || !parts.decisions().isEmpty()
            || parts.dispatcher().lease().isAwaited();
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

  /** Appends what was recorded. */
  void flush() {
    if (life == Life.CLOSING) {
      parts.decisions().giveBack();
    } else {
      parts.decisions().record(this);
    }
    if (batch.isEmpty()) {
      return;
    }
    ShardBatch ready = batch.end(home);
    journal.append(journalEpoch, ++batches, ready);
    if (recorder.takeLazyForce() && !ready.wantsForce() && flushTimer == null) {
      flushTimer =
          loop.schedule(
              parts.settings().intervals().flushIntervalMillis() * 1_000_000L,
              () -> {
                flushTimer = null;
                journal.force();
              });
    }
  }

  // ---- in between ----

  /** Something that a command waited for is there. */
  void lookAgain() {
    if (life != Life.ENDED) {
      drain();
    }
  }

  /** Takes another turn soon. */
  void wakeSoon() {
    if (life != Life.ENDED) {
      loop.execute(() -> {});
    }
  }

  /** Goes on with something of a millisecond at most in another turn. */
  void soon(Runnable slice) {
    slices.add(slice);
  }

  /** Nothing goes on in other turns. */
  void endSlices() {
    slices.end();
  }

  /**
   * Records an orderly stop, and nothing behind it: what was not decided before stays as it is. If
   * there is no room for what was seen, only a snapshot tells it.
   */
  void recordStop() {
    parts.state().guard().check();
    flush();
    Stopped end =
        OrderlyEnd.of(
            parts.state(), Math.min(OrderlyEnd.MAX_BYTES, parts.settings().maxBatchBytes()));
    long bytes = OrderlyEnd.bytes(end);
    recorder.record(bytes == 0 || admit(bytes, false) ? end : Stopped.UNCOUNTED);
    life = Life.CLOSING;
    flush();
  }

  // ---- timers ----

  private void cancelTimers() {
    timers.cancel();
    if (flushTimer != null) {
      flushTimer.cancel();
    }
    if (retryTimer != null) {
      retryTimer.cancel();
    }
  }
}
