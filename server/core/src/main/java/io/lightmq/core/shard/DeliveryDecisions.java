package io.lightmq.core.shard;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.Decisions;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.intake.SettingAside;
import io.lightmq.core.moves.DeadLetters;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;

/** Records what delivery decides, at the end of the turn and while there is room. */
@OwnedBy("shard")
final class DeliveryDecisions implements Decisions, TurnPart {
  /** What the record of one touch or give-up takes, at most. */
  private static final int DECISION_BYTES = 128;

  private record Touch(Subscription subscription, int lane, long from, int count) {}

  private record Consumed(Consumer consumer, List<SequenceRange> ranges) {}

  private record GivenUp(Subscription subscription, SequenceRange range, Decisions.Reason reason) {}

  private final Recorder recorder;
  private final Dispatcher dispatcher;
  private final DeadLetters deadLetters;
  private final SettingAside settingAside;
  private final Ready ready;
  private final Counters counters;
  private final TurnTime time;
  private final Executor nextTurn;

  // What delivery wants recorded; carried over to a later turn while there is no room. Bounded by
  // blocks with consumers and by pulls.
  private final ArrayDeque<Touch> touches = new ArrayDeque<>();
  private final ArrayDeque<GivenUp> givenUp = new ArrayDeque<>();
  private final ArrayDeque<Consumed> consumed = new ArrayDeque<>();

  /** Consumers whose messages were acknowledged without a record. */
  private final ArrayDeque<Consumer> served = new ArrayDeque<>();

  private boolean recording;
  private boolean closed;

  DeliveryDecisions(
      Recorder recorder,
      Dispatcher dispatcher,
      DeadLetters deadLetters,
      SettingAside settingAside,
      Ready ready,
      Counters counters,
      TurnTime time,
      Executor nextTurn) {
    this.recorder = recorder;
    this.dispatcher = dispatcher;
    this.deadLetters = deadLetters;
    this.settingAside = settingAside;
    this.ready = ready;
    this.counters = counters;
    this.time = time;
    this.nextTurn = nextTurn;
  }

  @Override
  public void touch(Subscription subscription, int lane, long from, int count) {
    recorder.guard().check();
    touches.add(new Touch(subscription, lane, from, count));
  }

  @Override
  public void giveUp(
      Subscription subscription, int lane, long from, int count, Decisions.Reason reason) {
    recorder.guard().check();
    subscription.toNobody(lane, from, count);
    if (reason == Decisions.Reason.EXHAUSTED) {
      deadLetters.exhausted(subscription, lane, from, count, null);
    } else if (reason == Decisions.Reason.EXPIRED && DeadLetters.keepsExpired(subscription)) {
      deadLetters.expired(subscription, lane, from, count);
    } else {
      givenUp.add(new GivenUp(subscription, new SequenceRange(lane, from, count), reason));
    }
  }

  @Override
  public void consume(Consumer consumer, List<SequenceRange> ranges) {
    recorder.guard().check();
    consumed.add(new Consumed(consumer, ranges));
  }

  @Override
  public void goOnLater(Subscription subscription) {
    recorder.guard().check();
    nextTurn.execute(
        () -> {
          if (!subscription.isClosed()) {
            ready.add(subscription);
          }
        });
  }

  @Override
  public boolean setAside(Subscription subscription, Lane lane, Damage damage) {
    recorder.guard().check();
    return !closed && settingAside.found(subscription, lane, damage);
  }

  @Override
  public void unreadable(Subscription subscription, IOException cause) {
    recorder.guard().check();
    settingAside.unreadable(subscription, cause);
  }

  /** Records what was decided, as far as there is room. */
  void record(Admission admission) {
    if (recording) {
      return;
    }
    recording = true;
    boolean room = true;
    while (room && !touches.isEmpty()) {
      room = touches.peek().subscription().isClosed() || admission.admit(DECISION_BYTES, false);
      if (room) {
        record(touches.remove());
      }
    }
    while (room && !givenUp.isEmpty()) {
      room = givenUp.peek().subscription().isClosed() || admission.admit(DECISION_BYTES, false);
      if (room) {
        record(givenUp.remove());
      }
    }
    while (room && !consumed.isEmpty()) {
      Consumed next = consumed.peek();
      room = isOver(next.consumer()) || admission.admit(roomFor(next), false);
      if (room) {
        record(consumed.remove());
      }
    }
    while (room && !settingAside.isEmpty()) {
      room = settingAside.recordNext(admission);
    }
    recording = false;
  }

  /** What comes behind the record of an orderly stop is recorded no more, and free again. */
  void giveBack() {
    closed = true;
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

  /** Whether something waits for room to be recorded. */
  @Override
  public boolean waits() {
    return !(touches.isEmpty()
        && givenUp.isEmpty()
        && consumed.isEmpty()
        && settingAside.isEmpty());
  }

  /** Whether some consumers can have what was acknowledged without a record. */
  boolean isServing() {
    return !served.isEmpty();
  }

  /** Gives it to them. */
  void serve() {
    while (!served.isEmpty()) {
      dispatcher.consumed(served.remove());
    }
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
      ready.add(subscription);
      served.add(each.consumer());
      return;
    }
    Settlements.Accepted accepted =
        Settlements.accepted(subscription, null, each.ranges(), 0, time.millis());
    accepted.records(ShardRecord.Reason.ACKNOWLEDGED).forEach(recorder::record);
    accepted.acknowledgeUnrecorded();
    wakeWaiting(subscription);
    Destination destination = subscription.destination();
    counters.acknowledged(destination.id(), subscription.id(), accepted.count());
    if (accepted.recorded().isEmpty()) {
      served.add(each.consumer());
    } else {
      recorder.onShard(
          destination.settings().tier().mark(), () -> dispatcher.consumed(each.consumer()));
    }
  }

  /** What waited for messages of the same key may be free now. */
  private void wakeWaiting(Subscription subscription) {
    if (subscription.duplicates() != null) {
      ready.add(subscription);
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
            touch.from(),
            touch.count()));
    recorder.onShard(
        Mark.DURABLE,
        () -> {
          if (!touch.subscription().isClosed()) {
            touch.subscription().seen().touchDurable(touch.lane(), touch.from(), touch.count());
            ready.add(touch.subscription());
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
      counters.expired(destination.id(), subscription.id(), each.range().count());
    } else if (each.reason() == Decisions.Reason.SUPPRESSED) {
      counters.suppressed(destination.id(), subscription.id(), each.range().count());
    }
  }
}
