package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.message.LightmqMessage;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.ServerSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the messages of one consumer to sessions of an application server's pool (section 9 of the
 * specification, "JMS application server facilities"). One thread waits for a message, then for a
 * server session, loads at most the maximum number of messages into its session and starts it. From
 * then on they belong to that session and are settled in its mode.
 *
 * <p>While the pool blocks or fails, messages wait here, uncounted, unless nothing is prefetched; a
 * pool that fails is asked again after a pause of up to a second, and the connection's exception
 * listener is told.
 */
final class LightmqConnectionConsumer implements ConnectionConsumer {
  private static final Logger LOG = LoggerFactory.getLogger(LightmqConnectionConsumer.class);
  private static final AtomicInteger STARTED = new AtomicInteger();

  private final LightmqConnection connection;
  private final BrokerLink link;
  private final ServerSessionPool pool;
  private final int maxMessages;
  private final int sessionId;
  private final Inbox inbox;
  private final SessionConsumers consumers;
  private final ConsumerQueue queue;
  private final ListenerPause pause = new ListenerPause();
  private final Closing closing = new Closing();

  private LightmqConnectionConsumer(
      LightmqConnection connection,
      ServerSessionPool pool,
      int maxMessages,
      int sessionId,
      Opening opening)
      throws JMSException {
    this.connection = connection;
    this.link = connection.link();
    this.pool = pool;
    this.maxMessages = maxMessages;
    this.sessionId = sessionId;
    this.inbox =
        new Inbox(
            AckMode.CLIENT,
            link,
            sessionId,
            new Messages(
                connection.settings().trust(),
                connection.destinations(),
                connection.settings().jmsx()),
            connection.settings(),
            new Feeder(connection),
            new Refusals(connection.limit()));
    this.consumers =
        new SessionConsumers(connection, inbox, AckMode.CLIENT, sessionId, this::closeInBroker);
    this.queue = opening.open(consumers);
  }

  /** Opens the consumer, one way or another. */
  interface Opening {
    ConsumerQueue open(SessionConsumers consumers) throws JMSException;
  }

  /**
   * Opens one and begins to feed the pool's sessions.
   *
   * @throws JMSException if the pool is null, the maximum is below 1, or the consumer cannot be
   *     opened
   */
  static LightmqConnectionConsumer open(
      LightmqConnection connection,
      @Nullable ServerSessionPool pool,
      int maxMessages,
      Opening opening)
      throws JMSException {
    if (pool == null) {
      throw JmsFaults.invalidArgument("the server session pool is null");
    }
    if (maxMessages < 1) {
      throw JmsFaults.invalidArgument(
          "a server session gets at least 1 message at a time, not " + maxMessages);
    }
    int session = Awaiting.answer(connection.link().openSession(), "opening a connection consumer");
    LightmqConnectionConsumer opened;
    try {
      opened = new LightmqConnectionConsumer(connection, pool, maxMessages, session, opening);
    } catch (JMSException | RuntimeException | Error e) {
      var unused = connection.link().closeSession(session);
      throw e;
    }
    Thread feeder = new Thread(opened::feed, "connection-consumer-" + STARTED.incrementAndGet());
    feeder.setDaemon(true); // it may hang in the pool for ever
    feeder.start();
    return opened;
  }

  Inbox inbox() {
    return inbox;
  }

  // ---- feeding ----

  /** Goes on until the end, whatever pool and sessions throw, errors too, and tells of it. */
  private void feed() {
    boolean more = true;
    while (more) {
      try {
        more = inbox.feeding().awaitMessage(queue, pause);
        if (more) {
          feedOnce();
          pause.succeeded();
        }
      } catch (Throwable e) {
        pause.failed();
        tell(e);
      }
      inbox.feeding().holdNothing(queue);
      Thread.interrupted(); // what the pool has left set is no reason to end
    }
  }

  private void tell(Throwable failure) {
    if (!closing.hasBegun()) {
      LOG.warn("{}: feeding a session failed; it goes on", Thread.currentThread().getName());
      connection.tell(
          failure instanceof JMSException jms
              ? jms
              : JmsFaults.poolFailed("the server session pool failed: " + failure, failure));
    }
  }

  /** A session that the pool has given is started in any case: that gives it back to the pool. */
  private void feedOnce() throws JMSException {
    ServerSession server = fromPool();
    if (server == null) {
      throw JmsFaults.illegalState("the server session pool gave null instead of a session");
    }
    Loaded loaded;
    try {
      loaded = load(server);
    } catch (Throwable e) {
      startIdle(server, e);
      throw e;
    }
    try {
      server.start();
    } catch (Throwable e) {
      List<Arrived> left = loaded.session().unload(loaded.batch().messages());
      inbox.feeding().putBack(queue, loaded.batch(), left);
      throw e;
    }
  }

  private @Nullable ServerSession fromPool() throws JMSException {
    AtomicBoolean asked = inbox.feeding().asking(queue);
    try {
      return pool.getServerSession();
    } finally {
      asked.set(false);
    }
  }

  private record Loaded(LightmqSession session, Batch batch) {}

  /** Loads what there is, which may be nothing. */
  private Loaded load(ServerSession server) throws JMSException {
    LightmqSession session = sessionOf(server);
    Thread.interrupted(); // what the pool has left set would end the wait for the broker
    Batch batch = inbox.feeding().take(queue, maxMessages);
    if (batch.messages().isEmpty() && queue.isOnDemand()) {
      batch = inbox.feeding().fetch(queue);
    }
    if (!batch.messages().isEmpty() && !load(session, batch)) {
      inbox.feeding().putBack(queue, batch, batch.messages());
    }
    return new Loaded(session, batch);
  }

  private static void startIdle(ServerSession server, Throwable failure) {
    try {
      server.start();
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
  }

  private LightmqSession sessionOf(ServerSession server) throws JMSException {
    Session given = server.getSession();
    if (!(given instanceof LightmqSession session) || !session.belongsTo(connection)) {
      throw JmsFaults.illegalState(
          "the server session pool gave "
              + (given == null ? "no session" : "a session of another connection")
              + "; it has to give sessions that the connection consumer's own connection has made");
    }
    session.requireOpen();
    session.inbox().listening().requireSessionListener();
    return session;
  }

  private boolean load(LightmqSession session, Batch batch) throws JMSException {
    try {
      return session.load(batch.messages(), () -> inbox.unsettled().isStale(batch));
    } catch (Throwable e) {
      // Where they could not be acknowledged beforehand, they wait in the broker again.
      inbox.unsettled().goesBack(batch, batch.messages());
      throw e;
    }
  }

  // ---- life ----

  void start() {
    inbox.start();
  }

  @Override
  public ServerSessionPool getServerSessionPool() throws JMSException {
    if (closing.hasBegun()) {
      throw JmsFaults.closed("connection consumer");
    }
    connection.requireOpen();
    return pool;
  }

  /**
   * Closes it. What waits goes back uncounted; what sessions have got they go on with, and the
   * broker keeps it for them until it is settled.
   */
  @Override
  public void close() throws JMSException {
    if (!closing.begin()) {
      closing.awaitDone();
      return;
    }
    try {
      connection.closing(this);
      inbox.end();
      inbox.close();
      consumers.close(queue, true);
    } finally {
      closing.done();
    }
  }

  private void closeInBroker() {
    connection.flushAcknowledgements();
    var unused = link.closeSession(sessionId);
  }

  /** What a connection consumer of a queue, or a plain one of a topic, consumes. */
  static Opening of(Destination destination, @Nullable String selector) {
    return consumers -> consumers.open(destination, selector, false);
  }

  /** What one of a queue, or of a plain subscription, consumes. */
  static Opening of(Destination destination, Frame.Subscribe kind, @Nullable String selector) {
    return consumers -> consumers.open(destination, kind, null, selector, false);
  }

  /** What its inbox asks of it: it acknowledges nothing, the sessions of the pool do. */
  private record Feeder(LightmqConnection connection) implements Inbox.Owner {
    @Override
    public String name() {
      return "connection-consumer";
    }

    @Override
    public LightmqMessage.Acknowledger acknowledger(Arrived message) {
      return () -> {};
    }

    @Override
    public String transaction() {
      return "";
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
}
