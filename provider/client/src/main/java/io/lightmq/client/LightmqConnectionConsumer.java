package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.ServerSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
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
 * <p>While the pool blocks or fails, messages wait here, uncounted; a pool that fails is asked
 * again after a pause of up to a second, and the connection's exception listener is told.
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
  private volatile boolean closed;

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
            "connection-consumer",
            message -> () -> {},
            () -> "",
            connection::tell);
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
    } catch (JMSException | RuntimeException e) {
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

  private void feed() {
    try {
      while (inbox.awaitMessage(queue, pause)) {
        try {
          feedOnce();
          pause.succeeded();
        } catch (JMSException | RuntimeException e) {
          pause.failed();
          tell(e);
        }
      }
    } catch (JMSException e) {
      LOG.warn("{}: interrupted; it feeds no sessions any more", Thread.currentThread().getName());
    }
  }

  private void tell(Exception failure) {
    if (!closed) {
      connection.tell(
          failure instanceof JMSException jms
              ? jms
              : JmsFaults.poolFailed("the server session pool failed: " + failure, failure));
    }
  }

  private void feedOnce() throws JMSException {
    ServerSession server = pool.getServerSession();
    if (server == null) {
      throw JmsFaults.illegalState("the server session pool gave null instead of a session");
    }
    LightmqSession session = sessionOf(server);
    Inbox.Batch batch = inbox.take(queue, maxMessages);
    if (!batch.messages().isEmpty() && !load(session, batch)) {
      inbox.putBack(queue, batch, batch.messages());
    }
    try {
      server.start(); // also with nothing to run: it gives the pool its session back
    } catch (JMSException | RuntimeException e) {
      inbox.putBack(queue, batch, session.unload());
      throw e;
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
    return session;
  }

  private boolean load(LightmqSession session, Inbox.Batch batch) throws JMSException {
    try {
      return session.load(batch.messages(), () -> inbox.isStale(batch));
    } catch (JMSException | RuntimeException e) {
      inbox.settled(batch.messages());
      throw e;
    }
  }

  // ---- life ----

  void start() {
    inbox.start();
  }

  void stop() throws JMSException {
    inbox.stop();
  }

  @Override
  public ServerSessionPool getServerSessionPool() throws JMSException {
    if (closed) {
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
    if (closed) {
      return;
    }
    closed = true;
    connection.closing(this);
    inbox.close();
    consumers.close(queue);
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
}
