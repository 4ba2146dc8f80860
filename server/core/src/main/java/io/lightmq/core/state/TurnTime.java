package io.lightmq.core.state;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time that all of one turn sees. A turn may be long and commands arrive while it goes on, so
 * what counts from a send counts from the arrival that its {@code Sender} says; whether it is over
 * is asked of the turn's beginning. So nothing is ever early.
 */
@OwnedBy("shard")
public final class TurnTime {
  /**
   * A time in records that is further ahead than this is no skew but was wrong; it is passed by.
   */
  static final long MOST_AHEAD_MILLIS = 60_000;

  private static final Logger log = LoggerFactory.getLogger(TurnTime.class);
  private static final long TOLD_MILLIS = 500;

  private final Clock clock;
  private long millis;
  private long nanos;
  private long behindMillis;
  private long aheadMillis;

  public TurnTime(Clock clock) {
    this.clock = clock;
    look();
  }

  /** Looks at the clock. */
  public void look() {
    millis = clock.wallMillis() + aheadMillis;
    nanos = clock.nanos();
    behindMillis = clock.behindMillis();
  }

  /**
   * An owner begins: its time begins with the highest that another machine has put into records, if
   * that is ahead of this one's, and goes on with this machine's. So nothing is dated back, and
   * what lasts a time lasts it here too.
   *
   * @param newestMillis 0 if there is no other machine
   */
  public void begin(long newestMillis) {
    long ahead = Math.max(0, newestMillis - clock.arrivalMillis()); // stamps are rounded up
    aheadMillis = ahead > MOST_AHEAD_MILLIS ? 0 : ahead;
    if (ahead > TOLD_MILLIS) {
      log.warn(
          "The newest record is {} ms ahead of this machine's time, {}; look at the clocks of the"
              + " machines",
          ahead,
          aheadMillis > 0
              ? "from which the broker's goes on"
              : "which is more than " + MOST_AHEAD_MILLIS + " and is passed by");
    }
    look();
  }

  /** Milliseconds since 1970, for stamps. */
  public long millis() {
    return millis;
  }

  /** Nanoseconds from an arbitrary origin. */
  public long nanos() {
    return nanos;
  }

  /** Nanoseconds now, within the turn. */
  public long nowNanos() {
    return clock.nanos();
  }

  /** When something came that arrived at a time of this machine. */
  public long arrived(long atMillis) {
    return atMillis + aheadMillis;
  }

  /** How often the machine's time was seen to jump. */
  public long steps() {
    return clock.steps();
  }

  /**
   * When something is over that begins at a time and lasts so long; never before it has really
   * lasted so long, also while the clock runs fast because it is behind the machine's time.
   */
  public long after(long fromMillis, long durationMillis) {
    long slack = behindMillis == 0 ? 0 : Math.min(behindMillis, durationMillis / Clock.SLEW + 1);
    long most = Long.MAX_VALUE / 4;
    return durationMillis > most - fromMillis - slack ? most : fromMillis + durationMillis + slack;
  }

  /** When a message expires that arrived at a time, 0 for never. */
  public long expiry(long fromMillis, ByteBuffer messages, int at) {
    long timeToLive = MessageReader.timeToLiveMillis(messages, at);
    return timeToLive <= 0 ? 0 : Math.max(1, after(fromMillis, timeToLive));
  }

  /** When a delayed message is due that arrived at a time; far delays end before the clock does. */
  public long due(long fromMillis, ByteBuffer messages, int at) {
    return after(fromMillis, MessageReader.deliveryDelayMillis(messages, at));
  }
}
