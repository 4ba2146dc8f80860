package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.message.SendRules;
import jakarta.jms.CompletionListener;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.QueueSender;
import jakarta.jms.Topic;
import jakarta.jms.TopicPublisher;
import org.jspecify.annotations.Nullable;

/** A producer, with a destination or without one. */
final class LightmqProducer implements QueueSender, TopicPublisher {
  private final LightmqSession session;
  private final @Nullable Destination destination;
  private final BrokerLink.@Nullable Target target;
  private boolean disableMessageId;
  private boolean disableTimestamp;
  private int deliveryMode = DeliveryMode.PERSISTENT;
  private int priority = Message.DEFAULT_PRIORITY;
  private long deliveryDelayMillis;
  private long timeToLiveMillis;
  private volatile boolean closed;

  LightmqProducer(LightmqSession session, @Nullable Destination destination) throws JMSException {
    this.session = session;
    this.destination = destination;
    this.target = destination == null ? null : session.sender().open(destination);
  }

  private void requireOpen() throws JMSException {
    session.requireOpen();
    if (closed) {
      throw JmsFaults.closed("producer");
    }
  }

  @Override
  public void setDisableMessageID(boolean value) throws JMSException {
    requireOpen();
    disableMessageId = value;
  }

  @Override
  public boolean getDisableMessageID() throws JMSException {
    requireOpen();
    return disableMessageId;
  }

  @Override
  public void setDisableMessageTimestamp(boolean value) throws JMSException {
    requireOpen();
    disableTimestamp = value;
  }

  @Override
  public boolean getDisableMessageTimestamp() throws JMSException {
    requireOpen();
    return disableTimestamp;
  }

  @Override
  public void setDeliveryMode(int mode) throws JMSException {
    requireOpen();
    SendRules.checkMode(mode);
    deliveryMode = mode;
  }

  @Override
  public int getDeliveryMode() throws JMSException {
    requireOpen();
    return deliveryMode;
  }

  @Override
  public void setPriority(int newPriority) throws JMSException {
    requireOpen();
    SendRules.checkPriority(newPriority);
    priority = newPriority;
  }

  @Override
  public int getPriority() throws JMSException {
    requireOpen();
    return priority;
  }

  @Override
  public void setTimeToLive(long millis) throws JMSException {
    requireOpen();
    SendRules.checkTimeToLive(millis);
    timeToLiveMillis = millis;
  }

  @Override
  public long getTimeToLive() throws JMSException {
    requireOpen();
    return timeToLiveMillis;
  }

  @Override
  public void setDeliveryDelay(long millis) throws JMSException {
    requireOpen();
    SendRules.checkDelay(millis);
    deliveryDelayMillis = millis;
  }

  @Override
  public long getDeliveryDelay() throws JMSException {
    requireOpen();
    return deliveryDelayMillis;
  }

  @Override
  public @Nullable Destination getDestination() throws JMSException {
    requireOpen();
    return destination;
  }

  @Override
  public @Nullable Queue getQueue() throws JMSException {
    Destination own = getDestination();
    return own == null ? null : JmsDestinations.asQueue(own);
  }

  @Override
  public @Nullable Topic getTopic() throws JMSException {
    Destination own = getDestination();
    return own == null ? null : JmsDestinations.asTopic(own);
  }

  @Override
  public void close() throws JMSException {
    if (!closed) {
      session.sender().refuseInCompletion(this);
      closed = true;
      try {
        session.sender().awaitSends(this);
      } finally {
        if (target != null) {
          session.sender().close(target);
        }
      }
    }
  }

  // ---- to the producer's own destination ----

  @Override
  public void send(Message message) throws JMSException {
    send(message, deliveryMode, priority, timeToLiveMillis);
  }

  @Override
  public void send(Message message, int mode, int newPriority, long liveMillis)
      throws JMSException {
    sendFixed(message, mode, newPriority, liveMillis, null);
  }

  @Override
  public void send(Message message, CompletionListener listener) throws JMSException {
    send(message, deliveryMode, priority, timeToLiveMillis, listener);
  }

  @Override
  public void send(
      Message message, int mode, int newPriority, long liveMillis, CompletionListener listener)
      throws JMSException {
    sendFixed(message, mode, newPriority, liveMillis, required(listener));
  }

  private void sendFixed(
      Message message,
      int mode,
      int newPriority,
      long liveMillis,
      @Nullable CompletionListener listener)
      throws JMSException {
    requireOpen();
    if (destination == null) {
      throw new UnsupportedOperationException(
          "the producer has no destination; name one in send(destination, message)");
    }
    session
        .sender()
        .send(this, target, destination, message, options(mode, newPriority, liveMillis), listener);
  }

  // ---- to any destination ----

  @Override
  public void send(Destination to, Message message) throws JMSException {
    send(to, message, deliveryMode, priority, timeToLiveMillis);
  }

  @Override
  public void send(Destination to, Message message, int mode, int newPriority, long liveMillis)
      throws JMSException {
    sendTo(to, message, mode, newPriority, liveMillis, null);
  }

  @Override
  public void send(Destination to, Message message, CompletionListener listener)
      throws JMSException {
    send(to, message, deliveryMode, priority, timeToLiveMillis, listener);
  }

  @Override
  public void send(
      Destination to,
      Message message,
      int mode,
      int newPriority,
      long liveMillis,
      CompletionListener listener)
      throws JMSException {
    sendTo(to, message, mode, newPriority, liveMillis, required(listener));
  }

  private void sendTo(
      @Nullable Destination to,
      Message message,
      int mode,
      int newPriority,
      long liveMillis,
      @Nullable CompletionListener listener)
      throws JMSException {
    requireOpen();
    if (destination != null) {
      throw new UnsupportedOperationException(
          "the producer has the destination " + destination + "; use send(message)");
    }
    if (to == null) {
      throw JmsFaults.invalidDestination("the destination is null");
    }
    session
        .sender()
        .send(this, null, to, message, options(mode, newPriority, liveMillis), listener);
  }

  private static CompletionListener required(@Nullable CompletionListener listener) {
    if (listener == null) {
      throw new IllegalArgumentException("the completion listener is null");
    }
    return listener;
  }

  private SessionSender.Options options(int mode, int newPriority, long liveMillis) {
    return new SessionSender.Options(
        mode, newPriority, liveMillis, deliveryDelayMillis, !disableMessageId, !disableTimestamp);
  }

  // ---- the older names ----

  @Override
  public void send(Queue queue, Message message) throws JMSException {
    send((Destination) queue, message);
  }

  @Override
  public void send(Queue queue, Message message, int mode, int newPriority, long liveMillis)
      throws JMSException {
    send((Destination) queue, message, mode, newPriority, liveMillis);
  }

  @Override
  public void publish(Message message) throws JMSException {
    send(message);
  }

  @Override
  public void publish(Message message, int mode, int newPriority, long liveMillis)
      throws JMSException {
    send(message, mode, newPriority, liveMillis);
  }

  @Override
  public void publish(Topic topic, Message message) throws JMSException {
    send((Destination) topic, message);
  }

  @Override
  public void publish(Topic topic, Message message, int mode, int newPriority, long liveMillis)
      throws JMSException {
    send((Destination) topic, message, mode, newPriority, liveMillis);
  }
}
