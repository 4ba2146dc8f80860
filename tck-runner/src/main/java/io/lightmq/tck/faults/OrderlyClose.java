package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Connections that are closed in order while their listeners work: no listener is refused anything,
 * nothing is worked on twice, and a close takes as long as one listener. The closes are the faults.
 */
final class OrderlyClose {
  private static final int SESSIONS = 8;
  private static final int MESSAGES = 400;
  private static final int CLOSES = 5;
  private static final long BETWEEN_MILLIS = 300;
  private static final long WORK_MILLIS = 40;
  private static final long WAIT_MILLIS = 30_000;

  private static final int SLOW_SESSIONS = 20;
  private static final long SLOW_MILLIS = 300;
  private static final long MOST_MILLIS = 600;

  private final BrokerSetup setup;
  private final Findings findings = new Findings();
  private long closes;
  private long confirmed;

  OrderlyClose(BrokerSetup setup) {
    this.setup = setup;
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    try (BrokerProcess broker = BrokerProcess.start(setup)) {
      workedOnOnce(Session.SESSION_TRANSACTED, "transacted");
      workedOnOnce(Session.CLIENT_ACKNOWLEDGE, "CLIENT_ACKNOWLEDGE");
      workedOnOnce(Session.AUTO_ACKNOWLEDGE, "AUTO_ACKNOWLEDGE");
      slowListeners();
    }
    return new Verdict(1, closes, confirmed, findings.broken());
  }

  // ---- nothing twice ----

  private void workedOnOnce(int mode, String name) throws JMSException, InterruptedException {
    LightmqConnectionFactory factory = new LightmqConnectionFactory(setup.uri());
    String work = "close." + name;
    String replies = work + ".replies";
    fill(factory, work, MESSAGES);
    Map<Integer, Integer> worked = new ConcurrentHashMap<>();
    ConcurrentLinkedQueue<Exception> failures = new ConcurrentLinkedQueue<>();
    for (int close = 0; close < CLOSES; close++) {
      try (Connection connection = factory.createConnection()) {
        listen(connection, mode, work, replies, worked, failures);
        Thread.sleep(BETWEEN_MILLIS);
      }
      closes++;
    }
    try (Connection connection = factory.createConnection()) {
      listen(connection, mode, work, replies, worked, failures);
      long untilNanos = System.nanoTime() + WAIT_MILLIS * 1_000_000;
      while (worked.size() < MESSAGES && System.nanoTime() - untilNanos < 0) {
        Thread.sleep(WORK_MILLIS);
      }
    }
    long twice = worked.values().stream().filter(times -> times > 1).count();
    findings.require(
        worked.size() == MESSAGES && twice == 0,
        "%s, %d closes: %d of %d messages worked on, %d of them twice",
        name,
        CLOSES,
        worked.size(),
        MESSAGES,
        twice);
    findings.require(
        failures.isEmpty(),
        "%s: %d calls of listeners failed%s",
        name,
        failures.size(),
        failures.isEmpty() ? "" : ", the first: " + failures.peek());
    int answered = drain(factory, replies);
    findings.require(answered == MESSAGES, "%s: %d of %d replies", name, answered, MESSAGES);
  }

  private void fill(LightmqConnectionFactory factory, String queue, int messages)
      throws JMSException {
    try (Connection connection = factory.createConnection()) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue(queue));
      for (int i = 0; i < messages; i++) {
        Message message = session.createMessage();
        message.setIntProperty("number", i);
        producer.send(message);
        confirmed++;
      }
    }
  }

  private static void listen(
      Connection connection,
      int mode,
      String work,
      String replies,
      Map<Integer, Integer> worked,
      ConcurrentLinkedQueue<Exception> failures)
      throws JMSException {
    for (int i = 0; i < SESSIONS; i++) {
      Session session = connection.createSession(mode);
      MessageProducer producer = session.createProducer(session.createQueue(replies));
      MessageConsumer consumer = session.createConsumer(session.createQueue(work));
      consumer.setMessageListener(
          message -> {
            try {
              worked.merge(message.getIntProperty("number"), 1, Integer::sum);
              Thread.sleep(WORK_MILLIS);
              producer.send(session.createTextMessage("reply"));
              if (mode == Session.SESSION_TRANSACTED) {
                session.commit();
              } else if (mode == Session.CLIENT_ACKNOWLEDGE) {
                message.acknowledge();
              }
            } catch (JMSException e) {
              failures.add(e);
            } catch (InterruptedException e) {
              failures.add(e);
              Thread.currentThread().interrupt();
            }
          });
    }
    connection.start();
  }

  private static int drain(LightmqConnectionFactory factory, String queue) throws JMSException {
    int count = 0;
    try (Connection connection = factory.createConnection()) {
      connection.start();
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue(queue));
      while (consumer.receive(1_000) != null) {
        count++;
      }
    }
    return count;
  }

  // ---- as long as one listener ----

  private void slowListeners() throws JMSException, InterruptedException {
    LightmqConnectionFactory factory = new LightmqConnectionFactory(setup.uri());
    factory.setOption("prefetchMessages", "1"); // so that each session gets some
    long[] millis = new long[CLOSES];
    AtomicInteger late = new AtomicInteger();
    for (int close = 0; close < CLOSES; close++) {
      fill(factory, "close.slow", SLOW_SESSIONS * 4);
      millis[close] = closeWithSlowListeners(factory, late);
      closes++;
    }
    Arrays.sort(millis);
    long median = millis[CLOSES / 2];
    findings.require(
        median < MOST_MILLIS,
        "%d sessions with listeners of %d ms close in %d ms (median of %s)",
        SLOW_SESSIONS,
        SLOW_MILLIS,
        median,
        Arrays.toString(millis));
    findings.require(late.get() == 0, "%d messages were begun after the close", late.get());
  }

  private static long closeWithSlowListeners(LightmqConnectionFactory factory, AtomicInteger late)
      throws JMSException, InterruptedException {
    AtomicBoolean closing = new AtomicBoolean();
    AtomicInteger begun = new AtomicInteger();
    long beganNanos;
    try (Connection connection = factory.createConnection()) {
      for (int i = 0; i < SLOW_SESSIONS; i++) {
        Session session = connection.createSession();
        session
            .createConsumer(session.createQueue("close.slow"))
            .setMessageListener(message -> slowly(closing, begun, late));
      }
      connection.start();
      long untilNanos = System.nanoTime() + WAIT_MILLIS * 1_000_000;
      while (begun.get() < SLOW_SESSIONS && System.nanoTime() - untilNanos < 0) {
        Thread.sleep(5);
      }
      Thread.sleep(SLOW_MILLIS / 3); // in the midst of their work, so that none begins just now
      beganNanos = System.nanoTime();
      closing.set(true);
    }
    return (System.nanoTime() - beganNanos) / 1_000_000;
  }

  private static void slowly(AtomicBoolean closing, AtomicInteger begun, AtomicInteger late) {
    if (closing.get()) {
      late.incrementAndGet();
    }
    begun.incrementAndGet();
    try {
      Thread.sleep(SLOW_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
