package io.lightmq.core.delivery;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The parked pulls of a shard by deadline: a wheel of 512 buckets of 8 ms, so that parking and
 * leaving cost the same however many pulls are parked. Pulls that wait longer than the wheel turns
 * once share buckets with those that are due sooner. A pull ends up to one bucket late.
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

  /**
   * Per bucket a tick at which to look at it: none of its pulls, of whatever revolution, is due
   * before. {@code Long.MAX_VALUE} for empty buckets.
   */
  private final long[] looks = new long[BUCKETS];

  /** The lowest of {@link #looks}, or lower. */
  private long next = Long.MAX_VALUE;

  private int size;

  ParkedPulls() {
    Arrays.fill(looks, Long.MAX_VALUE);
  }

  int size() {
    return size;
  }

  void add(Consumer consumer) {
    remove(consumer);
    long due = due(consumer);
    int bucket = (int) (due & (BUCKETS - 1));
    looks[bucket] = Math.min(looks[bucket], due);
    next = Math.min(next, due);
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

  /** The first tick that begins behind the deadline. */
  private static long due(Consumer consumer) {
    return Math.floorDiv(consumer.deadlineNanos, TICK_NANOS) + 1;
  }

  /** Ends what is due. */
  void expire(long nowNanos, Expired expired) {
    long now = Math.floorDiv(nowNanos, TICK_NANOS);
    if (now < next) {
      return;
    }
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      if (looks[bucket] <= now) {
        expire(bucket, nowNanos, expired);
      }
    }
    next = Long.MAX_VALUE;
    for (long look : looks) {
      next = Math.min(next, look);
    }
  }

  private void expire(int bucket, long nowNanos, Expired expired) {
    looks[bucket] = Long.MAX_VALUE;
    Consumer after;
    for (Consumer at = heads[bucket]; at != null; at = after) {
      after = at.bucketAfter;
      if (at.deadlineNanos <= nowNanos) {
        remove(at);
        expired.expired(at);
      } else {
        looks[bucket] = Math.min(looks[bucket], due(at));
      }
    }
  }

  /** A time at which it is worth calling {@link #expire}; {@code Long.MAX_VALUE} for never. */
  long nextNanos() {
    return size == 0 ? Long.MAX_VALUE : next * TICK_NANOS;
  }
}
