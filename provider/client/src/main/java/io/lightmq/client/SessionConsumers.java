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

/** Opens and closes the consumers of a session of the broker, here and there. */
final class SessionConsumers {
  private final LightmqConnection connection;
  private final BrokerLink link;
  private final Inbox inbox;
  private final AckMode mode;
  private final int sessionId;
  private final Runnable whenOver;
  private final Set<ConsumerQueue> open = ConcurrentHashMap.newKeySet();

  /**
   * Consumers of one session.
   *
   * @param mode how their messages are acknowledged
   * @param whenOver told of each consumer that was closed in the broker
   */
  SessionConsumers(
      LightmqConnection connection, Inbox inbox, AckMode mode, int sessionId, Runnable whenOver) {
    this.connection = connection;
    this.link = connection.link();
    this.inbox = inbox;
    this.mode = mode;
    this.sessionId = sessionId;
    this.whenOver = whenOver;
  }

  /** Whether there is none. */
  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Opens a consumer of a queue, or a plain one of a topic. */
  ConsumerQueue open(Destination destination, @Nullable String selector, boolean noLocal)
      throws JMSException {
    return connection.destinations().nameOf(destination).kind().isQueue()
        ? open(destination, Frame.Subscribe.QUEUE, null, selector, false)
        : open(destination, Frame.Subscribe.PLAIN, null, selector, noLocal);
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

  /** A selector as it counts: a blank one is none. */
  static @Nullable String normalised(@Nullable String selector) {
    return selector == null || selector.isBlank() ? null : selector;
  }

  /** Opens a consumer. */
  ConsumerQueue open(
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
    connection.requireOwner(destination);
    ConsumerQueue queue =
        new ConsumerQueue(
            link.nextConsumerId(), inbox, mode, link, connection.settings(), this::detach);
    connection.register(queue, inbox);
    open.add(queue);
    inbox.add(queue);
    try {
      Awaiting.answer(
          link.openConsumer(
              new BrokerLink.ConsumerSpec(
                  queue.id(),
                  sessionId,
                  name,
                  kind,
                  subscription,
                  normalised(selector),
                  noLocal,
                  mode == AckMode.NONE)),
          "opening a consumer of " + name.name());
    } catch (JMSException | RuntimeException | Error e) {
      inbox.close(queue, true);
      open.remove(queue);
      connection.unregister(queue);
      throw e;
    }
    return queue;
  }

  /** Closes a consumer; in the broker once its messages are settled. */
  void close(ConsumerQueue queue, boolean awaitListener) throws JMSException {
    if (inbox.close(queue, awaitListener)) {
      open.remove(queue);
      connection.unregister(queue);
      try {
        Awaiting.answerWhenClosing(link.closeConsumer(queue.id()), "closing a consumer");
      } finally {
        whenOver.run();
      }
    }
  }

  /** A closed consumer's last message is settled: closes it in the broker, without waiting. */
  private void detach(ConsumerQueue queue) {
    open.remove(queue);
    connection.unregister(queue);
    var unused = link.closeConsumer(queue.id());
    whenOver.run();
  }

  /** The session is closed, which closes them in the broker. */
  void forget() {
    open.forEach(connection::unregister);
    open.clear();
  }
}
