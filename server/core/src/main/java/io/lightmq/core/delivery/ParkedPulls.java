package io.lightmq.core.delivery;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * The parked pulls of a shard by deadline: a wheel of 512 buckets of 8 ms, so that parking and
 * leaving cost the same however many pulls are parked. A pull ends up to one bucket late.
 */
@OwnedBy("shard")
final class ParkedPulls {
  static final long TICK_NANOS = 8_000_000;
  private static final int BUCKETS = 512;

  /** Takes a pull whose time is over; it has left the wheel. */
  @FunctionalInterface
  interface Expired {
    void expired(Consumer consumer);
  }

  private final @Nullable Consumer[] heads = new Consumer[BUCKETS];
  private int size;
  private long tick;

  int size() {
    return size;
  }

  void add(Consumer consumer, long nowNanos) {
    remove(consumer);
    long now = Math.floorDiv(nowNanos, TICK_NANOS);
    if (size == 0) {
      tick = now;
    }
    long due = Math.max(tick, Math.floorDiv(consumer.deadlineNanos, TICK_NANOS) + 1);
    int bucket = (int) (due & (BUCKETS - 1));
    consumer.bucket = bucket;
    Consumer head = heads[bucket];
    consumer.bucketAfter = head;
    if (head != null) {
      head.bucketBefore = consumer;
    }
    heads[bucket] = consumer;
    size++;
    consumer.recipient().parked++;
  }

  void remove(Consumer consumer) {
    if (consumer.bucket < 0) {
      return;
    }
    Consumer before = consumer.bucketBefore;
    Consumer after = consumer.bucketAfter;
    if (before == null) {
      heads[consumer.bucket] = after;
    } else {
      before.bucketAfter = after;
    }
    if (after != null) {
      after.bucketBefore = before;
    }
    consumer.bucket = -1;
    consumer.bucketBefore = null;
    consumer.bucketAfter = null;
    size--;
    consumer.recipient().parked--;
  }

  /** Ends what is due. */
  void expire(long nowNanos, Expired expired) {
    long now = Math.floorDiv(nowNanos, TICK_NANOS);
    long first = Math.max(tick, now - BUCKETS + 1);
    for (long t = first; t <= now && size > 0; t++) {
      Consumer next;
      for (Consumer at = heads[(int) (t & (BUCKETS - 1))]; at != null; at = next) {
        next = at.bucketAfter;
        if (at.deadlineNanos <= nowNanos) {
          remove(at);
          expired.expired(at);
        }
      }
    }
    tick = Math.max(tick, now);
  }

  /** A time at which it is worth calling {@link #expire}; {@code Long.MAX_VALUE} for never. */
  long nextNanos() {
    if (size == 0) {
      return Long.MAX_VALUE;
    }
    for (long t = tick; t < tick + BUCKETS; t++) {
      if (heads[(int) (t & (BUCKETS - 1))] != null) {
        return t * TICK_NANOS;
      }
    }
    return (tick + BUCKETS) * TICK_NANOS;
  }
}
