package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import java.util.Enumeration;
import org.jspecify.annotations.Nullable;

/**
 * A browser (Jakarta Messaging 3.1, section 4.8). Each enumeration is a look at what the queue has
 * when it is asked for, and ends the one before. It works whether or not the connection is started.
 */
final class LightmqBrowser implements QueueBrowser {
  private final LightmqSession session;
  private final SessionBrowsers browsers;
  private final Queue queue;
  private final DestinationName name;
  private final @Nullable String selector;
  private @Nullable Browse current;
  private boolean closed;

  LightmqBrowser(
      LightmqSession session,
      SessionBrowsers browsers,
      Queue queue,
      DestinationName name,
      @Nullable String selector) {
    this.session = session;
    this.browsers = browsers;
    this.queue = queue;
    this.name = name;
    this.selector = selector;
  }

  private void requireOpen() throws JMSException {
    session.requireOpen();
    if (isClosed()) {
      throw JmsFaults.closed("browser");
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public Queue getQueue() throws JMSException {
    requireOpen();
    return queue;
  }

  @Override
  public @Nullable String getMessageSelector() throws JMSException {
    requireOpen();
    return selector;
  }

  /** Asks the broker whether queue and selector are good, without keeping a look open. */
  void check() throws JMSException {
    browsers.look(name, selector).close();
  }

  @Override
  public Enumeration<Message> getEnumeration() throws JMSException {
    requireOpen();
    Browse look = browsers.look(name, selector);
    Browse before;
    boolean late;
    synchronized (this) {
      before = current;
      late = closed;
      current = look;
    }
    if (before != null) {
      before.close();
    }
    if (late) {
      look.close();
    }
    return look;
  }

  @Override
  public void close() {
    Browse last = end();
    browsers.closed(this);
    if (last != null) {
      last.close();
    }
  }

  /** The session is closed, and with it all in the broker. */
  void forget() {
    Browse last = end();
    if (last != null) {
      last.forget();
    }
  }

  private synchronized @Nullable Browse end() {
    Browse last = current;
    closed = true;
    current = null;
    return last;
  }
}
