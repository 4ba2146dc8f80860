package io.lightmq.core.shard;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.OwnedBy;

/** The time that all of one turn sees. */
@OwnedBy("shard")
final class TurnTime {
  private final Clock clock;
  private long millis;
  private long nanos;

  TurnTime(Clock clock) {
    this.clock = clock;
    look();
  }

  /** Looks at the clock. */
  void look() {
    millis = clock.wallMillis();
    nanos = clock.nanos();
  }

  /** Milliseconds since 1970, for stamps. */
  long millis() {
    return millis;
  }

  /** Nanoseconds from an arbitrary origin. */
  long nanos() {
    return nanos;
  }

  /** Nanoseconds now, within the turn. */
  long nowNanos() {
    return clock.nanos();
  }
}
