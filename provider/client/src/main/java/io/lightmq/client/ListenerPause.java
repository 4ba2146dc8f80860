package io.lightmq.client;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How long a session's listeners rest after failures in a row: not at all after the first, then
 * longer each time, up to {@value #MAX_MILLIS} ms. After one for which the broker had no room they
 * rest at least {@value #NO_ROOM_MILLIS} ms, for such a message comes again without end. Guarded by
 * its inbox's lock.
 */
final class ListenerPause {
  static final long MAX_MILLIS = 1_000;
  private static final long UNIT_MILLIS = 5;

  /** How many failures in a row one for want of room counts as, at least. */
  private static final int NO_ROOM_FAILURES = 5;

  static final long NO_ROOM_MILLIS = UNIT_MILLIS << NO_ROOM_FAILURES;

  private final LongSupplier nanoTime;

  private int failuresInARow;
  private long untilNanos;

  ListenerPause() {
    this(System::nanoTime);
  }

  ListenerPause(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void failed() {
    failuresInARow++;
    long millis =
        failuresInARow == 1 ? 0 : Math.min(MAX_MILLIS, UNIT_MILLIS << Math.min(failuresInARow, 20));
    untilNanos = nanoTime.getAsLong() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** A listener has failed because the broker had no room. */
  void refused() {
    failuresInARow = Math.max(failuresInARow, NO_ROOM_FAILURES - 1);
    failed();
  }

  void succeeded() {
    failuresInARow = 0;
  }

  /** What is left of the rest; 0 or less when it is over. */
  long nanosLeft() {
    return failuresInARow == 0 ? 0 : untilNanos - nanoTime.getAsLong();
  }
}
