package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.util.List;

/**
 * Non-persistent messages far beyond the broker's memory for them, without a consumer: none is
 * refused, memory stays bounded, and all come in order and once; then the overflow is empty.
 */
final class UnloggedBacklog {

  private static final int BYTES = 1_024;
  private static final long MEMORY_BYTES = 8L << 20;

  /** The memory for messages, places of those in files, buffers to write and to read. */
  private static final long GROWTH_LIMIT_BYTES = MEMORY_BYTES + (24L << 20);

  private static final String QUEUE = "memory.volatile";

  private final BrokerSetup setup;
  private final int messages;
  private final Findings findings = new Findings();

  UnloggedBacklog(BrokerSetup setup, int messages) {
    this.setup =
        setup
            .withJavaOptions("-Xmx128m")
            .withConfiguration("[memory]\nnon-persistent = " + MEMORY_BYTES);
    this.messages = messages;
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    SendLog log = new SendLog(1, QUEUE, 1);
    DeliveryLog deliveries = DeliveryLog.single(QUEUE);
    boolean overflowed = false;
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection()) {
      connection.start();
      ProcessFigures atStart = ProcessFigures.afterCollection(broker);
      findings.note("at start: %s", atStart);
      long began = System.nanoTime();
      Bulk.send(connection, log, messages, BYTES, DeliveryMode.NON_PERSISTENT);
      rate("sent", began);
      occupies(broker, atStart, "with %,d messages of 1 KiB in the queue".formatted(messages));
      long files = overflowBytes();
      overflowed = files > 0;
      findings.require(
          files > messages * (long) BYTES * 9 / 10 - MEMORY_BYTES,
          "%,d KiB are in the overflow",
          files >> 10);
      began = System.nanoTime();
      Bulk.drain(connection, deliveries, log.confirmedCount());
      rate("drained", began);
      occupies(broker, atStart, "after all was consumed");
      findings.require(Check.of(List.of(log), List.of(deliveries)));
      findings.require(
          deliveries.repeated() == 0, "%,d came more than once", deliveries.repeated());
      findings.require(overflowBytes() == 0, "%,d bytes are left in the overflow", overflowBytes());
    } finally {
      broker.kill();
    }
    // The fault is the lack of memory: it has hit when messages had to leave it.
    return findings.verdict(1, overflowed ? 1 : 0, log.confirmedCount());
  }

  private void rate(String what, long beganNanos) {
    long millis = Math.max(1, (System.nanoTime() - beganNanos) / 1_000_000);
    findings.note("%s in %,d ms: %,d/s", what, millis, messages * 1_000L / millis);
  }

  private void occupies(BrokerProcess broker, ProcessFigures atStart, String what)
      throws HarnessException, IOException, InterruptedException {
    ProcessFigures now = ProcessFigures.afterCollection(broker);
    long growth = now.heapBytes() + now.directBytes() - atStart.heapBytes() - atStart.directBytes();
    findings.note("%s: %s", what, now);
    findings.require(
        growth < GROWTH_LIMIT_BYTES,
        "heap and direct grew by %,d KiB of %,d",
        growth >> 10,
        GROWTH_LIMIT_BYTES >> 10);
  }

  /** The broker counts once a second. */
  private long overflowBytes() throws IOException, InterruptedException {
    Thread.sleep(1_500);
    return (long) BrokerMetrics.of(setup).sum("lightmq_overflow_bytes", "");
  }
}
