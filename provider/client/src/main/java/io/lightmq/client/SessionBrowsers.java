package io.lightmq.client;

import io.lightmq.client.message.Messages;
import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.JMSException;
import jakarta.jms.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The browsers of one session. */
final class SessionBrowsers {
  private final LightmqConnection connection;
  private final int sessionId;
  private final Messages messages;
  private final Set<LightmqBrowser> open = ConcurrentHashMap.newKeySet();

  SessionBrowsers(LightmqConnection connection, int sessionId, Messages messages) {
    this.connection = connection;
    this.sessionId = sessionId;
    this.messages = messages;
  }

  /** Opens one, if the broker finds queue and selector good. */
  LightmqBrowser open(
      LightmqSession session, Queue queue, DestinationName name, @Nullable String selector)
      throws JMSException {
    LightmqBrowser browser = new LightmqBrowser(session, this, queue, name, selector);
    browser.check();
    open.add(browser);
    return browser;
  }

  /** Begins a look at a queue. */
  Browse look(DestinationName queue, @Nullable String selector) throws JMSException {
    return Browse.open(connection, sessionId, messages, queue, selector);
  }

  void closed(LightmqBrowser browser) {
    open.remove(browser);
  }

  /** The session is closed, which ends them in the broker. */
  void forget() {
    open.forEach(LightmqBrowser::forget);
    open.clear();
  }
}
