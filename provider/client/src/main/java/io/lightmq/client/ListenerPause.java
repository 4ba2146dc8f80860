package io.lightmq.client;

import java.util.concurrent.TimeUnit;

/**
 * How long a session's listeners rest after failures in a row: not at all after the first, then
 * longer each time, up to {@value #MAX_MILLIS} ms. Guarded by its inbox's lock.
 */
final class ListenerPause {
  private static final long MAX_MILLIS = 1_000;

  private int failuresInARow;
  private long untilNanos;

  void failed() {
    failuresInARow++;
    long millis =
        failuresInARow == 1 ? 0 : Math.min(MAX_MILLIS, 5L << Math.min(failuresInARow, 20));
    untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  void succeeded() {
    failuresInARow = 0;
  }

  /** What is left of the rest; 0 or less when it is over. */
  long nanosLeft() {
    return failuresInARow == 0 ? 0 : untilNanos - System.nanoTime();
  }
}
