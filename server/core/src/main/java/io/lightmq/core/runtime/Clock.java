package io.lightmq.core.runtime;

/** Time as the broker sees it; simulated in tests. */
public interface Clock {
  /** While it follows a step of the machine's time the wall time gains or loses one in so many. */
  long SLEW = 100;

  /**
   * Milliseconds since 1970, rounded down. For stamps only, never for safety: it begins with the
   * machine's time, and follows a step of that only slowly.
   */
  long wallMillis();

  /** The same rounded up: no earlier than now, for the beginning of a delay or a time to live. */
  long arrivalMillis();

  /** Nanoseconds from an arbitrary origin; never goes back. */
  long nanos();

  /**
   * How many milliseconds the machine's time is ahead, which {@link #wallMillis} is about to gain
   * on {@link #nanos}; 0 if it is not ahead.
   */
  default long behindMillis() {
    return 0;
  }

  /** How often the machine's time was seen to jump since this clock began. */
  default long steps() {
    return 0;
  }
}
