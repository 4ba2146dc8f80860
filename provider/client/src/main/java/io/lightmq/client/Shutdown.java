package io.lightmq.client;

import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of sessions that are closed together, of which none begins anything new. What runs in any
 * of them, message listeners and completion listeners, goes on with all facilities of all of them
 * until it has returned; only then is anything closed (sections 6.1.8, 6.2.14 and 6.2.15 of the
 * specification). So closing takes as long as the slowest listener.
 *
 * <p>A message listener is waited for without end. Asynchronous sends and their completion
 * listeners are waited for as long as a request may take: then what has no receipt is given up, and
 * a completion listener that still runs, or sends again and again, finds its session closed.
 */
final class Shutdown {
  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

  private Shutdown() {}

  /**
   * Waits until nothing of the application runs in sessions that are {@linkplain
   * SessionEnd#beginNothing ending}.
   *
   * @param sessions may grow meanwhile, for listeners may open some
   */
  static void awaitListeners(List<LightmqSession> sessions, ClientSettings settings) {
    sessions.forEach(session -> session.ending().awaitListener());
    long leftMillis = settings.link().timeouts().requestMillis();
    long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(leftMillis);
    while (leftMillis > 0 && sessions.stream().anyMatch(session -> session.ending().hasSends())) {
      for (LightmqSession session : sessions) {
        session.ending().awaitSends(Math.max(0, leftMillis));
        leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
      }
    }
  }

  /** Closes sessions in which nothing runs any more. Failures are only logged. */
  static void close(List<LightmqSession> sessions) {
    List<SessionEnd> own = new ArrayList<>();
    List<SessionEnd> closedByOthers = new ArrayList<>();
    for (LightmqSession session : sessions) {
      (session.ending().begin() ? own : closedByOthers).add(session.ending());
    }
    own.forEach(session -> quietly(session::endParts));
    own.forEach(session -> quietly(session::awaitBroker));
    closedByOthers.forEach(SessionEnd::awaitDone);
  }

  /** The broker closes what it was not asked to, at the latest when the link ends. */
  static void quietly(Unchecked.Action close) {
    try {
      close.run();
    } catch (JMSException e) {
      LOG.debug("closing a part of a connection failed", e);
    }
  }
}
