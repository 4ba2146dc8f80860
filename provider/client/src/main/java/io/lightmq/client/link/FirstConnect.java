package io.lightmq.client.link;

import io.lightmq.wire.entry.FaultCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the first connect of a link, on the thread that asked for it, as often as its settings
 * allow and with the pauses of later reconnects.
 */
final class FirstConnect {
  private static final Logger LOG = LoggerFactory.getLogger(FirstConnect.class);

  /** Connects once; blocks. */
  interface Attempt {
    void connect() throws LinkException;
  }

  private final LinkSettings settings;
  private final Backoff backoff;

  FirstConnect(LinkSettings settings) {
    this.settings = settings;
    this.backoff = new Backoff(settings.reconnect());
    backoff.nextMillis(0); // which would be none: here an attempt has just failed
  }

  void run(Attempt attempt) throws LinkException {
    int limit = settings.reconnect().initialAttempts();
    int failed = 0;
    while (true) {
      try {
        attempt.connect();
        return;
      } catch (LinkException e) {
        failed++;
        if (e.isFinal() || Thread.currentThread().isInterrupted() || limit == 0) {
          throw e;
        }
        if (limit > 0 && failed > limit) {
          throw new LinkException(
              e.code(),
              "gave up after "
                  + failed
                  + " attempts to connect (option initialReconnectAttempts): "
                  + e.getMessage(),
              e);
        }
        LOG.info("attempt {} to connect failed: {}", failed, e.getMessage());
      }
      pause(backoff.nextMillis(ThreadLocalRandom.current().nextDouble()));
    }
  }

  private static void pause(long millis) throws LinkException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LinkException(FaultCode.CLOSING, "interrupted while connecting", e);
    }
  }

  /** Waits for the outcome of one try; one that nobody waits for any more is cancelled. */
  static void await(CompletableFuture<Void> opened, ClientUri uri, long millis)
      throws LinkException {
    try {
      opened.get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw failed(uri, e);
    } catch (TimeoutException e) {
      ended(opened, uri, millis, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      opened.cancel(false);
      throw new LinkException(FaultCode.CLOSING, "interrupted while connecting", e);
    }
  }

  /** The time is over; returns if it came in this moment. */
  private static void ended(
      CompletableFuture<Void> opened, ClientUri uri, long millis, TimeoutException late)
      throws LinkException {
    if (opened.cancel(false)) {
      throw new LinkException(
          FaultCode.HEARTBEAT_LOST, uri + " did not answer within " + millis + " ms", late);
    }
    try {
      opened.join();
    } catch (CompletionException e) {
      throw failed(uri, e);
    }
  }

  private static LinkException failed(ClientUri uri, Exception failure) {
    LinkException cause = Connector.failure("cannot connect", Connector.unwrap(failure));
    return new LinkException(
        cause.code(), "connecting to " + uri + ": " + cause.getMessage(), cause);
  }
}
