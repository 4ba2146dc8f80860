package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * The read positions that the consumers of a subscription share: finds the next messages to give
 * out, the highest priority first (Jakarta Messaging 3.1, section 3.4.10). Within a priority they
 * come in order over durable and volatile lane: a volatile message after every durable one that was
 * there when it was published, and before every later one.
 *
 * <p>A priority in which nothing is free is not looked at again before something becomes visible in
 * the destination or comes back.
 */
@OwnedBy("shard")
public final class View {
  private static final long NONE = Level.NONE;

  private final Subscription subscription;
  private final @Nullable Level[] levels = new @Nullable Level[LaneCode.PRIORITIES];

  /** A bit for each priority in use, and for each in which something may be free. */
  private int used;

  private int ready;
  private long seenMoves = -1;

  private @Nullable Lane lane;
  private long from;
  private int count;
  private boolean waitsForTouch;

  View(Subscription subscription) {
    this.subscription = subscription;
  }

  /** A lane has come; its messages are read from the cursor's start on. */
  void add(Cursor cursor) {
    int priority = LaneCode.priority(cursor.lane.code());
    Level level = levels[priority];
    if (level == null) {
      level = new Level();
      levels[priority] = level;
    }
    level.add(cursor);
    used |= 1 << priority;
    ready |= 1 << priority;
  }

  /** The lane of what {@link #next} found. */
  public Lane lane() {
    Lane found = lane;
    if (found == null) {
      throw new IllegalStateException("nothing was found yet");
    }
    return found;
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
    long moves = subscription.destination().moves();
    if (seenMoves != moves) {
      seenMoves = moves;
      ready = used;
    }
    for (int rest = ready; rest != 0; rest = without(rest, highest(rest))) {
      int priority = highest(rest);
      Level level = levels[priority];
      if (level == null || !level.find()) {
        ready = without(ready, priority);
      } else if (next(level, most, touches)) {
        return true;
      } else if (waitsForTouch) {
        // Nothing overtakes it; but what comes after it is asked for now, not one force later.
        requestFirst(without(rest, priority), touches);
        return false;
      }
    }
    return false;
  }

  private static int highest(int priorities) {
    return 31 - Integer.numberOfLeadingZeros(priorities);
  }

  private static int without(int priorities, int priority) {
    return priorities & ~(1 << priority);
  }

  private boolean next(Level level, int most, Subscription.Touches touches) {
    long d = level.nextDurable();
    long v = level.nextSwift();
    Cursor durable = level.durable();
    Cursor swift = level.swift();
    if (swift == null || v == NONE) {
      return durable != null && durableRun(durable, d, NONE - 1, most, touches);
    }
    long after = ((VolatileLane) swift.lane).after(v);
    if (durable == null || d > after) {
      long end = level.durableEnd();
      return after < end && volatileRun(swift, v, Math.min(d, end), most);
    }
    return durableRun(durable, d, after, most, touches);
  }

  private void requestFirst(int priorities, Subscription.Touches touches) {
    for (int rest = priorities; rest != 0; rest = without(rest, highest(rest))) {
      Level level = levels[highest(rest)];
      Cursor durable = level == null ? null : level.durable();
      if (level != null
          && durable != null
          && subscription.kind().isDurable()
          && level.find()
          && level.nextDurable() != NONE) {
        request(durable, Cursor.key(level.nextDurable()), touches);
      }
    }
  }

  private boolean durableRun(
      Cursor durable, long first, long last, int most, Subscription.Touches touches) {
    long key = Cursor.key(first);
    long blockEnd = (key + 1) << SequenceSet.BLOCK_BITS;
    if (subscription.kind().isDurable()) {
      if (!durable.mayGive(key)) {
        request(durable, key, touches);
      }
      if (!durable.mayGive(key)) {
        waitsForTouch = true;
        return false;
      }
      if (blockEnd - first <= SequenceSet.BLOCK / 2) {
        request(durable, key + 1, touches);
      }
    }
    long end = Math.min(Math.min(blockEnd, last + 1), durable.lane.visibleEnd());
    lane = durable.lane;
    from = first;
    count = runLength(durable, first, end, most);
    return true;
  }

  private void request(Cursor durable, long key, Subscription.Touches touches) {
    if (durable.request(key)) {
      touches.touch(subscription, durable.lane.code(), key);
    }
  }

  private boolean volatileRun(Cursor swift, long first, long before, int most) {
    VolatileLane of = (VolatileLane) swift.lane;
    int run = runLength(swift, first, of.visibleEnd(), most);
    int fits = 1;
    while (fits < run && of.after(first + fits) < before) {
      fits++;
    }
    this.lane = of;
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

  /** Goes back to messages that are free again. */
  void back(Lane to, long sequence) {
    int priority = LaneCode.priority(to.code());
    Level level = levels[priority];
    if (level != null) {
      level.back(to, sequence);
      ready |= 1 << priority;
    }
  }
}
