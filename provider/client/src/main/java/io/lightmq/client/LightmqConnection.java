package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.link.LinkListener;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.ConnectionMetaData;
import jakarta.jms.Destination;
import jakarta.jms.ExceptionListener;
import jakarta.jms.JMSException;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicSession;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A connection: sessions over one link. What a factory makes can be cast to it for {@link #state}.
 */
public sealed class LightmqConnection implements QueueConnection, TopicConnection
    permits LightmqXaConnection {
  private record Route(ConsumerQueue queue, Inbox inbox) {}

  private final ClientSettings settings;
  private final Domain domain;
  private final BrokerLink link;
  private final JmsDestinations destinations = new JmsDestinations();
  private final PassingLimit limit = new PassingLimit();
  private final AtomicLong messageNumbers = new AtomicLong();
  private final Map<Integer, Route> routes = new ConcurrentHashMap<>();
  private final Map<Integer, Browse> browses = new ConcurrentHashMap<>();
  private final List<LightmqSession> sessions = new CopyOnWriteArrayList<>();
  private final List<LightmqConnectionConsumer> connectionConsumers = new CopyOnWriteArrayList<>();
  private final Events events = new Events();
  private @Nullable String clientId;
  private boolean used;
  private boolean settingClientId;
  private boolean started;
  private final Closing closing = new Closing();
  private volatile boolean linkLost;
  private volatile @Nullable LinkException failure;
  private final ExceptionTeller exceptions = new ExceptionTeller();

  LightmqConnection(ClientSettings settings, Domain domain) throws JMSException {
    this.settings = settings;
    this.domain = domain;
    this.clientId = settings.link().clientId();
    try {
      this.link = BrokerLink.open(settings.link(), events);
    } catch (LinkException e) {
      throw JmsFaults.of(e.code(), String.valueOf(e.getMessage()), e);
    }
  }

  static LightmqConnection open(ClientSettings settings, Domain domain) throws JMSException {
    return new LightmqConnection(settings, domain);
  }

  /** How it is now: whether the broker can be reached, and the story of the newest loss. */
  public ConnectionState state() {
    return ConnectionState.of(link.status(), closing.isClosed());
  }

  // ---- for sessions ----

  ClientSettings settings() {
    return settings;
  }

  Domain domain() {
    return domain;
  }

  BrokerLink link() {
    return link;
  }

  JmsDestinations destinations() {
    return destinations;
  }

  /** How long its sessions are excused for a limit that is reached. */
  PassingLimit limit() {
    return limit;
  }

  AtomicLong messageNumbers() {
    return messageNumbers;
  }

  void register(ConsumerQueue queue, Inbox inbox) {
    routes.put(queue.id(), new Route(queue, inbox));
  }

  void unregister(ConsumerQueue queue) {
    routes.remove(queue.id());
  }

  void register(Browse browse) {
    browses.put(browse.id(), browse);
  }

  void unregister(Browse browse) {
    browses.remove(browse.id());
  }

  /** Open it is until the listeners have returned that run when it is closed. */
  void requireOpen() throws JMSException {
    if (closing.isClosed()) {
      throw JmsFaults.closed("connection");
    }
    LinkException cause = failure;
    if (cause != null) {
      throw JmsFaults.of(cause.code(), "the connection has failed: " + cause.getMessage(), cause);
    }
  }

  synchronized @Nullable String clientIdOrNull() {
    return clientId;
  }

  void requireOwner(Destination destination) throws JMSException {
    if (destination instanceof TemporaryDestination temporary
        && temporary.owner() != null
        && temporary.owner() != this) {
      throw JmsFaults.invalidDestination(
          "the temporary destination " + temporary + " belongs to another connection");
    }
  }

  Destination createTemporary(DestinationKind kind) throws JMSException {
    requireOpen();
    return TemporaryDestination.created(
        this, Awaiting.answer(link.createTemporary(kind), "creating a temporary destination"));
  }

  void deleteTemporary(TemporaryDestination destination) throws JMSException {
    requireOpen();
    BrokerLink.Temporary temporary = destination.temporary;
    if (temporary != null) {
      Awaiting.answer(link.deleteTemporary(temporary), "deleting " + destination);
    }
  }

  void closed(LightmqSession session) {
    sessions.remove(session);
  }

  void closing(LightmqConnectionConsumer consumer) {
    connectionConsumers.remove(consumer);
  }

  /** Sends acknowledgements of all sessions that wait for others. */
  void flushAcknowledgements() {
    sessions.forEach(session -> session.inbox().unsettled().flushNow());
  }

  /** Tells the exception listener, or the log if there is none. */
  void tell(JMSException exception) {
    exceptions.tell(exception);
  }

  // ---- client id ----

  @Override
  public @Nullable String getClientID() throws JMSException {
    requireOpen();
    return clientIdOrNull();
  }

  @Override
  public void setClientID(@Nullable String newId) throws JMSException {
    beginSettingClientId(newId);
    boolean set = false;
    try {
      Awaiting.answer(link.setClientId(String.valueOf(newId)), "setting the client id " + newId);
      set = true;
    } finally {
      setClientId(set ? newId : null);
    }
  }

  private synchronized void beginSettingClientId(@Nullable String newId) throws JMSException {
    requireOpen();
    if (settings.link().clientId() != null) {
      throw JmsFaults.illegalState(
          "the client id " + clientId + " was set by the connection factory and stays");
    }
    if (clientId != null) {
      throw JmsFaults.illegalState("the client id is already " + clientId);
    }
    if (used) {
      throw JmsFaults.illegalState(
          "the client id must be set before the connection is used in any other way");
    }
    if (newId == null || newId.isEmpty()) {
      throw JmsFaults.invalidClientId("a client id has at least one character");
    }
    if (settingClientId) {
      throw JmsFaults.illegalState("another thread is setting the client id");
    }
    settingClientId = true;
  }

  private synchronized void setClientId(@Nullable String newId) {
    settingClientId = false;
    clientId = newId;
  }

  /** From now on the client id stays as it is. */
  synchronized void use() throws JMSException {
    requireOpen();
    used = true;
  }

  // ---- sessions ----

  private LightmqSession session(boolean transacted, int acknowledgeMode, Domain kind)
      throws JMSException {
    use();
    if (!transacted && acknowledgeMode == Session.SESSION_TRANSACTED) {
      throw JmsFaults.invalidArgument(
          "a session that is not transacted has the mode 1, 2 or 3, not 0");
    }
    return openSession(transacted ? AckMode.TRANSACTED : AckMode.of(acknowledgeMode), kind);
  }

  LightmqSession openSession(AckMode mode, Domain kind) throws JMSException {
    requireOpen();
    return opened(new LightmqSession(this, kind, mode));
  }

  /** Takes in a session that was opened; closes it if the connection is closed meanwhile. */
  <S extends LightmqSession> S opened(S session) throws JMSException {
    synchronized (this) {
      if (!closing.isClosed()) {
        if (closing.hasBegun()) {
          session.ending().beginNothing(); // a listener that still runs has opened it
        }
        sessions.add(session);
        if (started) {
          session.inbox().start();
        }
        return session;
      }
    }
    session.close();
    throw JmsFaults.closed("connection");
  }

  @Override
  public Session createSession(boolean transacted, int acknowledgeMode) throws JMSException {
    return session(transacted, acknowledgeMode, domain);
  }

  @Override
  public Session createSession(int sessionMode) throws JMSException {
    use();
    return openSession(AckMode.of(sessionMode), domain);
  }

  @Override
  public Session createSession() throws JMSException {
    return createSession(Session.AUTO_ACKNOWLEDGE);
  }

  @Override
  public QueueSession createQueueSession(boolean transacted, int acknowledgeMode)
      throws JMSException {
    return session(transacted, acknowledgeMode, Domain.QUEUE);
  }

  @Override
  public TopicSession createTopicSession(boolean transacted, int acknowledgeMode)
      throws JMSException {
    return session(transacted, acknowledgeMode, Domain.TOPIC);
  }

  // ---- connection consumers ----

  private ConnectionConsumer consume(
      @Nullable ServerSessionPool pool, int count, LightmqConnectionConsumer.Opening opening)
      throws JMSException {
    LightmqConnectionConsumer consumer = LightmqConnectionConsumer.open(this, pool, count, opening);
    synchronized (this) {
      if (!closing.isClosed()) {
        if (closing.hasBegun()) {
          consumer.inbox().end();
        }
        connectionConsumers.add(consumer);
        if (started) {
          consumer.start();
        }
        return consumer;
      }
    }
    consumer.close();
    throw JmsFaults.closed("connection");
  }

  private ConnectionConsumer subscribe(
      String call,
      @Nullable Topic topic,
      Frame.Subscribe kind,
      @Nullable String name,
      @Nullable String selector,
      @Nullable ServerSessionPool pool,
      int count)
      throws JMSException {
    use();
    domain.requireTopics(call);
    Topic checked = SessionConsumers.checkedTopic(this, topic, kind, name);
    return consume(pool, count, consumers -> consumers.open(checked, kind, name, selector, false));
  }

  @Override
  public ConnectionConsumer createConnectionConsumer(
      Destination destination, @Nullable String selector, ServerSessionPool pool, int count)
      throws JMSException {
    use();
    destinations.nameOf(destination);
    return consume(pool, count, LightmqConnectionConsumer.of(destination, selector));
  }

  @Override
  public ConnectionConsumer createConnectionConsumer(
      Queue queue, @Nullable String selector, ServerSessionPool pool, int count)
      throws JMSException {
    use();
    destinations.nameOf(queue);
    return consume(
        pool, count, LightmqConnectionConsumer.of(queue, Frame.Subscribe.QUEUE, selector));
  }

  @Override
  public ConnectionConsumer createConnectionConsumer(
      Topic topic, @Nullable String selector, ServerSessionPool pool, int count)
      throws JMSException {
    use();
    destinations.nameOf(topic);
    return consume(
        pool, count, LightmqConnectionConsumer.of(topic, Frame.Subscribe.PLAIN, selector));
  }

  @Override
  public ConnectionConsumer createSharedConnectionConsumer(
      Topic topic, String name, @Nullable String selector, ServerSessionPool pool, int count)
      throws JMSException {
    return subscribe(
        "createSharedConnectionConsumer",
        topic,
        Frame.Subscribe.SHARED,
        name,
        selector,
        pool,
        count);
  }

  @Override
  public ConnectionConsumer createDurableConnectionConsumer(
      Topic topic, String name, @Nullable String selector, ServerSessionPool pool, int count)
      throws JMSException {
    return subscribe(
        "createDurableConnectionConsumer",
        topic,
        Frame.Subscribe.DURABLE,
        name,
        selector,
        pool,
        count);
  }

  @Override
  public ConnectionConsumer createSharedDurableConnectionConsumer(
      Topic topic, String name, @Nullable String selector, ServerSessionPool pool, int count)
      throws JMSException {
    return subscribe(
        "createSharedDurableConnectionConsumer",
        topic,
        Frame.Subscribe.SHARED_DURABLE,
        name,
        selector,
        pool,
        count);
  }

  // ---- life ----

  @Override
  public ConnectionMetaData getMetaData() throws JMSException {
    requireOpen();
    return new ProviderMetaData(settings.jmsx());
  }

  @Override
  public @Nullable ExceptionListener getExceptionListener() throws JMSException {
    requireOpen();
    return exceptions.listener();
  }

  @Override
  public void setExceptionListener(@Nullable ExceptionListener listener) throws JMSException {
    requireOpen();
    exceptions.listener(listener);
  }

  @Override
  public void start() throws JMSException {
    use();
    synchronized (this) {
      started = true;
      sessions.forEach(session -> session.inbox().start());
      connectionConsumers.forEach(LightmqConnectionConsumer::start);
    }
  }

  @Override
  public void stop() throws JMSException {
    refuseInListener();
    use();
    synchronized (this) {
      started = false;
      connectionConsumers.forEach(consumer -> consumer.inbox().pause());
      sessions.forEach(session -> session.inbox().pause());
    }
    // Not under the monitor: listeners may take their time, and ask the connection for something.
    sessions.forEach(session -> session.inbox().awaitListener());
  }

  /** A completion listener may stop its connection: stopping does not wait for it. */
  private void refuseInListener() throws JMSException {
    for (LightmqSession session : sessions) {
      if (session.inbox().isDispatcher()) {
        throw JmsFaults.illegalState(
            "a connection cannot be stopped by a message listener of one of its sessions");
      }
    }
  }

  void refuseInCallback(String what) throws JMSException {
    if (isInListener()) {
      throw JmsFaults.illegalState(
          "a connection cannot be " + what + " by a listener of one of its sessions");
    }
  }

  /** Whether the calling thread runs a message listener or a completion listener of it. */
  boolean isInListener() {
    for (LightmqSession session : sessions) {
      if (session.isInCallback()) {
        return true;
      }
    }
    return false;
  }

  /** Whether somebody closes it or has closed it. */
  boolean isClosing() {
    return closing.hasBegun();
  }

  /**
   * Closes it, once what runs in its sessions has returned; of several threads that do, all wait
   * until it is done, but for its own listeners. An interrupt does not end that. Holds no lock, for
   * it waits for listeners.
   */
  @Override
  public void close() throws JMSException {
    if (!closing.hasBegun()) {
      refuseInCallback("closed");
    }
    if (!closing.begin()) {
      if (!exceptions.isCurrent() && !isInListener()) {
        closing.awaitDone();
      }
      return;
    }
    try {
      if (linkLost) {
        link.close(); // else listeners that wait for the broker hold up the close
      }
      synchronized (this) { // what is added later is ended when it is
        connectionConsumers.forEach(consumer -> consumer.inbox().end());
        sessions.forEach(session -> session.ending().beginNothing());
      }
      Shutdown.awaitListeners(sessions, settings);
      synchronized (this) {
        closing.close(); // from here on nothing is added to what is closed below
      }
      connectionConsumers.forEach(consumer -> Shutdown.quietly(consumer::close));
      Shutdown.close(sessions);
      sessions.clear();
      routes.clear();
    } finally {
      closeLink();
    }
  }

  /** The last of its close. */
  void release() {
    link.close();
  }

  private void closeLink() {
    try {
      release();
    } finally {
      exceptions.close();
      closing.done();
    }
  }

  /** Takes what the link tells to where it belongs. */
  private final class Events implements LinkListener {
    @Override
    public void delivered(Frame.Deliver delivery) {
      Route route = routes.get(delivery.consumerId());
      if (route != null) {
        route.inbox().delivered(delivery, route.queue());
        return;
      }
      Browse browse = browses.get(delivery.consumerId());
      if (browse != null) {
        browse.delivered(delivery);
      }
    }

    @Override
    public void pullEnded(Frame.PullEnd end) {
      Browse browse = browses.get(end.consumerId());
      if (browse != null) {
        browse.pullEnded(end);
        return;
      }
      Route route = routes.get(end.consumerId());
      if (route != null) {
        route.inbox().pullEnded(end, route.queue());
        if (end.code() != FaultCode.OK && end.code() != FaultCode.RETRY_LATER) {
          exceptions.tell(
              JmsFaults.of(end.code(), "the broker has ended a consumer: " + end.code(), null));
        }
      }
    }

    @Override
    public void lost(LinkException cause) {
      linkLost = true;
      browses.values().forEach(Browse::lost);
      // Before the sessions: what is loaded into them after this is known to be stale.
      connectionConsumers.forEach(consumer -> consumer.inbox().lost());
      sessions.forEach(session -> session.inbox().lost());
    }

    @Override
    public void restored() {
      linkLost = false;
      browses.values().forEach(Browse::restored);
      connectionConsumers.forEach(consumer -> consumer.inbox().restored());
      sessions.forEach(session -> session.inbox().restored());
    }

    @Override
    public void failed(LinkException cause) {
      failure = cause;
      routes.values().forEach(route -> route.inbox().failed(route.queue(), cause));
      browses.values().forEach(browse -> browse.failed(cause));
      exceptions.tell(
          JmsFaults.of(cause.code(), "the connection has failed: " + cause.getMessage(), cause));
    }
  }
}
