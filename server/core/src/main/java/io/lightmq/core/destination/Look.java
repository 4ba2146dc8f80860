package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * One look of a browser at a queue: all that was visible when it began and is not acknowledged when
 * it comes to it, also what is in flight to consumers, in the order in which a consumer would get
 * it. It changes nothing and keeps nothing: what goes meanwhile is passed over, what comes
 * meanwhile is not shown.
 */
@OwnedBy("shard")
public final class Look {
  private static final long NONE = Level.NONE;

  /** The read positions of one priority, and where the lanes ended when the look began. */
  private static final class Span {
    private @Nullable Cursor durable;
    private @Nullable Cursor unlogged;
    private long durableAt;
    private long unloggedAt;
    private long durableEnd;
    private long unloggedEnd;

    long nextDurable() {
      Cursor cursor = durable;
      return cursor == null ? NONE : next(cursor, durableAt, durableEnd);
    }

    long nextUnlogged() {
      Cursor cursor = unlogged;
      return cursor == null ? NONE : next(cursor, unloggedAt, unloggedEnd);
    }

    private static long next(Cursor cursor, long from, long end) {
      if (from >= end) {
        return NONE;
      }
      long found = cursor.nextReadable(from);
      return found < end ? found : NONE;
    }
  }

  private final Subscription subscription;
  private final @Nullable Span[] spans = new @Nullable Span[LaneCode.PRIORITIES];
  private @Nullable Lane lane;
  private long from;
  private int count;

  Look(Subscription subscription, Iterable<Cursor> cursors) {
    this.subscription = subscription;
    for (Cursor cursor : cursors) {
      int priority = LaneCode.priority(cursor.lane.code());
      Span span = spans[priority];
      if (span == null) {
        span = new Span();
        spans[priority] = span;
      }
      if (LaneCode.isDurable(cursor.lane.code())) {
        span.durable = cursor;
        span.durableEnd = cursor.lane.visibleEnd();
      } else {
        span.unlogged = cursor;
        span.unloggedEnd = cursor.lane.visibleEnd();
      }
    }
  }

  /** What it looks at. */
  public Subscription subscription() {
    return subscription;
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

  /**
   * Finds the next consecutive messages to show; {@link #moveTo} passes them.
   *
   * @param most at most so many
   * @return false if the look is over
   */
  public boolean next(int most) {
    subscription.guard().check();
    for (int priority = LaneCode.PRIORITIES - 1; priority >= 0; priority--) {
      Span span = spans[priority];
      if (span != null && next(span, most)) {
        return true;
      }
    }
    return false;
  }

  private boolean next(Span span, int most) {
    long d = span.nextDurable();
    long v = span.nextUnlogged();
    Cursor durable = span.durable;
    Cursor unlogged = span.unlogged;
    if (unlogged == null || v == NONE) {
      return durable != null && d != NONE && found(durable, d, span.durableEnd, most);
    }
    UnloggedLane light = (UnloggedLane) unlogged.lane;
    long after = light.after(v);
    if (durable != null && d <= after) {
      return found(durable, d, Math.min(span.durableEnd, after + 1), most);
    }
    found(unlogged, v, span.unloggedEnd, most);
    int fits = 1;
    while (fits < count && light.after(v + fits) < d) {
      fits++;
    }
    count = fits;
    return true;
  }

  private boolean found(Cursor cursor, long first, long bound, int most) {
    long end = Math.min(Math.min(bound, first + most), cursor.lane.extents.extentEnd(first));
    lane = cursor.lane;
    from = first;
    count = cursor.readableRun(first, (int) (end - first));
    return true;
  }

  /** Goes on, or back, so that a sequence of a lane is what comes next of it. */
  public void moveTo(Lane of, long sequence) {
    subscription.guard().check();
    Span span = spans[LaneCode.priority(of.code())];
    if (span == null) {
      throw new IllegalStateException("lane " + of.code() + " came after the look began");
    }
    if (LaneCode.isDurable(of.code())) {
      span.durableAt = sequence;
    } else {
      span.unloggedAt = sequence;
    }
  }
}
