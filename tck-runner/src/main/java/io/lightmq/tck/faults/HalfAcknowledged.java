package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A deep queue of which every second message is acknowledged, then all but one in a hundred, with
 * kills in between: what stays alive must come, and the disk must not keep what is dead.
 *
 * <p>One consumer acknowledges, a second one holds back what shall stay in a transaction that is
 * rolled back at the end.
 */
final class HalfAcknowledged {

  private static final String QUEUE = "half";
  private static final int BYTES = 1_024;
  private static final int MAX_TIMES_LIVE = 4;
  private static final long RECEIVE_MILLIS = 10_000;
  private static final long SHRINK_LIMIT_MILLIS = 120_000;

  private final BrokerSetup setup;
  private final int messages;
  private final SendLog sends = new SendLog(1, QUEUE, 1);
  private final DeliveryLog deliveries = DeliveryLog.competing(QUEUE);
  private final Findings findings = new Findings();

  HalfAcknowledged(BrokerSetup setup, int messages) {
    this.setup = setup;
    this.messages = messages;
  }

  int run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      try (Connection connection = connect("")) {
        Bulk.send(connection, sends, messages, BYTES);
      }
      disk("after sending");
      int half = messages / 2;
      int left = messages - thin(half / 2, 2);
      broker = killAndRestart(broker);
      left -= thin(half - half / 2, 2);
      disk("with every second acknowledged");
      broker = killAndRestart(broker);
      int rest = messages / 100;
      left -= thin((left - rest) / 2, 100);
      broker = killAndRestart(broker);
      left -= thin(left - rest, 100);
      awaitShrinking((long) left * BYTES);
      broker = killAndRestart(broker);
      try (Connection connection = connect("")) {
        Bulk.drain(connection, deliveries, left);
      }
      findings.require(Check.of(List.of(sends), List.of(deliveries)));
    } finally {
      broker.kill();
    }
    return findings.broken();
  }

  private BrokerProcess killAndRestart(BrokerProcess broker)
      throws IOException, InterruptedException {
    broker.kill();
    return BrokerProcess.start(setup);
  }

  /**
   * Acknowledges so many messages and holds back one in {@code oneIn} of those that pass.
   *
   * @return how many were acknowledged
   */
  private int thin(int wanted, int oneIn) throws JMSException, HarnessException {
    int acknowledged = 0;
    try (Connection connection = connect("?prefetchMessages=1");
        Session taking = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        Session holding = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageConsumer taker = taking.createConsumer(taking.createQueue(QUEUE));
        MessageConsumer holder = holding.createConsumer(holding.createQueue(QUEUE))) {
      while (acknowledged < wanted) {
        acknowledged += take(taker, Math.min(oneIn - 1, wanted - acknowledged));
        Message held = holder.receive(RECEIVE_MILLIS);
        if (held != null) {
          Consumers.log("holder", held, deliveries);
        }
      }
      holding.rollback();
    }
    return acknowledged;
  }

  private int take(MessageConsumer taker, int count) throws JMSException, HarnessException {
    Message last = null;
    for (int i = 0; i < count; i++) {
      Message message = taker.receive(RECEIVE_MILLIS);
      if (message == null) {
        throw new HarnessException("no message for " + RECEIVE_MILLIS + " ms in " + QUEUE);
      }
      settle(message);
      last = message;
    }
    if (last != null) {
      last.acknowledge();
    }
    return count;
  }

  private @Nullable Stamp settle(Message message) throws JMSException {
    return Consumers.log("taker", message, deliveries);
  }

  /** Waits until the files without the journal are small enough for what lives. */
  private void awaitShrinking(long liveBytes) throws IOException, InterruptedException {
    long beganNanos = System.nanoTime();
    long bytes = bytesWithoutJournal();
    while (bytes >= MAX_TIMES_LIVE * liveBytes && millisSince(beganNanos) < SHRINK_LIMIT_MILLIS) {
      Thread.sleep(200);
      bytes = bytesWithoutJournal();
    }
    disk("with one in a hundred left");
    findings.require(
        bytes < MAX_TIMES_LIVE * liveBytes,
        "%,d KiB outside the journal for %,d KiB that live, %,d ms after the last acknowledgement",
        bytes >> 10,
        liveBytes >> 10,
        millisSince(beganNanos));
  }

  private void disk(String when) throws IOException {
    findings.note(
        "%s: %,d KiB on disk, %,d KiB of them outside the journal",
        when, bytes(setup.data(), "") >> 10, bytesWithoutJournal() >> 10);
  }

  private long bytesWithoutJournal() throws IOException {
    return bytes(setup.data(), "journal");
  }

  /** Bytes of all files whose path does not contain the given word. */
  private static long bytes(Path directory, String without) throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.toList()) {
        boolean counts =
            without.isEmpty() || !directory.relativize(file).toString().contains(without);
        if (counts && Files.isRegularFile(file)) {
          bytes += Files.size(file);
        }
      }
    } catch (java.io.UncheckedIOException e) {
      throw e.getCause();
    }
    return bytes;
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  private Connection connect(String options) throws JMSException {
    Connection connection = new LightmqConnectionFactory(setup.uri() + options).createConnection();
    connection.start();
    return connection;
  }
}
