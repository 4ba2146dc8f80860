package io.lightmq.client.link;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a link is at a moment.
 *
 * @param since when the phase began
 * @param broker the address of the connection, or of the last one
 * @param attempts to connect again since the loss
 * @param cause why the last connection was lost or the link has ended; null if neither happened
 * @param reconnects how often a lost connection was made again
 * @param outage how long the newest loss has lasted, or lasts; zero if there was none
 */
public record LinkStatus(
    Phase phase,
    Instant since,
    String broker,
    int attempts,
    @Nullable LinkException cause,
    int reconnects,
    Duration outage) {

  /** What a link can be. */
  public enum Phase {
    /** It connects for the first time. */
    CONNECTING,
    /** There is a connection, on which all is open. */
    OPEN,
    /** The connection is lost, and is being made again. */
    LOST,
    /** The link has failed or was closed. */
    ENDED
  }
}
