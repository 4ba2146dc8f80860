package io.lightmq.client;

import io.lightmq.client.link.LinkException;
import io.lightmq.client.link.LinkStatus;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a connection is at a moment, for readiness probes: {@code connection.state().isReady()}. Asks
 * nobody and never waits.
 *
 * @param phase what it is
 * @param since when it became that
 * @param broker the address of the broker that it is connected to, or was last
 * @param attempts to connect again since the newest loss
 * @param cause why it was lost last, or has failed; null if it never was
 * @param reconnects how often a lost connection was made again
 * @param outage how long the newest loss lasted, or lasts; zero if there was none
 */
public record ConnectionState(
    Phase phase,
    Instant since,
    String broker,
    int attempts,
    @Nullable String cause,
    int reconnects,
    Duration outage) {

  /** What a connection can be. */
  public enum Phase {
    /** Everything goes to the broker at once. */
    CONNECTED,
    /** The connection is lost and is made again; calls wait, up to their deadlines. */
    RECONNECTING,
    /** It is given up, as the exception listener was told; nothing works any more. */
    FAILED,
    /** It was closed. */
    CLOSED
  }

  /** Whether the broker can be reached, as far as is known. */
  public boolean isReady() {
    return phase == Phase.CONNECTED;
  }

  static ConnectionState of(LinkStatus link, boolean closed) {
    LinkException cause = link.cause();
    return new ConnectionState(
        closed ? Phase.CLOSED : phase(link.phase()),
        link.since(),
        link.broker(),
        link.attempts(),
        cause == null ? null : cause.getMessage(),
        link.reconnects(),
        link.outage());
  }

  private static Phase phase(LinkStatus.Phase link) {
    return switch (link) {
      case OPEN -> Phase.CONNECTED;
      case CONNECTING, LOST -> Phase.RECONNECTING;
      case ENDED -> Phase.FAILED;
    };
  }
}
