package io.lightmq.client;

import jakarta.jms.JMSException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * How a session is closed, alone or with its connection: {@link #beginNothing}, {@link
 * #awaitListener} and {@link #awaitSends}, then {@link #endParts} and {@link #awaitBroker}.
 */
final class SessionEnd {
  private final LightmqSession session;
  private final LightmqConnection connection;
  private final Inbox inbox;
  private final Completions completions;
  private final Refusals refusals;
  private final SessionConsumers consumers;
  private final SessionBrowsers browsers;
  private final Closing closing = new Closing();
  private CompletableFuture<Void> closedInBroker = new CompletableFuture<>();

  /** Of a session with these parts. */
  SessionEnd(
      LightmqSession session,
      LightmqConnection connection,
      Inbox inbox,
      Completions completions,
      Refusals refusals,
      SessionConsumers consumers,
      SessionBrowsers browsers) {
    this.session = session;
    this.connection = connection;
    this.inbox = inbox;
    this.completions = completions;
    this.refusals = refusals;
    this.consumers = consumers;
    this.browsers = browsers;
  }

  /** Whether somebody closes it or has closed it. */
  boolean hasBegun() {
    return closing.hasBegun();
  }

  /** Whether it works no more. */
  boolean isClosed() {
    return closing.isClosed();
  }

  /** Closes it alone, unless somebody does already: that one is waited for. */
  void close() throws JMSException {
    if (!closing.begin()) {
      // A listener does not wait for whoever waits for it.
      if (!connection.isClosing() || !connection.isInListener()) {
        closing.awaitDone();
      }
      return;
    }
    // It stays with its connection until it is closed: who closes that meanwhile waits for it.
    beginNothing();
    Shutdown.awaitListeners(List.of(session), connection.settings());
    try {
      endParts();
    } finally {
      awaitBroker();
    }
  }

  /** Nothing new is begun in it from here on; what runs goes on. */
  void beginNothing() {
    inbox.end();
    completions.end();
  }

  /** Waits for its message listener, if that runs. */
  void awaitListener() {
    inbox.awaitListener();
  }

  /** Whether asynchronous sends or their listeners are not done. */
  boolean hasSends() {
    return completions.hasPending();
  }

  /** Waits for these, but no longer than that. */
  void awaitSends(long millis) {
    completions.awaitAll(millis);
  }

  /** Begins to close it with its connection; false if another thread closes it alone. */
  boolean begin() {
    return closing.begin();
  }

  /** Waits for the thread that closes it. */
  void awaitDone() {
    closing.awaitDone();
  }

  /** Its listeners have returned: ends all that it has, and asks the broker to. */
  void endParts() {
    closing.close();
    try {
      inbox.close();
    } finally {
      try {
        completions.close();
        boolean counted = refusals.take() == null;
        session.endWork(counted); // before what waits behind what it has acknowledged
        inbox.unsettled().giveBackLast(counted);
        consumers.forget();
        browsers.forget();
      } finally {
        closedInBroker = connection.link().closeSession(session.id());
      }
    }
  }

  /** Waits until the broker has closed it too. */
  void awaitBroker() throws JMSException {
    try {
      Awaiting.answerWhenClosing(closedInBroker, "closing a session");
    } finally {
      connection.closed(session);
      closing.done();
    }
  }
}
