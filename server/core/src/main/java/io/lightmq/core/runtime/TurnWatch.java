package io.lightmq.core.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How long a loop's turns take, for others to see while one lasts: a thread that is stuck cannot
 * tell so itself. The loop writes twice a turn.
 */
final class TurnWatch {
  private static final long IDLE = Long.MIN_VALUE;

  private final Clock clock;
  private final AtomicLong longest = new AtomicLong();
  private volatile long beganNanos = IDLE;

  TurnWatch(Clock clock) {
    this.clock = clock;
  }

  /** A turn begins. Loop only. */
  void begin(long nowNanos) {
    beganNanos = nowNanos;
  }

  /** It has ended. Loop only. */
  void end() {
    long took = clock.nanos() - beganNanos;
    beganNanos = IDLE;
    if (took > longest.get()) {
      longest.set(took); // a reading in between counts it in the next
    }
  }

  /** How long the turn lasts that is under way; 0 if none is. Any thread. */
  long nanos() {
    long began = beganNanos;
    return began == IDLE ? 0 : Math.max(0, clock.nanos() - began);
  }

  /** The longest turn since the last call, the one under way included. Any thread. */
  long takeLongest() {
    return Math.max(longest.getAndSet(0), nanos());
  }
}
