package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.Topic;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Opens and closes the consumers of a session, here and in the broker. */
final class SessionConsumers {
  private final LightmqSession session;
  private final LightmqConnection connection;
  private final BrokerLink link;
  private final Inbox inbox;
  private final int sessionId;
  private final Set<ConsumerQueue> open = ConcurrentHashMap.newKeySet();

  SessionConsumers(
      LightmqSession session, LightmqConnection connection, Inbox inbox, int sessionId) {
    this.session = session;
    this.connection = connection;
    this.link = connection.link();
    this.inbox = inbox;
    this.sessionId = sessionId;
  }

  /** Opens a consumer of a queue, or a plain one of a topic. */
  LightmqConsumer open(Destination destination, @Nullable String selector, boolean noLocal)
      throws JMSException {
    return connection.destinations().nameOf(destination).kind().isQueue()
        ? open(destination, Frame.Subscribe.QUEUE, null, selector, false)
        : open(destination, Frame.Subscribe.PLAIN, null, selector, noLocal);
  }

  /** Opens a consumer of a named subscription. */
  LightmqConsumer subscribe(
      @Nullable Topic topic,
      Frame.Subscribe kind,
      @Nullable String subscription,
      @Nullable String selector,
      boolean noLocal)
      throws JMSException {
    return open(
        checkedTopic(connection, topic, kind, subscription), kind, subscription, selector, noLocal);
  }

  /** The topic; refuses what no subscription with a name can have, before the broker is asked. */
  static Topic checkedTopic(
      LightmqConnection connection,
      @Nullable Topic topic,
      Frame.Subscribe kind,
      @Nullable String subscription)
      throws JMSException {
    if (topic == null) {
      throw JmsFaults.invalidDestination("the topic is null");
    }
    if (subscription == null || subscription.isEmpty()) {
      throw JmsFaults.invalidArgument("a subscription's name has at least one character");
    }
    boolean durable = kind == Frame.Subscribe.DURABLE || kind == Frame.Subscribe.SHARED_DURABLE;
    if (durable && topic instanceof TemporaryTopic) {
      throw JmsFaults.invalidDestination(
          "a durable subscription cannot be on a temporary topic: " + topic);
    }
    if (kind == Frame.Subscribe.DURABLE && connection.clientIdOrNull() == null) {
      throw JmsFaults.illegalState(
          "a durable subscription needs a client id: the option clientId, or setClientID");
    }
    return topic;
  }

  /** Opens a consumer. */
  LightmqConsumer open(
      Destination destination,
      Frame.Subscribe kind,
      @Nullable String subscription,
      @Nullable String selector,
      boolean noLocal)
      throws JMSException {
    DestinationName name = connection.destinations().nameOf(destination);
    if (name.kind().isQueue() != (kind == Frame.Subscribe.QUEUE)) {
      throw JmsFaults.invalidDestination(
          name.name() + " is a " + name.kind() + ", which this call is not for");
    }
    if (selector != null && !selector.isBlank()) {
      throw JmsFaults.unavailable("a message selector is");
    }
    connection.requireOwner(destination);
    ConsumerQueue queue = new ConsumerQueue(link.nextConsumerId(), link, connection.settings());
    connection.register(queue, inbox);
    open.add(queue);
    inbox.add(queue);
    try {
      Awaiting.answer(
          link.openConsumer(
              new BrokerLink.ConsumerSpec(queue.id(), sessionId, name, kind, subscription, null, noLocal, false)),
          "opening a consumer of " + name.name());
    } catch (JMSException e) {
      inbox.close(queue);
      open.remove(queue);
      connection.unregister(queue);
      throw e;
    }
    return new LightmqConsumer(session, queue, destination, noLocal);
  }

  /** Closes a consumer; in the broker once its messages are settled. */
  void close(ConsumerQueue queue) throws JMSException {
    if (inbox.close(queue)) {
      open.remove(queue);
      connection.unregister(queue);
      Awaiting.answer(link.closeConsumer(queue.id()), "closing a consumer");
    }
  }

  /** A closed consumer's last message is settled: closes it in the broker, without waiting. */
  void detach(ConsumerQueue queue) {
    open.remove(queue);
    connection.unregister(queue);
    var unused = link.closeConsumer(queue.id());
  }

  /** The session is closed, which closes them in the broker. */
  void forget() {
    open.forEach(connection::unregister);
    open.clear();
  }
}
