package io.lightmq.client.link;

import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries to connect a link: to one address after the other, and at first again while the broker says
 * to come later. Only the newest chain of tries may connect. One that was begun before it, or that
 * was given up, ends with what it does now: its channel is closed, it makes no other, and it does
 * not touch the link any more. Belongs to the link's loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // each try tells its outcome by itself
final class Tries {
  private static final Logger LOG = LoggerFactory.getLogger(Tries.class);

  /** Whose tries they are. */
  interface Link extends Connector.Events {
    /** There is a connection: attaches to the broker over it. */
    CompletableFuture<@Nullable Void> attach(Connector.Connected connected);

    /** A try has failed: what it has begun is undone. */
    void notConnected(LinkException cause);
  }

  private final LinkSettings settings;
  private final Endpoint endpoint;
  private final EventLoop loop;
  private final Backoff backoff;
  private final Link link;

  /** The number of the newest chain. */
  private int newest;

  /** The channel of its try, up to the handshake; from there on it is the link's. */
  private @Nullable Channel connecting;

  Tries(LinkSettings settings, Endpoint endpoint, EventLoop loop, Backoff backoff, Link link) {
    this.settings = settings;
    this.endpoint = endpoint;
    this.loop = loop;
    this.backoff = backoff;
    this.link = link;
  }

  /** Connects, again as long as the broker says that it may succeed later, up to a time. */
  CompletableFuture<@Nullable Void> first(List<SocketAddress> addresses) {
    giveUp();
    long deadlineNanos =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.timeouts().requestMillis());
    return until(newest, addresses, deadlineNanos);
  }

  /** Connects to the first address that can be connected to. */
  CompletableFuture<@Nullable Void> any(List<SocketAddress> addresses) {
    giveUp();
    return any(newest, ordered(addresses), 0);
  }

  /**
   * As they are written, so that who has lost the second broker is back at the first; or in an
   * order of their own each time, so that many clients spread over all of them.
   */
  private List<SocketAddress> ordered(List<SocketAddress> addresses) {
    if (!settings.reconnect().randomize()) {
      return addresses;
    }
    List<SocketAddress> shuffled = new ArrayList<>(addresses);
    Collections.shuffle(shuffled, ThreadLocalRandom.current());
    return shuffled;
  }

  /** Nobody waits for what is tried now. */
  void giveUp() {
    newest++;
    Channel attempt = connecting;
    connecting = null;
    if (attempt != null) {
      attempt.close();
    }
  }

  /** A channel is being opened. */
  void connecting(Channel channel) {
    connecting = channel;
  }

  private CompletableFuture<@Nullable Void> until(
      int number, List<SocketAddress> addresses, long deadlineNanos) {
    return any(number, ordered(addresses), 0)
        .handle(
            (done, failure) -> {
              if (failure == null) {
                backoff.reset();
                return CompletableFuture.<@Nullable Void>completedFuture(null);
              }
              LinkException cause = Connector.failure("cannot connect", Connector.unwrap(failure));
              if (cause.code() != FaultCode.RETRY_LATER || number != newest) {
                return CompletableFuture.<@Nullable Void>failedFuture(cause);
              }
              long millis = backoff.nextMillis(ThreadLocalRandom.current().nextDouble());
              long leftNanos = deadlineNanos - System.nanoTime();
              return TimeUnit.MILLISECONDS.toNanos(millis) >= leftNanos
                  ? CompletableFuture.<@Nullable Void>failedFuture(cause)
                  : pause(millis).thenCompose(due -> until(number, addresses, deadlineNanos));
            })
        .thenCompose(next -> next);
  }

  /** Fails when the loop ends meanwhile: nobody would wake whoever waits for it. */
  private CompletableFuture<@Nullable Void> pause(long millis) {
    CompletableFuture<@Nullable Void> due = new CompletableFuture<>();
    loop.schedule(() -> due.complete(null), millis, TimeUnit.MILLISECONDS)
        .addListener(
            end -> {
              if (!end.isSuccess()) {
                due.completeExceptionally(Asking.ended());
              }
            });
    return due;
  }

  private CompletableFuture<@Nullable Void> any(
      int number, List<SocketAddress> addresses, int from) {
    if (number != newest) {
      return CompletableFuture.failedFuture(Asking.ended());
    }
    if (from >= addresses.size()) {
      return CompletableFuture.failedFuture(
          new LinkException(FaultCode.BAD_REQUEST, settings.uri() + " names no address"));
    }
    SocketAddress address = addresses.get(from);
    return Connector.connect(settings, loop, endpoint.channelType(), address, link)
        .thenCompose(connected -> attach(number, connected))
        .handle(
            (done, failure) -> {
              if (failure == null) {
                return CompletableFuture.<@Nullable Void>completedFuture(null);
              }
              LinkException cause =
                  Connector.failure("cannot connect to " + address, Connector.unwrap(failure));
              if (number != newest) {
                return CompletableFuture.<@Nullable Void>failedFuture(cause);
              }
              connecting = null;
              link.notConnected(cause);
              if (from + 1 < addresses.size() && !cause.isFinal()) {
                LOG.info("{}: {}; trying the next address", settings.uri(), cause.getMessage());
                return any(number, addresses, from + 1);
              }
              return CompletableFuture.<@Nullable Void>failedFuture(cause);
            })
        .thenCompose(next -> next);
  }

  private CompletableFuture<@Nullable Void> attach(int number, Connector.Connected connected) {
    if (number != newest) {
      connected.channel().close();
      return CompletableFuture.failedFuture(Asking.ended());
    }
    connecting = null;
    return link.attach(connected);
  }
}
