package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;

/**
 * The read positions that the consumers of a subscription share: finds the next messages to give
 * out, in order over durable and volatile lane. A volatile message comes after every durable one
 * that was there when it was published, and before every later one.
 */
@OwnedBy("shard")
public final class View {
  private static final long NONE = Long.MAX_VALUE;

  private final Subscription subscription;
  private final Cursor durable;
  private final Cursor swift;
  private long durableAt;
  private long swiftAt;

  private Lane lane;
  private long from;
  private int count;
  private boolean waitsForTouch;

  View(Subscription subscription, Cursor durable, Cursor swift) {
    this.subscription = subscription;
    this.durable = durable;
    this.swift = swift;
    this.lane = durable.lane;
  }

  /** The lane of what {@link #next} found. */
  public Lane lane() {
    return lane;
  }

  /** The first sequence that {@link #next} found. */
  public long from() {
    return from;
  }

  /** How many consecutive sequences {@link #next} found. */
  public int count() {
    return count;
  }

  /** Whether {@link #next} found nothing only because a block's Touched record is not durable. */
  public boolean waitsForTouch() {
    return waitsForTouch;
  }

  /**
   * Finds the next consecutive messages that exist, are visible, and neither acknowledged nor in
   * flight. Nothing changes until {@link Subscription#take}.
   *
   * @param most at most so many
   * @param touches told of blocks that must be touched before anything from them is given
   * @return false if there is nothing to give now
   */
  public boolean next(int most, Subscription.Touches touches) {
    waitsForTouch = false;
    long d = deliverable(durable, durableAt);
    durableAt = d == NONE ? durable.lane.visibleEnd() : d;
    long v = swift.ready() == 0 ? NONE : deliverable(swift, swiftAt);
    if (v != NONE) {
      swiftAt = v;
      long after = ((VolatileLane) swift.lane).after(v);
      if (d == NONE || d > after) {
        return after < durable.lane.visibleEnd() && volatileRun(v, d, most);
      }
      return durableRun(d, after, most, touches);
    }
    return d != NONE && durableRun(d, NONE - 1, most, touches);
  }

  private boolean durableRun(long first, long last, int most, Subscription.Touches touches) {
    long key = Cursor.key(first);
    long blockEnd = (key + 1) << SequenceSet.BLOCK_BITS;
    if (subscription.kind().isDurable()) {
      if (!durable.mayGive(key)) {
        request(key, touches);
      }
      if (!durable.mayGive(key)) {
        waitsForTouch = true;
        return false;
      }
      if (blockEnd - first <= SequenceSet.BLOCK / 2) {
        request(key + 1, touches);
      }
    }
    long end = Math.min(Math.min(blockEnd, last + 1), durable.lane.visibleEnd());
    lane = durable.lane;
    from = first;
    count = runLength(durable, first, end, most);
    return true;
  }

  private void request(long key, Subscription.Touches touches) {
    if (durable.request(key)) {
      touches.touch(subscription, durable.lane.code(), key);
    }
  }

  private boolean volatileRun(long first, long before, int most) {
    VolatileLane from = (VolatileLane) swift.lane;
    int run = runLength(swift, first, swift.lane.visibleEnd(), most);
    long bound = Math.min(before, durable.lane.visibleEnd());
    int fits = 1;
    while (fits < run && from.after(first + fits) < bound) {
      fits++;
    }
    this.lane = from;
    this.from = first;
    this.count = fits;
    return true;
  }

  private static int runLength(Cursor cursor, long first, long bound, int most) {
    long end = Math.min(bound, cursor.lane.extents.extentEnd(first));
    end = Math.min(end, first + most);
    long at = first;
    while (at < end) {
      long taken = cursor.acknowledged.wordAt(at) | cursor.inFlight.wordAt(at);
      long busy = taken & (-1L << at);
      if (busy != 0) {
        at = (at & ~63L) + Long.numberOfTrailingZeros(busy);
        break;
      }
      at = (at & ~63L) + 64;
    }
    return (int) (Math.min(at, end) - first);
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
    if (to == durable.lane) {
      durableAt = Math.min(durableAt, sequence);
    } else {
      swiftAt = Math.min(swiftAt, sequence);
    }
  }
}
