package io.lightmq.core.shard;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.Decisions;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
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
final class ShardRunner implements Decisions, Admission {
  /** Commands of one turn in each lane; the rest comes in the next. */
  private static final int MAX_OTHERS = 1024;

  private static final int MAX_PUBLISHES = 256;

  /** What the record of one touch or give-up takes, at most. */
  private static final int DECISION_BYTES = 128;

  /**
   * This part of the journal is left for records that no command asks room for, such as touches.
   */
  private static final int KEPT_FOR_TURNS = 32;

  private static final long RETRY_NANOS = 5_000_000;

  private record Touch(Subscription subscription, int lane, long blockKey) {}

  private record Consumed(Consumer consumer, List<SequenceRange> ranges) {}

  private record GivenUp(Subscription subscription, SequenceRange range, Decisions.Reason reason) {}

  private final ShardParts parts;
  private final CommandQueue queue;
  private final Loop loop;
  private final Journal journal;
  private final Window window;
  private final BatchBuilder batch;
  private final Recorder recorder;
  private final ShardBatch.Observer observer;
  private final Slices slices;
  private final TurnTimers timers;
  private final ArrayDeque<Command> others = new ArrayDeque<>();

  // What delivery wants recorded; carried over to a later turn while there is no room. Bounded by
  // blocks with consumers and by pulls.
  private final ArrayDeque<Touch> touches = new ArrayDeque<>();
  private final ArrayDeque<GivenUp> givenUp = new ArrayDeque<>();
  private final ArrayDeque<Consumed> consumed = new ArrayDeque<>();

  /** Consumers whose messages were acknowledged without a record. */
  private final ArrayDeque<Consumer> served = new ArrayDeque<>();

  private boolean recording;
  private final int reserveBytes;
  private long journalEpoch;
  private long batches;
  private long carriedOut;
  private int turnOthers;
  private int turnPublishes;
  private boolean again;
  private String paused = "";
  private boolean ended;

  /** The record of an orderly stop is made, and is to be the last. */
  private boolean stopped;

  private Loop.@Nullable Timer flushTimer;
  private Loop.@Nullable Timer retryTimer;

  ShardRunner(ShardParts parts, CommandQueue queue, Loop loop, ShardBatch.Observer observer) {
    this.parts = parts;
    this.queue = queue;
    this.loop = loop;
    this.journal = parts.journal();
    this.window = parts.window();
    this.batch = parts.batch();
    this.recorder = parts.recorder();
    this.observer = observer;
    this.slices = new Slices(loop, parts);
    this.timers = new TurnTimers(loop, parts, this::drain);
    this.reserveBytes = window.capacity() / 8;
  }

  /** The journal may be appended to, with this epoch. */
  void leads(long epoch) {
    journalEpoch = epoch;
  }

  /** Whether publishes wait for room, and why; empty if not. */
  String paused() {
    return paused;
  }

  /** Takes nothing more: the shard has failed or is closed. */
  void end() {
    ended = true;
    slices.end();
    parts.dispatcher().drop();
    cancelTimers();
  }

  // ---- a turn ----

  /** Drains the mailbox and carries the commands out. */
  void drain() {
    queue.draining();
    parts.time().look();
    parts.dispatcher().time(parts.time().nanos(), parts.time().millis());
    collect();
    advance();
    takeOthers();
    if (!ended) {
      paused = "";
      parts.publishing().retryHeld();
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
      loop.execute(this::drain);
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
      long before = recorder.changes();
      try {
        room = parts.commands().roomFor(next);
      } catch (RuntimeException thrown) {
        others.remove();
        parts
            .commands()
            .refuse(next, parts.unforeseen().refusal(thrown, "the room for it", before));
        continue;
      }
      if (!ended && !stopped && !admit(Math.min(room, parts.settings().maxBatchBytes()), false)) {
        return;
      }
      others.remove();
      if ((next instanceof Command.Acknowledge || next instanceof Command.Return)
          && room > parts.settings().maxBatchBytes()) {
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
    if (stopped) {
      return false;
    }
    long most = parts.settings().maxBatchBytes();
    if (!batch.isEmpty() && (batch.isFull() || batch.length() + bytes > most)) {
      flush();
    }
    long room = window.room(journal.written()) - Commands.SLACK_BYTES;
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

  /** Ends a turn: appends, gives out, appends what that asked for, and answers. */
  void endTurn() {
    turnOthers = 0;
    turnPublishes = 0;
    parts.work().endTurn();
    parts.settingAside().endTurn();
    if (again) {
      again = false;
      goOn();
    }
    if (ended) {
      return;
    }
    parts.publishing().early().endTurn(queue);
    parts.withheld().turn();
    parts.delays().turn();
    parts.mover().turn();
    flush();
    advance();
    while (!parts.ready().isEmpty() || !served.isEmpty()) {
      while (!served.isEmpty()) {
        parts.dispatcher().consumed(served.remove());
      }
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
        parts.publishing().isHolding()
            || !others.isEmpty()
            || !touches.isEmpty()
            || !givenUp.isEmpty()
            || !parts.settingAside().isEmpty()
            || !consumed.isEmpty();
    if (waits && retryTimer == null) {
      // Room may come without a mark moving: the journal's trim, a message freed from memory.
      retryTimer =
          loop.schedule(
              RETRY_NANOS,
              () -> {
                retryTimer = null;
                drain();
              });
    }
  }

  /** Appends what was recorded. */
  void flush() {
    recordDecisions();
    if (batch.isEmpty()) {
      return;
    }
    ShardBatch ready = batch.end(observer);
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

  // ---- what delivery decides ----

  @Override
  public void touch(Subscription subscription, int lane, long blockKey) {
    touches.add(new Touch(subscription, lane, blockKey));
  }

  @Override
  public void giveUp(
      Subscription subscription, int lane, long from, int count, Decisions.Reason reason) {
    subscription.toNobody(lane, from, count);
    if (reason == Decisions.Reason.EXHAUSTED) {
      parts.deadLetters().exhausted(subscription, lane, from, count);
    } else if (reason == Decisions.Reason.EXPIRED && DeadLetters.keepsExpired(subscription)) {
      parts.deadLetters().expired(subscription, lane, from, count);
    } else {
      givenUp.add(new GivenUp(subscription, new SequenceRange(lane, from, count), reason));
    }
  }

  @Override
  public void consume(Consumer consumer, List<SequenceRange> ranges) {
    consumed.add(new Consumed(consumer, ranges));
  }

  @Override
  public void goOnLater(Subscription subscription) {
    soon(
        () -> {
          if (!subscription.isClosed()) {
            parts.ready().add(subscription);
          }
        });
  }

  @Override
  public boolean setAside(Subscription subscription, Lane lane, Damage damage) {
    return !stopped && parts.settingAside().found(subscription, lane, damage);
  }

  @Override
  public void unreadable(Subscription subscription, IOException cause) {
    parts.settingAside().unreadable(subscription, cause);
  }

  /** Records what delivery has decided, as far as there is room. */
  private void recordDecisions() {
    if (recording) {
      return;
    }
    if (stopped) {
      giveBackDecisions();
      return;
    }
    recording = true;
    boolean room = true;
    while (room && !touches.isEmpty()) {
      room = touches.peek().subscription().isClosed() || admit(DECISION_BYTES, false);
      if (room) {
        record(touches.remove());
      }
    }
    while (room && !givenUp.isEmpty()) {
      room = givenUp.peek().subscription().isClosed() || admit(DECISION_BYTES, false);
      if (room) {
        record(givenUp.remove());
      }
    }
    while (room && !consumed.isEmpty()) {
      Consumed next = consumed.peek();
      room = isOver(next.consumer()) || admit(roomFor(next), false);
      if (room) {
        record(consumed.remove());
      }
    }
    while (room && !parts.settingAside().isEmpty()) {
      room = parts.settingAside().recordNext(this);
    }
    recording = false;
  }

  /** What comes behind the record of an orderly stop is recorded no more, and free again. */
  private void giveBackDecisions() {
    touches.clear();
    for (GivenUp each : givenUp) {
      giveBack(each.subscription(), List.of(each.range()));
    }
    givenUp.clear();
    for (Consumed each : consumed) {
      giveBack(each.consumer().subscription(), each.ranges());
    }
    consumed.clear();
  }

  private static void giveBack(Subscription subscription, List<SequenceRange> ranges) {
    for (SequenceRange range : subscription.isClosed() ? List.<SequenceRange>of() : ranges) {
      subscription.giveBack(range.lane(), range.from(), range.count(), false);
    }
  }

  private static boolean isOver(Consumer consumer) {
    return !consumer.isAttached() || consumer.subscription().isClosed();
  }

  private static long roomFor(Consumed each) {
    return RecordBytes.of(each.consumer().subscription(), each.ranges());
  }

  private void record(Consumed each) {
    Subscription subscription = each.consumer().subscription();
    if (isOver(each.consumer())) {
      giveBack(subscription, each.ranges());
      parts.ready().add(subscription);
      served.add(each.consumer());
      return;
    }
    Settlements.Accepted accepted =
        Settlements.accepted(subscription, null, each.ranges(), 0, parts.time().millis());
    accepted.records(ShardRecord.Reason.ACKNOWLEDGED).forEach(recorder::record);
    accepted.acknowledgeUnrecorded();
    wakeWaiting(subscription);
    Destination destination = subscription.destination();
    parts.counters().acknowledged(destination.id(), subscription.id(), accepted.count());
    if (accepted.recorded().isEmpty()) {
      served.add(each.consumer());
    } else {
      recorder.onShardWhen(
          destination.settings().tier().mark(), () -> parts.dispatcher().consumed(each.consumer()));
    }
  }

  /** Something that a command waited for is there. */
  void lookAgain() {
    if (!ended) {
      drain();
    }
  }

  /** Takes another turn soon. */
  void wakeSoon() {
    if (!ended) {
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

  /** Records an orderly stop, and nothing behind it: what was not decided before stays as it is. */
  void recordStop() {
    flush();
    recorder.record(new ShardRecord.Stopped());
    stopped = true;
    flush();
  }

  /** What waited for messages of the same key may be free now. */
  private void wakeWaiting(Subscription subscription) {
    if (subscription.duplicates() != null) {
      parts.ready().add(subscription);
    }
  }

  private void record(Touch touch) {
    if (touch.subscription().isClosed()) {
      return;
    }
    recorder.record(
        new Touched(
            touch.subscription().destination().id(),
            touch.subscription().id(),
            touch.lane(),
            touch.blockKey()));
    recorder.onShardWhenDurable(
        () -> {
          if (!touch.subscription().isClosed()) {
            touch.subscription().touchDurable(touch.lane(), touch.blockKey());
            parts.ready().add(touch.subscription());
          }
        });
  }

  private void record(GivenUp each) {
    Subscription subscription = each.subscription();
    if (subscription.isClosed()) {
      return;
    }
    Destination destination = subscription.destination();
    if (Settlements.isRecorded(subscription, each.range())) {
      recorder.record(
          new Acked(
              destination.id(),
              subscription.id(),
              switch (each.reason()) {
                case EXPIRED -> ShardRecord.Reason.EXPIRED;
                case LOCAL -> ShardRecord.Reason.ACKNOWLEDGED;
                case SUPPRESSED -> ShardRecord.Reason.SUPPRESSED;
                case EXHAUSTED ->
                    throw new IllegalStateException("a message without attempts left is moved");
              },
              List.of(each.range())));
    } else {
      subscription.acknowledge(List.of(each.range()));
    }
    if (each.reason() == Decisions.Reason.EXPIRED) {
      parts.counters().expired(destination.id(), subscription.id(), each.range().count());
    } else if (each.reason() == Decisions.Reason.SUPPRESSED) {
      parts.counters().suppressed(destination.id(), subscription.id(), each.range().count());
    }
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
