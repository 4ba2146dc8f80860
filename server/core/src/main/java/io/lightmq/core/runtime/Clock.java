package io.lightmq.core.runtime;

/** Time as the broker sees it; simulated in tests. */
public interface Clock {
  /** Milliseconds since 1970; may jump. For stamps only, never for safety. */
  long wallMillis();

  /** Nanoseconds from an arbitrary origin; never goes back. */
  long nanos();
}
