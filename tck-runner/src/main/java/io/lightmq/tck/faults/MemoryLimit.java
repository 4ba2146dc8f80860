package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A backlog far larger than the broker's memory: one deep queue, then many shallow ones, then a
 * kill; what the broker occupies, how fast it is back, and that everything comes once.
 */
final class MemoryLimit {

  private static final int BYTES = 1_024;
  private static final int QUEUES = 1_000;
  private static final long GROWTH_LIMIT_BYTES = 112L << 20;
  private static final long RESIDENT_LIMIT_BYTES = 400L << 20;
  private static final long FIRST_LIMIT_MILLIS = 3_000;
  private static final long RECEIVE_MILLIS = 30_000;

  private final BrokerSetup setup;
  private final int deep;
  private final int shallow;
  private final List<SendLog> sends = new ArrayList<>();
  private final List<DeliveryLog> deliveries = new ArrayList<>();
  private final Findings findings = new Findings();
  private int kills;

  /**
   * @param messages in the deep queue; the shallow ones get half of that together
   */
  MemoryLimit(BrokerSetup setup, int messages) {
    this.setup = setup.withJavaOptions("-Xmx128m");
    this.deep = messages;
    this.shallow = (int) Math.max(1, messages * 524_288L / 1_000_000 / QUEUES);
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      ProcessFigures atStart = ProcessFigures.afterCollection(broker);
      findings.note("at start: %s", atStart);
      try (Connection connection = connect()) {
        sendTo(connection, "memory.deep", deep);
        occupies(broker, atStart, "%,d messages of 1 KiB in one queue".formatted(deep));
        for (int queue = 1; queue <= QUEUES; queue++) {
          sendTo(connection, "memory.shallow." + queue, shallow);
        }
        occupies(broker, atStart, "and %,d more in each of 1,000 queues".formatted(shallow));
      }
      broker.kill();
      kills++;
      broker = restart();
      drainAll();
      occupies(broker, atStart, "after everything was consumed");
    } finally {
      broker.kill();
    }
    long confirmed = sends.stream().mapToLong(SendLog::confirmedCount).sum();
    return findings.verdict(1, kills, confirmed);
  }

  private void sendTo(Connection connection, String queue, int count)
      throws JMSException, InterruptedException, HarnessException {
    SendLog log = new SendLog(sends.size() + 1, queue, 1);
    sends.add(log);
    deliveries.add(DeliveryLog.single(queue));
    Bulk.send(connection, log, count, BYTES);
  }

  private void occupies(BrokerProcess broker, ProcessFigures atStart, String what)
      throws HarnessException, IOException, InterruptedException {
    ProcessFigures now = ProcessFigures.afterCollection(broker);
    long growth = now.heapBytes() + now.directBytes() - atStart.heapBytes() - atStart.directBytes();
    findings.note("%s: %s", what, now);
    findings.require(
        growth < GROWTH_LIMIT_BYTES, "heap and direct grew by %,d KiB of 114,688", growth >> 10);
    findings.require(
        now.residentBytes() < RESIDENT_LIMIT_BYTES,
        "RSS is %,d KiB of 409,600",
        now.residentBytes() >> 10);
  }

  /** The time counts from the start of the process to the first message in a client's hands. */
  private BrokerProcess restart() throws IOException, InterruptedException, JMSException {
    BrokerProcess broker = BrokerProcess.start(setup);
    long readyNanos = System.nanoTime();
    try (Connection connection = connect();
        Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageConsumer consumer = session.createConsumer(session.createQueue("memory.deep"))) {
      boolean came = consumer.receive(RECEIVE_MILLIS) != null;
      long millis = broker.startMillis() + (System.nanoTime() - readyNanos) / 1_000_000;
      session.rollback();
      findings.require(
          came && millis <= FIRST_LIMIT_MILLIS,
          "first message %,d ms after the start of the process (ready after %,d)",
          millis,
          broker.startMillis());
    }
    return broker;
  }

  private void drainAll() throws JMSException {
    try (Connection connection = connect()) {
      for (int i = 0; i < sends.size(); i++) {
        Bulk.drain(connection, deliveries.get(i), sends.get(i).confirmedCount());
      }
    }
    findings.require(Check.of(sends, deliveries));
    long again = deliveries.stream().mapToLong(DeliveryLog::repeated).sum();
    findings.require(again == 0, "%,d messages came more than once", again);
  }

  private Connection connect() throws JMSException {
    Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection();
    connection.start();
    return connection;
  }
}
