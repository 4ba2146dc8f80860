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
  /** {@link #count} looks up so many ranges, each for all subscriptions. */
  static final int MAX_LOOK_UPS = 4_096;

  private final Destination destination;

  DamagedMessages(Destination destination) {
    this.destination = destination;
  }

  /** Nobody gets these until they are given back. */
  public void setAside(List<SequenceRange> ranges) {
    destination.guard().check();
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
    destination.guard().check();
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
    long end = end(range);
    for (long at = cursor.nextHeld(range.from(), end); at < end; at = cursor.nextHeld(at, end)) {
      long stop = cursor.heldEnd(at, end);
      subscription.giveBack(lane.code(), at, stop - at, false);
      at = stop;
    }
    subscription.views().lookAgain(cursor, range.from());
  }

  /** Nobody needs what is set aside of these any more. */
  public void drop(List<SequenceRange> ranges) {
    destination.guard().check();
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

  /** What of a lane's sequences up to a last one is set aside. */
  public List<SequenceRange> within(Lane lane, long from, long last) {
    destination.guard().check();
    return lane.aside.within(lane.code(), from, last + 1);
  }

  private static List<SequenceRange> within(@Nullable Lane lane, SequenceRange range) {
    return lane == null ? List.of() : lane.aside.within(range.lane(), range.from(), end(range));
  }

  private static void forget(@Nullable Lane lane, SequenceRange range) {
    if (lane != null) {
      lane.aside.remove(range.from(), end(range));
    }
  }

  /** What of a range is free is held for one subscription from now on. */
  public void hold(Subscription subscription, Lane lane, long from, long through) {
    destination.guard().check();
    subscription.cursor(lane).hold(from, through + 1);
  }

  /** The same for all subscriptions. */
  public void hold(List<SequenceRange> ranges) {
    destination.guard().check();
    for (SequenceRange range : ranges) {
      Lane lane = destination.lane(range.lane());
      for (Subscription each : destination.subscriptions()) {
        if (lane != null) {
          each.cursor(lane).hold(range.from(), end(range));
        }
      }
    }
  }

  /**
   * Some of what exists and is not set aside.
   *
   * @param next the place behind what was looked at
   */
  public record Part(List<SequenceRange> ranges, long next) {}

  /**
   * What of a range exists and is not set aside yet, from its beginning on.
   *
   * @param most so many ranges, and so many steps
   */
  public Part notAside(Lane lane, long from, long through, int most) {
    destination.guard().check();
    List<SequenceRange> some = new ArrayList<>();
    long at = from;
    for (int steps = 0; steps < most && at <= through; steps++) {
      at = lane.extents.ceiling(lane.aside.nextAbsent(at));
      if (at > through || !lane.exists(at)) {
        at = through + 1;
      } else {
        long end = lane.aside.nextPresent(at, Math.min(through + 1, lane.extents.extentEnd(at)));
        int count = (int) Math.min(end - at, 1 << 30);
        if (count > 0) {
          some.add(new SequenceRange(lane.code(), at, count));
        }
        at += count;
      }
    }
    return new Part(some, at);
  }

  /**
   * What is set aside, by lane and sequence, from a place on; for who looks at all of it over many
   * turns.
   *
   * @param most so many ranges
   * @param longest sequences in one of them at most
   */
  public List<SequenceRange> next(int lane, long from, int most, int longest) {
    destination.guard().check();
    List<SequenceRange> some = new ArrayList<>(0);
    for (Lane each : lanes()) {
      if (each.code() >= lane) {
        each.aside.addNext(each.code(), each.code() == lane ? from : 0, most, longest, some);
      }
    }
    return some;
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

  /**
   * How many messages are set aside and needed. Where that is too much to look up, those that
   * nobody needs any more are counted with the others.
   */
  public long count() {
    long ranges = kept();
    if (ranges * destination.subscriptions().size() > MAX_LOOK_UPS) {
      return lanes().stream().mapToLong(lane -> lane.aside.sequences()).sum();
    }
    long sum = 0;
    if (ranges > 0) {
      for (SequenceRange each : next(0, 0, Integer.MAX_VALUE, 1 << 30)) {
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
    for (Lane lane : destination.unloggedLanes()) {
      sum += lane.aside.ranges();
    }
    return sum;
  }

  private List<Lane> lanes() {
    List<Lane> all = new ArrayList<>(destination.durableLanes());
    all.addAll(destination.unloggedLanes());
    return all;
  }

  private static long end(SequenceRange range) {
    return range.from() + range.count();
  }
}
