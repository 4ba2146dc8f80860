package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * One priority of a view: the cursors of its durable and its volatile lane, as far as these are in
 * use, and how far the view has read each.
 */
@OwnedBy("shard")
final class Level {
  static final long NONE = Long.MAX_VALUE;

  private @Nullable Cursor durable;
  private @Nullable Cursor swift;

  /** For a view with a selector. */
  private @Nullable Sifted durableSifted;

  private @Nullable Sifted swiftSifted;
  private long durableAt;
  private long swiftAt;

  private long nextDurable = NONE;
  private long nextSwift = NONE;

  void add(Cursor cursor, @Nullable Sifted sifted) {
    if (LaneCode.isDurable(cursor.lane.code())) {
      durable = cursor;
      durableSifted = sifted;
    } else {
      swift = cursor;
      swiftSifted = sifted;
    }
  }

  /** What was looked at of a lane, for a view with a selector. */
  @Nullable Sifted sifted(Lane lane) {
    return LaneCode.isDurable(lane.code()) ? durableSifted : swiftSifted;
  }

  /**
   * What has to be looked at next: the volatile lane until a match in it is known, since one may
   * come before what is known of the durable lane; then the durable lane, for what comes before
   * that match. Null if all is looked at.
   */
  @Nullable Sifted unsifted() {
    boolean slow = durableSifted != null && !durableSifted.isLive();
    boolean fast = swiftSifted != null && !swiftSifted.isLive();
    if (fast && (!slow || nextSwift == NONE)) {
      return swiftSifted;
    }
    return slow ? durableSifted : null;
  }

  /** Up to where durable messages come before all volatile ones that are not looked at. */
  long beforeUnsifted() {
    Sifted fast = swiftSifted;
    if (fast == null || fast.isLive()) {
      return NONE - 1;
    }
    long next = fast.next();
    return fast.cursor.lane.exists(next) ? ((VolatileLane) fast.cursor.lane).after(next) : NONE - 1;
  }

  @Nullable Cursor durable() {
    return durable;
  }

  @Nullable Cursor swift() {
    return swift;
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
    Cursor slow = durable;
    if (slow != null) {
      nextDurable = deliverable(slow, durableSifted, durableAt);
      durableAt = nextDurable == NONE ? durableEnd() : nextDurable;
    }
    Cursor fast = swift;
    if (fast != null) {
      nextSwift = fast.ready() == 0 ? NONE : deliverable(fast, swiftSifted, swiftAt);
      swiftAt = nextSwift == NONE ? swiftAt : nextSwift;
    }
    return nextDurable != NONE || nextSwift != NONE;
  }

  /** The first free sequence of the durable lane that {@link #find} found, or {@link #NONE}. */
  long nextDurable() {
    return nextDurable;
  }

  /** The first free sequence of the volatile lane that {@link #find} found, or {@link #NONE}. */
  long nextSwift() {
    return nextSwift;
  }

  private static long deliverable(Cursor cursor, @Nullable Sifted sifted, long position) {
    return sifted == null ? deliverable(cursor, position) : matching(cursor, sifted, position);
  }

  private static long matching(Cursor cursor, Sifted sifted, long position) {
    long end = cursor.lane.visibleEnd();
    long at = sifted.matches.nextPresent(Math.max(position, cursor.start()), end);
    while (at < end) {
      if (!cursor.acknowledged.contains(at) && !cursor.inFlight.contains(at)) {
        return at;
      }
      at = sifted.matches.nextPresent(at + 1, end);
    }
    return NONE;
  }

  private static long deliverable(Cursor cursor, long position) {
    long end = cursor.lane.visibleEnd();
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
  void back(Lane to, long sequence) {
    if (LaneCode.isDurable(to.code())) {
      durableAt = Math.min(durableAt, sequence);
    } else {
      swiftAt = Math.min(swiftAt, sequence);
    }
  }

  long matches() {
    return (durableSifted == null ? 0 : durableSifted.matches.size())
        + (swiftSifted == null ? 0 : swiftSifted.matches.size());
  }

  void pause() {
    if (durableSifted != null && durableSifted.isLive()) {
      durableSifted.pause();
    }
    if (swiftSifted != null && swiftSifted.isLive()) {
      swiftSifted.pause();
    }
  }

  void clear() {
    if (durableSifted != null) {
      durableSifted.clear();
    }
    if (swiftSifted != null) {
      swiftSifted.clear();
    }
  }
}
