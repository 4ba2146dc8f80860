package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import jakarta.jms.Queue;
import jakarta.jms.QueueReceiver;
import jakarta.jms.Topic;
import jakarta.jms.TopicSubscriber;
import org.jspecify.annotations.Nullable;

/** A consumer of a queue or of a topic's subscription. */
final class LightmqConsumer implements QueueReceiver, TopicSubscriber {
  private final LightmqSession session;
  private final ConsumerQueue queue;
  private final Destination destination;
  private final @Nullable String selector;
  private final boolean noLocal;
  private volatile boolean closed;

  LightmqConsumer(
      LightmqSession session,
      ConsumerQueue queue,
      Destination destination,
      @Nullable String selector,
      boolean noLocal) {
    this.session = session;
    this.queue = queue;
    this.destination = destination;
    this.selector = selector;
    this.noLocal = noLocal;
  }

  private void requireOpen() throws JMSException {
    session.requireOpen();
    if (closed) {
      throw JmsFaults.closed("consumer");
    }
  }

  @Override
  public @Nullable String getMessageSelector() throws JMSException {
    requireOpen();
    return selector;
  }

  @Override
  public @Nullable MessageListener getMessageListener() throws JMSException {
    requireOpen();
    return session.inbox().listener(queue);
  }

  @Override
  public void setMessageListener(@Nullable MessageListener listener) throws JMSException {
    requireOpen();
    session.inbox().listen(queue, listener);
  }

  @Override
  public @Nullable Message receive() throws JMSException {
    return receive(Gate.FOREVER, message -> message);
  }

  @Override
  public @Nullable Message receive(long timeoutMillis) throws JMSException {
    return receive(waitMillis(timeoutMillis), message -> message);
  }

  @Override
  public @Nullable Message receiveNoWait() throws JMSException {
    return receive(Gate.NO_WAIT, message -> message);
  }

  /** How long a receive with this timeout waits: 0 stands for ever. */
  static long waitMillis(long timeoutMillis) throws JMSException {
    if (timeoutMillis < 0) {
      throw JmsFaults.invalidArgument("the timeout is at least 0 ms, not " + timeoutMillis);
    }
    return timeoutMillis == 0 ? Gate.FOREVER : timeoutMillis;
  }

  /** As {@link Inbox#receive}. */
  <T> @Nullable T receive(long waitMillis, Inbox.Converter<T> converter) throws JMSException {
    requireOpen();
    if (session.inbox().isOver()) {
      throw JmsFaults.closed("session");
    }
    return session.inbox().receive(queue, waitMillis, converter);
  }

  /**
   * Also in a completion listener: section 7.3.4 of the specification forbids to close producer,
   * session, context and connection there, not this.
   */
  @Override
  public void close() throws JMSException {
    if (!closed) {
      closed = true;
      session.closeConsumer(queue);
    }
  }

  @Override
  public Queue getQueue() throws JMSException {
    requireOpen();
    return JmsDestinations.asQueue(destination);
  }

  @Override
  public Topic getTopic() throws JMSException {
    requireOpen();
    return JmsDestinations.asTopic(destination);
  }

  @Override
  public boolean getNoLocal() throws JMSException {
    requireOpen();
    return noLocal;
  }
}
