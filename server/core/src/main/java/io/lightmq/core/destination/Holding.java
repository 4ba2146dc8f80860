package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The messages that are in flight to one consumer. */
@OwnedBy("shard")
public final class Holding {
  private final Subscription subscription;
  private final OffHeap memory;

  /** One for each lane of which anything was ever in flight to it, by {@link #lanes}. */
  private SequenceSet[] sets = new SequenceSet[0];

  private int[] lanes = new int[0];

  /** Those that the application has been handed; null if nobody ever told so. */
  private @Nullable Holding begun;

  Holding(Subscription subscription, OffHeap memory) {
    this.subscription = subscription;
    this.memory = memory;
  }

  /** Who may touch it, as its subscription. */
  Guard guard() {
    return subscription.guard();
  }

  /** Messages in flight. */
  public long size() {
    long sum = 0;
    for (SequenceSet set : sets) {
      sum += set.size();
    }
    return sum;
  }

  /** Messages that {@link Subscription#take} has marked go to this consumer. */
  public void add(Lane lane, long from, long count) {
    guard().check();
    SequenceSet set = find(lane.code());
    (set == null ? make(lane.code()) : set).add(from, count);
  }

  /** The application is handed what of these ranges is in flight to it. */
  public void begin(List<SequenceRange> ranges) {
    guard().check();
    for (SequenceRange range : mine(ranges)) {
      Lane lane = subscription.lane(range.lane());
      if (lane != null) {
        if (begun == null) {
          begun = new Holding(subscription, memory);
        }
        begun.add(lane, range.from(), range.count());
      }
    }
  }

  /** The application is done with what it was handed before. */
  public void beginAnew() {
    guard().check();
    if (begun != null) {
      begun.clear();
    }
  }

  /** What the application was handed and neither settled nor gave back; at most so many ranges. */
  public List<SequenceRange> begun(int most) {
    guard().check();
    List<SequenceRange> ranges = new ArrayList<>();
    Holding handed = begun;
    for (int i = 0; handed != null && i < handed.sets.length; i++) {
      SequenceSet set = handed.sets[i];
      long at = set.nextPresent(0, Long.MAX_VALUE);
      while (at != Long.MAX_VALUE && ranges.size() < most) {
        long end = Math.min(at + (1 << 30), set.nextAbsent(at));
        ranges.add(new SequenceRange(handed.lanes[i], at, (int) (end - at)));
        at = set.nextPresent(end, Long.MAX_VALUE);
      }
    }
    return ranges;
  }

  private void over(int lane, long from, long count) {
    SequenceSet set = begun == null ? null : begun.find(lane);
    if (set != null && !set.isEmpty()) {
      set.remove(from, count);
    }
  }

  /** Whether any of some messages of a lane is in flight to this consumer. */
  boolean meets(int lane, SequenceSet others) {
    SequenceSet set = find(lane);
    return set != null && set.meets(others);
  }

  /** Whether a message is in flight to this consumer. */
  public boolean contains(int lane, long sequence) {
    SequenceSet set = find(lane);
    return set != null && set.contains(sequence);
  }

  /**
   * Looks which sequences this consumer may acknowledge: those in flight to it, and those that are
   * free, because it is late but nobody else has them. Changes nothing. A sequence that the ranges
   * name twice is accepted twice; applying it twice does no harm.
   */
  public Split split(List<SequenceRange> ranges) {
    guard().check();
    long refused = 0;
    boolean whole = true;
    for (SequenceRange range : ranges) {
      whole &= isAll(range);
    }
    if (whole) {
      return new Split(ranges, 0);
    }
    List<SequenceRange> accepted = new ArrayList<>();
    for (SequenceRange range : ranges) {
      Lane lane = subscription.lane(range.lane());
      refused += lane == null ? range.count() : split(range, lane, accepted);
    }
    return new Split(accepted, refused);
  }

  private long split(SequenceRange range, Lane of, List<SequenceRange> accepted) {
    int lane = range.lane();
    SequenceSet set = find(lane);
    // Nothing outside of what exists is worth a look, however long the range claims to be.
    long from = Math.max(range.from(), of.extents.ceiling(range.from()));
    if (from >= range.from() + range.count() || !of.exists(from)) {
      return range.count();
    }
    long end = Math.min(range.from() + range.count(), of.extents.extentEnd(from));
    long taken = 0;
    long runStart = -1;
    long at = from;
    while (at < end) {
      long mine = set != null && set.contains(at) ? set.nextAbsent(at) : at;
      long good = Math.min(end, mine > at ? mine : freeUntil(lane, at, end));
      if (good > at) {
        runStart = runStart < 0 ? at : runStart;
        taken += good - at;
        at = good;
      } else {
        if (runStart >= 0) {
          accepted.add(new SequenceRange(lane, runStart, (int) (at - runStart)));
          runStart = -1;
        }
        at = takenUntil(lane, at);
      }
    }
    if (runStart >= 0) {
      accepted.add(new SequenceRange(lane, runStart, (int) (end - runStart)));
    }
    return range.count() - taken;
  }

  /** Where the free messages that begin at a sequence end, below a limit; itself if not free. */
  private long freeUntil(int lane, long sequence, long limit) {
    if (!subscription.isFree(lane, sequence)) {
      return sequence;
    }
    Cursor cursor = subscription.cursor(lane);
    long end =
        Math.min(
            Math.min(limit, cursor.lane.visibleEnd()), cursor.lane.extents.extentEnd(sequence));
    return cursor.inFlight.nextPresent(sequence, cursor.acknowledged.nextPresent(sequence, end));
  }

  /** The next sequence that may be in another state than this one, which is not free. */
  private long takenUntil(int lane, long sequence) {
    Cursor cursor = subscription.cursor(lane);
    return cursor.acknowledged.contains(sequence)
        ? cursor.acknowledged.nextAbsent(sequence)
        : sequence + 1;
  }

  private boolean isAll(SequenceRange range) {
    SequenceSet set = find(range.lane());
    return set != null
        && set.cardinality(range.from(), range.from() + range.count()) == range.count();
  }

  /** Consecutive messages of those in flight to it; null if there are none. */
  public @Nullable SequenceRange first() {
    guard().check();
    for (int i = 0; i < sets.length; i++) {
      long at = sets[i].nextPresent(0, Long.MAX_VALUE);
      if (at != Long.MAX_VALUE) {
        long end = Math.min(at + (1 << 30), sets[i].nextAbsent(at));
        return new SequenceRange(lanes[i], at, (int) (end - at));
      }
    }
    return null;
  }

  /** What of these ranges is in flight to this consumer. */
  public List<SequenceRange> mine(List<SequenceRange> ranges) {
    guard().check();
    List<SequenceRange> mine = new ArrayList<>();
    for (SequenceRange range : ranges) {
      SequenceSet set = find(range.lane());
      if (set == null) {
        continue;
      }
      long end = range.from() + range.count();
      for (long at = set.nextPresent(range.from(), end); at < end; ) {
        long stop = Math.min(end, set.nextAbsent(at));
        mine.add(new SequenceRange(range.lane(), at, (int) (stop - at)));
        at = set.nextPresent(stop, end);
      }
    }
    return mine;
  }

  /** These sequences are this consumer's no more, since they are acknowledged. */
  public void settle(List<SequenceRange> accepted) {
    guard().check();
    for (SequenceRange range : accepted) {
      SequenceSet set = find(range.lane());
      if (set != null) {
        set.remove(range.from(), range.count());
        over(range.lane(), range.from(), range.count());
      }
    }
  }

  /**
   * Frees what of these sequences is in flight to this consumer.
   *
   * @param counted whether that was a delivery; of what the application was handed it was one
   * @return how many sequences were not in flight to it
   */
  public long giveBack(List<SequenceRange> ranges, boolean counted) {
    guard().check();
    long refused = 0;
    for (SequenceRange range : ranges) {
      SequenceSet set = find(range.lane());
      long end = range.from() + range.count();
      long given = set == null ? 0 : giveBack(set, range.lane(), range.from(), end, counted);
      refused += range.count() - given;
    }
    return refused;
  }

  /**
   * Frees everything that is in flight to this consumer.
   *
   * @param seen whether it may have been seen, which flags it and counts nothing
   */
  public void giveBackAll(boolean seen) {
    guard().check();
    if (!subscription.isClosed()) {
      for (int i = 0; i < sets.length; i++) {
        if (seen) {
          mayBeSeen(sets[i], lanes[i]);
        }
        giveBack(sets[i], lanes[i], 0, Long.MAX_VALUE, false);
      }
    }
    clear();
  }

  private void mayBeSeen(SequenceSet set, int lane) {
    long from = set.nextPresent(0, Long.MAX_VALUE);
    while (from != Long.MAX_VALUE) {
      long end = set.nextAbsent(from);
      subscription.cursor(lane).mayBeSeen(from, end);
      from = set.nextPresent(end, Long.MAX_VALUE);
    }
  }

  private long giveBack(SequenceSet set, int lane, long from, long to, boolean counted) {
    long given = 0;
    for (long at = set.nextPresent(from, to); at < to; at = set.nextPresent(at, to)) {
      long end = Math.min(to, set.nextAbsent(at));
      SequenceSet handed = begun == null ? null : begun.find(lane);
      boolean seen = handed != null && handed.contains(at);
      if (handed != null && !counted) {
        end = seen ? Math.min(end, handed.nextAbsent(at)) : handed.nextPresent(at, end);
      }
      // What the application was handed was a delivery, whatever became of it.
      subscription.giveBack(lane, at, end - at, counted || seen);
      given += end - at;
      at = end;
    }
    set.remove(from, to - from);
    over(lane, from, to - from);
    return given;
  }

  /** Forgets everything, because the subscription has ended. */
  public void clear() {
    guard().check();
    for (SequenceSet set : sets) {
      set.clear();
    }
    beginAnew();
  }

  private @Nullable SequenceSet find(int lane) {
    for (int i = 0; i < lanes.length; i++) {
      if (lanes[i] == lane) {
        return sets[i];
      }
    }
    return null;
  }

  private SequenceSet make(int lane) {
    SequenceSet made = new SequenceSet(memory);
    sets = Arrays.copyOf(sets, sets.length + 1);
    lanes = Arrays.copyOf(lanes, lanes.length + 1);
    sets[sets.length - 1] = made;
    lanes[lanes.length - 1] = lane;
    return made;
  }
}
