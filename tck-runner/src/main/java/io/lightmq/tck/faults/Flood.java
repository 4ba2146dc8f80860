package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Many connections that send as fast as they may while nobody consumes: the broker's direct memory
 * must stay within its budget. Then one of these connections drains everything.
 */
final class Flood {

  private static final String QUEUE = "flood";
  private static final int BYTES = 1_024;
  private static final long LOOK_MILLIS = 100;
  private static final String NETWORK_METRIC = "lightmq_direct_network_bytes";
  private static final String BOUND_METRIC = "lightmq_direct_network_bound_bytes";

  private final BrokerSetup setup;
  private final int connections;
  private final int seconds;
  private final Findings findings = new Findings();

  Flood(BrokerSetup setup, int connections, int seconds) {
    this.setup = setup;
    this.connections = connections;
    this.seconds = seconds;
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    try (BrokerProcess broker = BrokerProcess.start(setup)) {
      List<Connection> open = new ArrayList<>();
      try {
        return run(broker, open);
      } finally {
        for (Connection connection : open) {
          connection.close();
        }
      }
    }
  }

  private Verdict run(BrokerProcess broker, List<Connection> open)
      throws JMSException, IOException, InterruptedException, HarnessException {
    LightmqConnectionFactory factory = new LightmqConnectionFactory(setup.uri());
    List<SendLog> logs = new ArrayList<>();
    for (int i = 1; i <= connections; i++) {
      Connection connection = factory.createConnection();
      open.add(connection);
      connection.start();
      logs.add(new SendLog(i, QUEUE, 1));
    }
    flood(broker, open, logs);
    DeliveryLog deliveries = DeliveryLog.single(QUEUE);
    long confirmed = logs.stream().mapToLong(SendLog::confirmedCount).sum();
    long beganNanos = System.nanoTime();
    Bulk.drain(open.get(0), deliveries, confirmed);
    findings.note(
        "one of the connections drained %,d messages in %,d ms",
        deliveries.deliveries(), (System.nanoTime() - beganNanos) / 1_000_000);
    findings.require(Check.of(logs, List.of(deliveries)));
    long flooding = logs.stream().filter(log -> log.confirmedCount() > 0).count();
    return findings.verdict(1, flooding, confirmed);
  }

  private void flood(BrokerProcess broker, List<Connection> open, List<SendLog> logs)
      throws IOException, InterruptedException, HarnessException {
    long untilNanos = System.nanoTime() + seconds * 1_000_000_000L;
    ConcurrentLinkedQueue<Exception> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < open.size(); i++) {
      Connection connection = open.get(i);
      SendLog log = logs.get(i);
      Thread thread =
          new Thread(() -> floodOne(connection, log, untilNanos, failures), "flood-" + i);
      threads.add(thread);
      thread.start();
    }
    long highestNetwork = 0;
    long highestTotal = 0;
    long highestResident = 0;
    long bound = 0;
    while (threads.stream().anyMatch(Thread::isAlive)) {
      BrokerMetrics now = BrokerMetrics.of(setup);
      highestNetwork = Math.max(highestNetwork, (long) now.sum(NETWORK_METRIC, ""));
      bound = Math.max(bound, (long) now.sum(BOUND_METRIC, ""));
      highestTotal = Math.max(highestTotal, ProcessFigures.directBytes(broker));
      highestResident = Math.max(highestResident, ProcessFigures.residentBytes(broker));
      Thread.sleep(LOOK_MILLIS);
    }
    if (!failures.isEmpty()) {
      throw new HarnessException(
          failures.size() + " senders failed, the first: " + failures.peek());
    }
    findings.note(
        "%d connections sent %,d messages in %d s",
        connections, logs.stream().mapToLong(SendLog::confirmedCount).sum(), seconds);
    findings.require(
        highestNetwork > 0 && highestNetwork <= bound,
        "direct memory of the connections was %,d KiB at most, the stated bound is %,d KiB",
        highestNetwork >> 10,
        bound >> 10);
    findings.note(
        "direct memory in all %,d KiB at most, RSS %,d KiB",
        highestTotal >> 10, highestResident >> 10);
  }

  private static void floodOne(
      Connection connection,
      SendLog log,
      long untilNanos,
      ConcurrentLinkedQueue<Exception> failures) {
    try {
      Bulk.flood(connection, log, untilNanos, BYTES);
    } catch (JMSException | HarnessException e) {
      failures.add(e);
    } catch (InterruptedException e) {
      failures.add(e);
      Thread.currentThread().interrupt();
    }
  }
}
