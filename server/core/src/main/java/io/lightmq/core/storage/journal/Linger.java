package io.lightmq.core.storage.journal;

/**
 * Guesses how long a force should wait for the senders of the one before, who have just got their
 * receipts and are about to send again. Never waits for a lone sender.
 */
final class Linger {
  private static final long AT_ONCE_NANOS = 20_000;

  private final long mostNanos;
  private int expected;
  private int lastGroup;
  private long lastEnd;
  private long waitingSince;
  private boolean waiting;

  Linger(long mostNanos) {
    this.mostNanos = mostNanos;
  }

  /** Nanoseconds to wait yet for more than these senders; 0 to go on now. */
  long nanosLeft(int waiters, long now) {
    if (mostNanos == 0 || waiters == 0) {
      return 0;
    }
    if (!waiting) {
      waiting = true;
      waitingSince = now;
      boolean waitedDuringForce = now - lastEnd < AT_ONCE_NANOS;
      expected = waitedDuringForce ? lastGroup + waiters : lastGroup;
    }
    if (lastGroup <= 1 && waiters <= 1) {
      return 0;
    }
    return waiters >= expected ? 0 : Math.max(0, waitingSince + mostNanos - now);
  }

  /** A force for so many senders has ended. */
  void forced(int waiters, long now) {
    waiting = false;
    lastGroup = waiters;
    lastEnd = now;
  }
}
