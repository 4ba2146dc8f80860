package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.message.LightmqMessage;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.BytesMessage;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageListener;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.QueueReceiver;
import jakarta.jms.QueueSender;
import jakarta.jms.QueueSession;
import jakarta.jms.StreamMessage;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TopicPublisher;
import jakarta.jms.TopicSession;
import jakarta.jms.TopicSubscriber;
import java.io.Serializable;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A session: one thread's view of a connection; {@link Inbox} receives, {@link SessionSender}
 * sends.
 */
sealed class LightmqSession implements QueueSession, TopicSession permits LightmqXaSession {
  private static final AtomicInteger STARTED = new AtomicInteger();

  private final LightmqConnection connection;
  private final BrokerLink link;
  private final Domain domain;
  private final AckMode asked;
  private final AckMode mode;
  private final int id;
  private final Messages messages;
  private final Inbox inbox;
  private final CurrentUnit units;
  private final SessionSender sender;
  private final Completions completions;
  private final SessionConsumers consumers;
  private final SessionBrowsers browsers;
  private final Settling settling;
  private final SessionEnd ending;

  LightmqSession(LightmqConnection connection, Domain domain, AckMode asked) throws JMSException {
    this.connection = connection;
    this.link = connection.link();
    this.domain = domain;
    this.asked = asked;
    this.mode = asked.under(connection.settings().atMostOnce());
    this.id = Awaiting.answer(link.openSession(), "opening a session");
    ClientSettings settings = connection.settings();
    String name = "session-" + STARTED.incrementAndGet();
    this.messages = new Messages(settings.trust(), connection.destinations(), settings.jmsx());
    Refusals refusals = new Refusals(connection.limit());
    this.inbox = new Inbox(mode, link, id, messages, settings, new Receiver(name), refusals);
    this.consumers = new SessionConsumers(connection, inbox, mode, id, () -> {});
    this.browsers = new SessionBrowsers(connection, id, messages);
    this.completions =
        new Completions(name + "-sent", settings.link(), refusals, connection::isInListener);
    this.units =
        mode == AckMode.TRANSACTED ? CurrentUnit.local(link, id, inbox) : CurrentUnit.none();
    this.sender =
        new SessionSender(
            settings,
            link,
            id,
            units,
            messages,
            connection.destinations(),
            connection.messageNumbers(),
            completions,
            refusals,
            this::transaction);
    this.settling = new Settling(mode, link, id, inbox, units, refusals);
    this.ending =
        new SessionEnd(this, connection, inbox, completions, refusals, consumers, browsers);
  }

  /** The name of the current transaction, unique among all links. */
  private String transaction() {
    return link.id() + ":" + id + ":" + settling.transaction();
  }

  /** What its inbox asks of it. */
  private final class Receiver implements Inbox.Owner {
    private final String name;

    Receiver(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public LightmqMessage.Acknowledger acknowledger(Arrived message) {
      if (mode != AckMode.INDIVIDUAL) {
        return LightmqSession.this::acknowledge;
      }
      Arrived place = message.placeOnly();
      return () -> {
        requireOpen();
        settling.acknowledge(place);
      };
    }

    @Override
    public String transaction() {
      return LightmqSession.this.transaction();
    }

    @Override
    public void tell(JMSException failure) {
      connection.tell(failure);
    }

    @Override
    public boolean isInListener() {
      return connection.isInListener();
    }
  }

  static void checkMode(int mode) throws JMSException {
    AckMode.of(mode);
  }

  /** Its number in the broker. */
  int id() {
    return id;
  }

  BrokerLink link() {
    return link;
  }

  Inbox inbox() {
    return inbox;
  }

  CurrentUnit units() {
    return units;
  }

  Settling settling() {
    return settling;
  }

  /** It is closed: a transaction that is open is rolled back. */
  void endWork(boolean attempted) {
    units.endLast(attempted);
  }

  SessionSender sender() {
    return sender;
  }

  Messages messages() {
    return messages;
  }

  /**
   * Open it is until the listeners have returned that run when it, or its connection, is closed.
   */
  void requireOpen() throws JMSException {
    if (ending.isClosed()) {
      throw JmsFaults.closed("session");
    }
    connection.requireOpen();
  }

  /** Whether the calling thread runs one of this session's callbacks. */
  boolean isInCallback() {
    return inbox.isDispatcher() || completions.isCurrent();
  }

  void refuseInCompletion(String call) throws JMSException {
    if (completions.isCurrent()) {
      throw JmsFaults.illegalState(call + " must not be called from a completion listener");
    }
  }

  // ---- messages ----

  @Override
  public BytesMessage createBytesMessage() throws JMSException {
    requireOpen();
    return messages.bytes();
  }

  @Override
  public MapMessage createMapMessage() throws JMSException {
    requireOpen();
    return messages.map();
  }

  @Override
  public Message createMessage() throws JMSException {
    requireOpen();
    return messages.plain();
  }

  @Override
  public ObjectMessage createObjectMessage() throws JMSException {
    return createObjectMessage(null);
  }

  @Override
  public ObjectMessage createObjectMessage(@Nullable Serializable object) throws JMSException {
    requireOpen();
    return messages.object(object);
  }

  @Override
  public StreamMessage createStreamMessage() throws JMSException {
    requireOpen();
    return messages.stream();
  }

  @Override
  public TextMessage createTextMessage() throws JMSException {
    return createTextMessage(null);
  }

  @Override
  public TextMessage createTextMessage(@Nullable String text) throws JMSException {
    requireOpen();
    return messages.text(text);
  }

  // ---- destinations ----

  @Override
  public Queue createQueue(@Nullable String name) throws JMSException {
    requireOpen();
    domain.requireQueues("createQueue");
    return (Queue) connection.destinations().named(DestinationKind.QUEUE, name);
  }

  @Override
  public Topic createTopic(@Nullable String name) throws JMSException {
    requireOpen();
    domain.requireTopics("createTopic");
    return (Topic) connection.destinations().named(DestinationKind.TOPIC, name);
  }

  @Override
  public TemporaryQueue createTemporaryQueue() throws JMSException {
    requireOpen();
    domain.requireQueues("createTemporaryQueue");
    return (TemporaryQueue) connection.createTemporary(DestinationKind.TEMPORARY_QUEUE);
  }

  @Override
  public TemporaryTopic createTemporaryTopic() throws JMSException {
    requireOpen();
    domain.requireTopics("createTemporaryTopic");
    return (TemporaryTopic) connection.createTemporary(DestinationKind.TEMPORARY_TOPIC);
  }

  // ---- producers and consumers ----

  @Override
  public MessageProducer createProducer(@Nullable Destination destination) throws JMSException {
    return producer(destination);
  }

  private LightmqProducer producer(@Nullable Destination destination) throws JMSException {
    requireOpen();
    return new LightmqProducer(this, destination);
  }

  @Override
  public QueueSender createSender(@Nullable Queue queue) throws JMSException {
    return producer(queue);
  }

  @Override
  public TopicPublisher createPublisher(@Nullable Topic topic) throws JMSException {
    return producer(topic);
  }

  @Override
  public MessageConsumer createConsumer(Destination destination) throws JMSException {
    return createConsumer(destination, null, false);
  }

  @Override
  public MessageConsumer createConsumer(Destination destination, @Nullable String selector)
      throws JMSException {
    return createConsumer(destination, selector, false);
  }

  @Override
  public MessageConsumer createConsumer(
      Destination destination, @Nullable String selector, boolean noLocal) throws JMSException {
    requireConsuming();
    return consumer(consumers.open(destination, selector, noLocal), destination, selector, noLocal);
  }

  @Override
  public QueueReceiver createReceiver(Queue queue) throws JMSException {
    return createReceiver(queue, null);
  }

  @Override
  public QueueReceiver createReceiver(Queue queue, @Nullable String selector) throws JMSException {
    requireConsuming();
    return consumer(
        consumers.open(queue, Frame.Subscribe.QUEUE, null, selector, false),
        queue,
        selector,
        false);
  }

  @Override
  public TopicSubscriber createSubscriber(Topic topic) throws JMSException {
    return createSubscriber(topic, null, false);
  }

  @Override
  public TopicSubscriber createSubscriber(Topic topic, @Nullable String selector, boolean noLocal)
      throws JMSException {
    requireConsuming();
    return consumer(
        consumers.open(topic, Frame.Subscribe.PLAIN, null, selector, noLocal),
        topic,
        selector,
        noLocal);
  }

  @Override
  public MessageConsumer createSharedConsumer(Topic topic, String subscription)
      throws JMSException {
    return createSharedConsumer(topic, subscription, null);
  }

  @Override
  public MessageConsumer createSharedConsumer(
      Topic topic, String subscription, @Nullable String selector) throws JMSException {
    return subscribe(
        "createSharedConsumer", topic, Frame.Subscribe.SHARED, subscription, selector, false);
  }

  @Override
  public MessageConsumer createSharedDurableConsumer(Topic topic, String subscription)
      throws JMSException {
    return createSharedDurableConsumer(topic, subscription, null);
  }

  @Override
  public MessageConsumer createSharedDurableConsumer(
      Topic topic, String subscription, @Nullable String selector) throws JMSException {
    return subscribe(
        "createSharedDurableConsumer",
        topic,
        Frame.Subscribe.SHARED_DURABLE,
        subscription,
        selector,
        false);
  }

  @Override
  public MessageConsumer createDurableConsumer(Topic topic, String subscription)
      throws JMSException {
    return createDurableConsumer(topic, subscription, null, false);
  }

  @Override
  public MessageConsumer createDurableConsumer(
      Topic topic, String subscription, @Nullable String selector, boolean noLocal)
      throws JMSException {
    return subscribe(
        "createDurableConsumer", topic, Frame.Subscribe.DURABLE, subscription, selector, noLocal);
  }

  @Override
  public TopicSubscriber createDurableSubscriber(Topic topic, String subscription)
      throws JMSException {
    return createDurableSubscriber(topic, subscription, null, false);
  }

  @Override
  public TopicSubscriber createDurableSubscriber(
      Topic topic, String subscription, @Nullable String selector, boolean noLocal)
      throws JMSException {
    return subscribe(
        "createDurableSubscriber", topic, Frame.Subscribe.DURABLE, subscription, selector, noLocal);
  }

  private LightmqConsumer consumer(
      ConsumerQueue queue, Destination destination, @Nullable String selector, boolean noLocal) {
    return new LightmqConsumer(
        this, queue, destination, SessionConsumers.normalised(selector), noLocal);
  }

  /** Refuses other ways to receive while the session has a listener of its own. */
  private void requireConsuming() throws JMSException {
    requireOpen();
    if (inbox.listening().sessionListener() != null) {
      throw JmsFaults.illegalState(
          "the session has a message listener of its own, so it can have no consumers");
    }
  }

  private LightmqConsumer subscribe(
      String call,
      @Nullable Topic topic,
      Frame.Subscribe kind,
      @Nullable String subscription,
      @Nullable String selector,
      boolean noLocal)
      throws JMSException {
    requireConsuming();
    domain.requireTopics(call);
    Topic checked = SessionConsumers.checkedTopic(connection, topic, kind, subscription);
    return consumer(
        consumers.open(checked, kind, subscription, selector, noLocal), checked, selector, noLocal);
  }

  /**
   * Closes a consumer; in the broker once its messages are settled. A completion listener does not
   * wait for a message listener that runs, since that may wait for completions.
   */
  void closeConsumer(ConsumerQueue queue) throws JMSException {
    if (!ending.isClosed()) {
      consumers.close(queue, !completions.isCurrent());
    }
  }

  @Override
  public void unsubscribe(@Nullable String subscription) throws JMSException {
    requireOpen();
    domain.requireTopics("unsubscribe");
    if (subscription == null || subscription.isEmpty()) {
      throw JmsFaults.invalidDestination("a subscription's name has at least one character");
    }
    Awaiting.answer(link.unsubscribe(subscription), "unsubscribing " + subscription);
  }

  @Override
  public QueueBrowser createBrowser(Queue queue) throws JMSException {
    return createBrowser(queue, null);
  }

  @Override
  public QueueBrowser createBrowser(Queue queue, @Nullable String selector) throws JMSException {
    requireOpen();
    domain.requireQueues("createBrowser");
    DestinationName name = connection.destinations().nameOf(queue);
    if (!name.kind().isQueue()) {
      throw JmsFaults.invalidDestination(
          name.name() + " is a " + name.kind() + ", which cannot be browsed");
    }
    return browsers.open(this, queue, name, SessionConsumers.normalised(selector));
  }

  // ---- acknowledging ----

  @Override
  public boolean getTransacted() throws JMSException {
    requireOpen();
    return mode.isTransacted();
  }

  @Override
  public int getAcknowledgeMode() throws JMSException {
    requireOpen();
    return asked.code();
  }

  /** Acknowledges all that the session has handed over, in mode CLIENT_ACKNOWLEDGE. */
  void acknowledge() throws JMSException {
    requireOpen();
    settling.acknowledge();
  }

  @Override
  public void recover() throws JMSException {
    requireOpen();
    settling.recover();
  }

  private void requireTransacted(String call) throws JMSException {
    requireOpen();
    if (mode != AckMode.TRANSACTED) {
      throw JmsFaults.illegalState("the session is not transacted, so " + call + " is not allowed");
    }
    refuseInCompletion(call);
  }

  @Override
  public void commit() throws JMSException {
    requireTransacted("commit");
    completions.await();
    settling.commit();
  }

  @Override
  public void rollback() throws JMSException {
    requireTransacted("rollback");
    completions.await();
    settling.rollback();
  }

  // ---- life ----

  @Override
  public @Nullable MessageListener getMessageListener() throws JMSException {
    requireOpen();
    return inbox.listening().sessionListener();
  }

  /**
   * Sets the listener of the session itself, which gets what a connection consumer loads. A session
   * that has one cannot have consumers.
   */
  @Override
  public void setMessageListener(@Nullable MessageListener listener) throws JMSException {
    requireOpen();
    if (listener != null && !consumers.isEmpty()) {
      throw JmsFaults.illegalState(
          "the session has consumers, so it can have no message listener of its own");
    }
    inbox.listening().set(listener);
  }

  /** Gives what a connection consumer has loaded to the session's listener, on this thread. */
  @Override
  public void run() {
    inbox.listening().runLoaded();
  }

  /** Whether a connection has made it. */
  boolean belongsTo(LightmqConnection other) {
    return connection == other;
  }

  /**
   * Takes messages of a connection consumer for {@link #run}.
   *
   * @param stale whether they come again anyway, because their connection is lost
   * @return false if they are stale or the session is closed
   */
  boolean load(List<Arrived> messages, BooleanSupplier stale) throws JMSException {
    if (ending.hasBegun() || stale.getAsBoolean()) {
      return false;
    }
    if (mode == AckMode.NONE) {
      Awaiting.answer(link.acknowledgeSurely(Arrived.places(messages), stale), "taking messages");
    }
    return inbox.loaded().add(messages, stale);
  }

  /** Takes back what of these messages was loaded and has not been run. */
  List<Arrived> unload(List<Arrived> messages) {
    return inbox.loaded().take(messages);
  }

  /**
   * Closes it, once what runs in it has returned; of several threads that do, all wait until it is
   * done.
   */
  @Override
  public void close() throws JMSException {
    if (isInCallback()) {
      if (ending.hasBegun() || connection.isClosing()) {
        return; // by another thread, which waits for this listener
      }
      throw JmsFaults.illegalState("a session cannot be closed by its own listener");
    }
    ending.close();
  }

  /** Its parts, and how they are closed. */
  SessionEnd ending() {
    return ending;
  }
}
