package io.lightmq.core.shard;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;

/**
 * The time that all of one turn sees. A turn may be long and commands arrive while it goes on, so
 * what counts from a send counts from the arrival that its {@link Sender} says; whether it is over
 * is asked of the turn's beginning. So nothing is ever early.
 */
@OwnedBy("shard")
final class TurnTime {
  private final Clock clock;
  private long millis;
  private long nanos;
  private long behindMillis;

  TurnTime(Clock clock) {
    this.clock = clock;
    look();
  }

  /** Looks at the clock. */
  void look() {
    millis = clock.wallMillis();
    nanos = clock.nanos();
    behindMillis = clock.behindMillis();
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

  /** How often the machine's time was seen to jump. */
  long steps() {
    return clock.steps();
  }

  /**
   * When something is over that begins at a time and lasts so long; never before it has really
   * lasted so long, also while the clock runs fast because it is behind the machine's time.
   */
  long after(long fromMillis, long durationMillis) {
    long slack = behindMillis == 0 ? 0 : Math.min(behindMillis, durationMillis / Clock.SLEW + 1);
    long most = Long.MAX_VALUE / 4;
    return durationMillis > most - fromMillis - slack ? most : fromMillis + durationMillis + slack;
  }

  /** When a message expires that arrived at a time, 0 for never. */
  long expiry(long fromMillis, ByteBuffer messages, int at) {
    long timeToLive = MessageReader.timeToLiveMillis(messages, at);
    return timeToLive <= 0 ? 0 : Math.max(1, after(fromMillis, timeToLive));
  }

  /** When a delayed message is due that arrived at a time; far delays end before the clock does. */
  long due(long fromMillis, ByteBuffer messages, int at) {
    return after(fromMillis, MessageReader.deliveryDelayMillis(messages, at));
  }
}
