package io.lightmq.client;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a broker that has no room means for those whose work fails by it. It is no failed attempt of
 * theirs, so what they had received comes again without end, and at once: therefore a session waits
 * before it goes on, or it would be tried thousands of times a second. {@value #FIRST_MILLIS} ms
 * after the first in a row, twice as long after each further one, at most {@value #MAX_MILLIS} ms.
 */
final class RefusalPause {
  static final long FIRST_MILLIS = 100;
  static final long MAX_MILLIS = 1_000;

  private final LongConsumer sleepMillis;
  private long nextMillis = FIRST_MILLIS;

  RefusalPause() {
    this(RefusalPause::sleep);
  }

  RefusalPause(LongConsumer sleepMillis) {
    this.sleepMillis = sleepMillis;
  }

  private static void sleep(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A commit has failed, or is rolled back for a failure; waits if that was for want of room. */
  void failed(@Nullable Throwable cause) {
    if (NoRoom.is(cause)) {
      sleepMillis.accept(next());
    }
  }

  private synchronized long next() {
    long millis = nextMillis;
    nextMillis = Math.min(MAX_MILLIS, 2 * millis);
    return millis;
  }

  synchronized void succeeded() {
    nextMillis = FIRST_MILLIS;
  }
}
