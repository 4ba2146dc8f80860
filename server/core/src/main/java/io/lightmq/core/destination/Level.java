package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * One priority of a view: the cursors of its durable and its unlogged lane, as far as these are in
 * use, and how far the view has read each.
 */
@OwnedBy("shard")
final class Level {
  static final long NONE = Long.MAX_VALUE;

  private @Nullable Cursor durable;
  private @Nullable Cursor unlogged;

  /** For a view with a selector. */
  private @Nullable Sifted durableSifted;

  private @Nullable Sifted unloggedSifted;
  private long durableAt;
  private long unloggedAt;

  private long nextDurable = NONE;
  private long nextUnlogged = NONE;

  void add(Cursor cursor, @Nullable Sifted sifted) {
    if (LaneCode.isDurable(cursor.lane.code())) {
      durable = cursor;
      durableSifted = sifted;
    } else {
      unlogged = cursor;
      unloggedSifted = sifted;
    }
  }

  /** What was looked at of a lane, for a view with a selector. */
  @Nullable Sifted sifted(Lane lane) {
    return LaneCode.isDurable(lane.code()) ? durableSifted : unloggedSifted;
  }

  /**
   * What has to be looked at next: the unlogged lane until a match in it is known, since one may
   * come before what is known of the durable lane; then the durable lane, for what comes before
   * that match. With keys, of which each consumer has some, strictly in order. Null if all is
   * looked at.
   */
  @Nullable Sifted unsifted() {
    Sifted slow = durableSifted == null || durableSifted.isLive() ? null : durableSifted;
    Sifted fast = unloggedSifted == null || unloggedSifted.isLive() ? null : unloggedSifted;
    if (slow == null || fast == null) {
      return slow == null ? fast : slow;
    }
    return (slow.keys == null ? nextUnlogged == NONE : isFirst(fast, slow)) ? fast : slow;
  }

  /** Whether what is to be looked at of the unlogged lane comes before that of the durable one. */
  private static boolean isFirst(Sifted fast, Sifted slow) {
    long next = fast.next();
    return !fast.cursor.lane.exists(next)
        || ((UnloggedLane) fast.cursor.lane).after(next) < slow.next();
  }

  /** Up to where durable messages come before all unlogged ones that are not looked at. */
  long beforeUnsifted() {
    Sifted fast = unloggedSifted;
    if (fast == null || fast.isLive()) {
      return NONE - 1;
    }
    long next = fast.next();
    return fast.cursor.lane.exists(next) ? ((UnloggedLane) fast.cursor.lane).after(next) : NONE - 1;
  }

  @Nullable Cursor durable() {
    return durable;
  }

  @Nullable Cursor unlogged() {
    return unlogged;
  }

  /** Behind the last sequence of the durable lane that is visible and, if need be, looked at. */
  long durableEnd() {
    Cursor cursor = durable;
    if (cursor == null) {
      return 0;
    }
    long end = cursor.lane.visibleEnd();
    return durableSifted == null ? end : Math.min(end, durableSifted.end());
  }

  /** Finds what is free in both lanes; false if there is nothing in either. */
  boolean find() {
    return find(0, true);
  }

  /**
   * Finds what is free in both lanes, of some group buckets where there are keys; false if there is
   * nothing in either.
   */
  boolean find(long keys, boolean withLoose) {
    Cursor slow = durable;
    GroupLane slowKeys = durableSifted == null ? null : durableSifted.keys;
    if (slowKeys != null) {
      nextDurable = slowKeys.next(keys, withLoose);
    } else if (slow != null) {
      nextDurable = deliverable(slow, durableSifted, durableAt);
      durableAt = nextDurable == NONE ? durableEnd() : nextDurable;
    }
    Cursor fast = unlogged;
    GroupLane fastKeys = unloggedSifted == null ? null : unloggedSifted.keys;
    if (fast != null) {
      if (fast.ready() == 0) {
        nextUnlogged = NONE;
      } else {
        nextUnlogged =
            fastKeys != null
                ? fastKeys.next(keys, withLoose)
                : deliverable(fast, unloggedSifted, unloggedAt);
      }
      unloggedAt = nextUnlogged == NONE ? unloggedAt : nextUnlogged;
    }
    return nextDurable != NONE || nextUnlogged != NONE;
  }

  /** Nothing more is free of what is visible. */
  void dry() {
    if (durable != null) {
      durable.touched.dry(durable.lane.visibleEnd());
    }
  }

  /** How many free messages follow one another from one that {@link #find} found on. */
  int run(Cursor of, long first, long bound, int most, long keys, boolean withLoose) {
    Sifted sifted = sifted(of.lane);
    GroupLane keyed = sifted == null ? null : sifted.keys;
    if (keyed != null) {
      return keyed.run(first, keys, withLoose, bound, most);
    }
    long end = Math.min(bound, of.lane.extents.extentEnd(first));
    return freeRun(of, sifted == null ? null : sifted.matches, first, Math.min(end, first + most));
  }

  /** How many free messages, among some if these are given, follow one another below an end. */
  static int freeRun(Cursor cursor, @Nullable SequenceSet among, long first, long end) {
    long at = first;
    while (at < end) {
      long taken = cursor.acknowledged.wordAt(at) | cursor.inFlight.wordAt(at);
      taken |= among == null ? 0 : ~among.wordAt(at);
      long busy = taken & (-1L << at);
      if (busy != 0) {
        at = (at & ~63L) + Long.numberOfTrailingZeros(busy);
        break;
      }
      at = (at & ~63L) + 64;
    }
    return (int) (Math.min(at, end) - first);
  }

  /** The first free sequence of the durable lane that {@link #find} found, or {@link #NONE}. */
  long nextDurable() {
    return nextDurable;
  }

  /** The first free sequence of the unlogged lane that {@link #find} found, or {@link #NONE}. */
  long nextUnlogged() {
    return nextUnlogged;
  }

  private static long deliverable(Cursor cursor, @Nullable Sifted sifted, long position) {
    long end = cursor.lane.visibleEnd();
    return sifted == null
        ? deliverable(cursor, position, end)
        : matching(cursor, sifted.matches, position, end);
  }

  /** The first free one of some messages below an end, or {@link #NONE}. */
  static long matching(Cursor cursor, SequenceSet among, long position, long end) {
    long at = among.nextPresent(Math.max(position, cursor.start()), end);
    while (at < end) {
      if (!cursor.acknowledged.contains(at) && !cursor.inFlight.contains(at)) {
        return at;
      }
      at = among.nextPresent(at + 1, end);
    }
    return NONE;
  }

  /** The first free message below an end, or {@link #NONE}. */
  static long deliverable(Cursor cursor, long position, long end) {
    long at = Math.max(position, cursor.start());
    while (at < end) {
      at = cursor.lane.extents.ceiling(at);
      if (at >= end) {
        break;
      }
      long stop = Math.min(end, cursor.lane.extents.extentEnd(at));
      while (at < stop) {
        long full = cursor.acknowledged.fullUntil(at);
        if (full != at) {
          at = full;
          continue;
        }
        long free = ~(cursor.acknowledged.wordAt(at) | cursor.inFlight.wordAt(at)) & (-1L << at);
        if (free != 0) {
          at = (at & ~63L) + Long.numberOfTrailingZeros(free);
          if (at < stop) {
            return at;
          }
          at = stop;
        } else {
          at = (at & ~63L) + 64;
        }
      }
      at = Math.max(at, stop);
    }
    return NONE;
  }

  /** Goes back to messages that are free again. */
  void back(Lane to, long sequence, long count) {
    Sifted sifted = sifted(to);
    GroupLane keys = sifted == null ? null : sifted.keys;
    if (keys != null) {
      keys.back(sequence, sequence + count);
    } else if (LaneCode.isDurable(to.code())) {
      durableAt = Math.min(durableAt, sequence);
    } else {
      unloggedAt = Math.min(unloggedAt, sequence);
    }
  }

  /** From now on messages have keys; those that are there have none. */
  void spread(Views views, GroupBuckets keys, OffHeap memory) {
    if (durable != null) {
      durableSifted = spread(durable, durableSifted, views, keys, memory);
    }
    if (unlogged != null) {
      unloggedSifted = spread(unlogged, unloggedSifted, views, keys, memory);
    }
  }

  private static Sifted spread(
      Cursor cursor, @Nullable Sifted known, Views views, GroupBuckets keys, OffHeap memory) {
    Sifted sifted = known;
    long since = 0;
    if (sifted == null) {
      sifted = new Sifted(cursor, views.arrivals(cursor.lane), memory);
      since = cursor.lane.extents.end();
      sifted.reached(since);
    }
    sifted.spread(keys, since, memory);
    return sifted;
  }

  /** Forgets what is known of lanes with keys. */
  void restart() {
    if (durableSifted != null) {
      durableSifted.restart();
    }
    if (unloggedSifted != null) {
      unloggedSifted.restart();
    }
  }

  long matches() {
    return (durableSifted == null ? 0 : durableSifted.known())
        + (unloggedSifted == null ? 0 : unloggedSifted.known());
  }

  long bytes() {
    return (durableSifted == null ? 0 : durableSifted.bytes())
        + (unloggedSifted == null ? 0 : unloggedSifted.bytes());
  }

  void pause() {
    if (durableSifted != null && durableSifted.isLive()) {
      durableSifted.pause();
    }
    if (unloggedSifted != null && unloggedSifted.isLive()) {
      unloggedSifted.pause();
    }
  }

  void clear() {
    if (durableSifted != null) {
      durableSifted.clear();
    }
    if (unloggedSifted != null) {
      unloggedSifted.clear();
    }
  }
}
