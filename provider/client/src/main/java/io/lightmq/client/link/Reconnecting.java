package io.lightmq.client.link;

import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a link does between the loss of its connection and the next one: it waits, looks the
 * addresses up and tries them, again and again. Each step is in the log with its reason. Belongs to
 * the link's loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // each try tells its outcome by itself
final class Reconnecting {
  private static final Logger LOG = LoggerFactory.getLogger(Reconnecting.class);

  /** Whose connection it is. */
  interface Link {
    /** Whether there is still a connection to be made. */
    boolean isLost();

    /** There will be none any more. */
    void giveUp(LinkException cause);
  }

  private final LinkSettings settings;
  private final Endpoint endpoint;
  private final EventLoop loop;
  private final Backoff backoff;
  private final Tries tries;
  private final Story story;
  private final Link link;
  private volatile @Nullable Thread resolving;

  Reconnecting(
      LinkSettings settings,
      Endpoint endpoint,
      EventLoop loop,
      Backoff backoff,
      Tries tries,
      Story story,
      Link link) {
    this.settings = settings;
    this.endpoint = endpoint;
    this.loop = loop;
    this.backoff = backoff;
    this.tries = tries;
    this.story = story;
    this.link = link;
  }

  /** The connection is lost. */
  void begin(LinkException cause) {
    LOG.warn("{}: connection lost: {}; connecting again", settings.uri(), cause.getMessage());
    later();
  }

  /** The connection is there again. */
  void done() {
    LOG.info("{}", told(settings.uri(), story.status()));
  }

  /** The line about a loss that is over. */
  static String told(ClientUri uri, LinkStatus status) {
    LinkException lost = status.cause();
    return uri
        + ": connected again to "
        + status.broker()
        + " after "
        + status.attempts()
        + (status.attempts() == 1 ? " attempt and " : " attempts and ")
        + status.outage().toMillis()
        + " ms"
        + (lost == null ? "" : "; it was lost because: " + lost.getMessage());
  }

  private void later() {
    int limit = settings.reconnect().attempts();
    if (limit >= 0 && backoff.attempts() >= limit) {
      link.giveUp(
          new LinkException(
              FaultCode.CLOSING,
              "gave up after " + limit + " attempts to connect again (option reconnectAttempts)"));
      return;
    }
    long millis = backoff.nextMillis(ThreadLocalRandom.current().nextDouble());
    loop.schedule(this::resolve, millis, TimeUnit.MILLISECONDS);
  }

  /** Names are resolved on a thread of their own, since that may block. */
  private void resolve() {
    if (!link.isLost()) {
      return;
    }
    story.attempt();
    Thread resolver =
        new Thread(
            () -> {
              List<SocketAddress> addresses = endpoint.addresses();
              try {
                loop.execute(() -> connect(addresses));
              } catch (RejectedExecutionException e) {
                LOG.debug("{}: the loop has ended", settings.uri());
              }
            },
            "link-resolve");
    resolver.setDaemon(true);
    try {
      resolver.start();
      resolving = resolver;
    } catch (OutOfMemoryError e) { // of threads; there may be one later
      LOG.warn("{}: no thread to look up the broker's address: {}", settings.uri(), e.getMessage());
      later();
    }
  }

  /** The thread that looks addresses up, or has done so last. */
  @Nullable Thread resolving() {
    return resolving;
  }

  private void connect(List<SocketAddress> addresses) {
    if (!link.isLost()) {
      return;
    }
    if (addresses.isEmpty()) {
      link.giveUp(
          new LinkException(
              FaultCode.BROKER_FAILED,
              settings.uri() + " has no broker any more: it has failed or was closed"));
      return;
    }
    var unused =
        tries
            .any(addresses)
            .whenComplete(
                (done, failure) -> {
                  if (failure != null && link.isLost()) {
                    failed(Connector.failure("cannot connect", Connector.unwrap(failure)));
                  }
                });
  }

  private void failed(LinkException cause) {
    if (cause.isFinal() && cause.code() != FaultCode.CLIENT_ID_IN_USE) {
      link.giveUp(cause);
      return;
    }
    LOG.info(
        "{}: attempt {} to connect again failed: {}",
        settings.uri(),
        story.status().attempts(),
        cause.getMessage());
    later();
  }
}
