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
  private long durableAt;
  private long swiftAt;

  private long nextDurable = NONE;
  private long nextSwift = NONE;

  void add(Cursor cursor) {
    if (LaneCode.isDurable(cursor.lane.code())) {
      durable = cursor;
    } else {
      swift = cursor;
    }
  }

  @Nullable Cursor durable() {
    return durable;
  }

  @Nullable Cursor swift() {
    return swift;
  }

  /** Behind the last visible sequence of the durable lane. */
  long durableEnd() {
    Cursor cursor = durable;
    return cursor == null ? 0 : cursor.lane.visibleEnd();
  }

  /** Finds what is free in both lanes; false if there is nothing in either. */
  boolean find() {
    Cursor slow = durable;
    if (slow != null) {
      nextDurable = deliverable(slow, durableAt);
      durableAt = nextDurable == NONE ? slow.lane.visibleEnd() : nextDurable;
    }
    Cursor fast = swift;
    if (fast != null) {
      nextSwift = fast.ready() == 0 ? NONE : deliverable(fast, swiftAt);
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
}
