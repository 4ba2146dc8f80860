package io.lightmq.node.connection;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many requests all connections together may have without an answer or not carried out: runs,
 * commits, pulls and all others. The bytes of messages have budgets of their own; this one is for
 * what a request takes beside them, so that runs of one small message are bounded too.
 *
 * <p>A connection may have a quarter of all. When they are used up, only those connections are read
 * that have fewer than {@value #FLOOR}: strangers keep nobody from these. Any thread.
 */
public final class OpenRequests {
  /** What a request takes with its answer, more than measured for a run and for a refusal. */
  static final int REQUEST_BYTES = 512;

  /** What every connection may have in any case. */
  static final int FLOOR = 32;

  private static final int SHARE_OF_HEAP = 16;
  private static final int SHARE_OF_CONNECTION = 4;

  private final long limit;
  private final AtomicLong open = new AtomicLong();

  /** None open. */
  OpenRequests(long limit) {
    this.limit = limit;
  }

  /** For a Java machine of this heap: a sixteenth of it. */
  public static OpenRequests of(long heapBytes) {
    return new OpenRequests(heapBytes / SHARE_OF_HEAP / REQUEST_BYTES);
  }

  /** What one connection may have, for which so many were configured. */
  int share(int configured) {
    return (int) Math.min(configured, Math.max(FLOOR, limit / SHARE_OF_CONNECTION));
  }

  boolean full() {
    return open.get() >= limit;
  }

  /** Counts more, or fewer. */
  void add(int count) {
    open.addAndGet(count);
  }

  /** How many there are. */
  long open() {
    return open.get();
  }
}
