package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An honest client beside an attack: it sends persistent messages one after the other to a queue of
 * its own and receives them. In the end each has come once, unchanged and in order.
 *
 * <p>What others send to its queue it passes over: anybody may, and no promise is broken by it.
 */
final class Canary implements AutoCloseable {

  private static final String QUEUE = "canary";
  private static final String TYPE = "canary";
  private static final int BYTES = 300;
  private static final long DRAIN_MILLIS = 30_000;
  private static final long LOOK_MILLIS = 20;

  private final SendLog sends = new SendLog(1, QUEUE, 1);
  private final DeliveryLog deliveries = DeliveryLog.single(QUEUE);
  private final ConcurrentMap<Stamp, Long> begunNanos = new ConcurrentHashMap<>();
  private final AtomicLong worstNanos = new AtomicLong();
  private final AtomicLong arrived = new AtomicLong();
  private final Connection sending;
  private final Connection receiving;
  private final Thread sender;
  private final long pauseMillis;
  private final EventLog events;
  private final long drainMillis;
  private volatile boolean over;
  private volatile int era;
  private volatile @Nullable Throwable death;

  /**
   * Begins at once.
   *
   * @param pauseMillis between two sends, 0 for as many as it can
   */
  Canary(String uri, long pauseMillis, EventLog events) throws JMSException {
    this(uri, pauseMillis, events, DRAIN_MILLIS);
  }

  /**
   * One with less patience, for tests.
   *
   * @param drainMillis for how long what was confirmed may be on its way after the last send
   */
  Canary(String uri, long pauseMillis, EventLog events, long drainMillis) throws JMSException {
    this.pauseMillis = pauseMillis;
    this.events = events;
    this.drainMillis = drainMillis;
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory(uri + "?initialReconnectAttempts=10");
    receiving = factory.createConnection();
    Session session = receiving.createSession(false, Session.AUTO_ACKNOWLEDGE);
    session.createConsumer(session.createQueue(QUEUE)).setMessageListener(this::received);
    receiving.start();
    sending = factory.createConnection();
    sender = new Thread(this::send, "canary");
    sender.setDaemon(true);
    sender.start();
  }

  /** The broker goes or has come: round trips that are under way do not count. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // only one thread changes brokers
  void brokerChanges() {
    era++;
    begunNanos.clear();
  }

  /** Messages that came. */
  long arrived() {
    return arrived.get();
  }

  long confirmed() {
    return sends.confirmedCount();
  }

  long worstMillis() {
    return worstNanos.get() / 1_000_000;
  }

  /** Ends the sends, waits for what is on its way, and compares. */
  Check finish() throws InterruptedException, HarnessException {
    over = true;
    sender.join(DRAIN_MILLIS);
    Throwable died = death;
    if (died != null) {
      throw new HarnessException("the canary died: " + died, died);
    }
    long latest = System.nanoTime() + drainMillis * 1_000_000;
    while (!Check.missing(sends, deliveries).isEmpty() && System.nanoTime() < latest) {
      Thread.sleep(LOOK_MILLIS);
    }
    return Check.of(java.util.List.of(sends), java.util.List.of(deliveries));
  }

  @Override
  public void close() throws JMSException {
    over = true;
    sending.close();
    receiving.close();
  }

  private void send() {
    try {
      Session session = sending.createSession(false, Session.AUTO_ACKNOWLEDGE);
      MessageProducer producer = session.createProducer(session.createQueue(QUEUE));
      while (!over) {
        sendOne(session, producer);
        if (pauseMillis > 0) {
          Thread.sleep(pauseMillis);
        }
      }
    } catch (JMSException | RuntimeException | Error e) {
      death = e;
      events.note("the canary died: %s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void sendOne(Session session, MessageProducer producer) throws JMSException {
    Stamp stamp = sends.next();
    BytesMessage message = session.createBytesMessage();
    message.setJMSType(TYPE);
    message.writeBytes(Payload.of(stamp, BYTES));
    begunNanos.put(stamp, System.nanoTime());
    try {
      producer.send(message);
      sends.confirmed(stamp);
    } catch (JMSException e) {
      sends.unknown(stamp);
      events.note("canary %s: %s (%s)", stamp, e, e.getErrorCode());
    }
  }

  private void received(Message message) {
    try {
      if (TYPE.equals(message.getJMSType())) {
        int before = era;
        Stamp stamp = Consumers.log("canary", message, deliveries);
        Long begun = stamp == null ? null : begunNanos.remove(stamp);
        if (begun != null && before == era) {
          worstNanos.accumulateAndGet(System.nanoTime() - begun, Math::max);
        }
        arrived.incrementAndGet();
      }
    } catch (JMSException | RuntimeException e) {
      death = e;
    }
  }
}
