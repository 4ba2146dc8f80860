package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What of a destination's messages could not be read. It is set aside for all of its subscriptions:
 * given to nobody, looked at by nobody, needed as before, so that nothing of it is deleted. Methods
 * named like an action of the record apply it; what does not exist or is needed by nobody is passed
 * over.
 */
@OwnedBy("shard")
public final class DamagedMessages {
  private final Destination destination;

  DamagedMessages(Destination destination) {
    this.destination = destination;
  }

  /** Nobody gets these until they are given back. */
  public void setAside(List<SequenceRange> ranges) {
    for (SequenceRange range : ranges) {
      Lane lane = destination.lane(range.lane());
      if (lane != null) {
        lane.aside.add(range.from(), end(range));
        for (Subscription each : destination.subscriptions()) {
          each.cursor(lane).hold(range.from(), end(range));
        }
      }
    }
  }

  /** What is set aside of these is free again, to be read once more. */
  public void giveBack(List<SequenceRange> ranges) {
    for (SequenceRange range : ranges) {
      Lane lane = destination.lane(range.lane());
      for (SequenceRange each : within(lane, range)) {
        forget(lane, each);
        for (Subscription subscription : destination.subscriptions()) {
          letGo(subscription, lane, each);
        }
      }
    }
  }

  private static void letGo(Subscription subscription, @Nullable Lane lane, SequenceRange range) {
    if (lane == null) {
      return;
    }
    Cursor cursor = subscription.cursor(lane);
    for (long at = cursor.nextUnacknowledged(range.from());
        at < end(range) && lane.exists(at);
        at = cursor.nextUnacknowledged(at + 1)) {
      if (cursor.isHeld(at)) {
        subscription.giveBack(lane.code(), at, 1, false);
      }
    }
    subscription.views().lookAgain(cursor, range.from());
  }

  /** Nobody needs what is set aside of these any more. */
  public void drop(List<SequenceRange> ranges) {
    for (SequenceRange range : ranges) {
      Lane lane = destination.lane(range.lane());
      for (SequenceRange each : within(lane, range)) {
        forget(lane, each);
        for (Subscription subscription : destination.subscriptions()) {
          subscription.acknowledge(each.lane(), each.from(), each.count());
        }
      }
    }
  }

  private static List<SequenceRange> within(@Nullable Lane lane, SequenceRange range) {
    return lane == null ? List.of() : lane.aside.within(range.lane(), range.from(), end(range));
  }

  private static void forget(@Nullable Lane lane, SequenceRange range) {
    if (lane != null) {
      lane.aside.remove(range.from(), end(range));
    }
  }

  /** What exists of a range, and is held for one subscription from now on as far as it is free. */
  public List<SequenceRange> hold(Subscription subscription, Lane lane, long from, long through) {
    subscription.cursor(lane).hold(from, through + 1);
    List<SequenceRange> existing = new ArrayList<>();
    for (long at = lane.extents.ceiling(from); at <= through && lane.exists(at); ) {
      long end = Math.min(through + 1, lane.extents.extentEnd(at));
      int count = (int) Math.min(end - at, 1 << 30);
      existing.add(new SequenceRange(lane.code(), at, count));
      at = lane.extents.ceiling(at + count);
    }
    return existing;
  }

  /** What is set aside and anybody still needs, by lane and sequence. */
  public List<SequenceRange> ranges() {
    List<SequenceRange> all = new ArrayList<>();
    for (Lane lane : lanes()) {
      for (SequenceRange each : lane.aside.within(lane.code(), 0, Long.MAX_VALUE)) {
        if (needed(each) > 0) {
          all.add(each);
        }
      }
    }
    return all;
  }

  /** How many messages of a range somebody needs, at least. */
  public long needed(SequenceRange range) {
    Lane lane = destination.lane(range.lane());
    long most = 0;
    for (Subscription each : destination.subscriptions()) {
      most =
          lane == null
              ? 0
              : Math.max(most, each.cursor(lane).unacknowledged(range.from(), end(range)));
    }
    return most;
  }

  /** How many messages are set aside and needed. */
  public long count() {
    long sum = 0;
    if (kept() > 0) {
      for (SequenceRange each : ranges()) {
        sum += needed(each);
      }
    }
    return sum;
  }

  /** How many ranges are kept for it. */
  public int kept() {
    int sum = 0;
    for (Lane lane : destination.durableLanes()) {
      sum += lane.aside.ranges();
    }
    for (Lane lane : destination.swiftLanes()) {
      sum += lane.aside.ranges();
    }
    return sum;
  }

  private List<Lane> lanes() {
    List<Lane> all = new ArrayList<>(destination.durableLanes());
    all.addAll(destination.swiftLanes());
    return all;
  }

  private static long end(SequenceRange range) {
    return range.from() + range.count();
  }
}
