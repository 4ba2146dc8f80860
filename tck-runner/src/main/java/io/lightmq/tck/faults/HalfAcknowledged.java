package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * A deep queue of which every second message is acknowledged, then all but one in a hundred, with
 * kills in between: what stays alive must come, and the disk must not keep what is dead. At the end
 * the newest snapshot is damaged, and the older one must do.
 *
 * <p>In each of several pairs one consumer acknowledges, and the other holds back what shall stay
 * in a transaction that is rolled back at the end.
 */
final class HalfAcknowledged {

  private static final String QUEUE = "half";
  private static final int BYTES = 1_024;
  private static final int FULL = 1_000_000;

  private static final String REJECTED_METRIC = "lightmq_rejected_snapshots_total";
  private static final long METRICS_LIMIT_MILLIS = 5_000;
  private static final int PAIRS = 8;
  private static final int MAX_TIMES_LIVE = 4;
  private static final long RECEIVE_MILLIS = 10_000;
  private static final long SHRINK_LIMIT_MILLIS = 180_000; // three idle checkpoints, 60 s apart

  private final BrokerSetup setup;
  private final int messages;
  private final SendLog sends = new SendLog(1, QUEUE, 1);
  private final DeliveryLog deliveries = DeliveryLog.competing(QUEUE);
  private final Findings findings = new Findings();
  private int faults;

  HalfAcknowledged(BrokerSetup setup, int messages) {
    this.setup = messages < FULL ? setup.withConfiguration(smallJournal(messages)) : setup;
    this.messages = messages;
  }

  /** A journal as small beside fewer messages as the default one is beside a million. */
  private static String smallJournal(int messages) {
    int mebibytes = Math.max(8, messages / (FULL / 64));
    return """
    [journal]
    file = "%dMiB"
    [flush]
    bytes = "%dMiB"
    """
        .formatted(mebibytes, mebibytes * 3 / 4);
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      try (Connection connection = connect()) {
        Bulk.send(connection, sends, messages, BYTES);
      }
      disk("after sending");
      if (segmentBytes() == 0) {
        throw new HarnessException(
            "%,d messages fit into the journal and no segment was written, which says nothing; send more"
                .formatted(messages));
      }
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
      broker.kill();
      faults++;
      damageTheNewestSnapshot();
      broker = BrokerProcess.start(setup);
      passedOver();
      try (Connection connection = connect()) {
        Bulk.drain(connection, deliveries, left);
      }
      findings.require(Check.of(List.of(sends), List.of(deliveries)));
    } finally {
      broker.kill();
    }
    return findings.verdict(1, faults, sends.confirmedCount());
  }

  /** Flips a byte in the middle of the newest snapshot, as a bad sector would. */
  private void damageTheNewestSnapshot() throws IOException, HarnessException {
    List<Path> snapshots = new ArrayList<>();
    try (Stream<Path> files = Files.list(setup.data().resolve("snapshots"))) {
      files.filter(file -> file.toString().endsWith(".snap")).sorted().forEach(snapshots::add);
    }
    if (snapshots.size() < 2) {
      throw new HarnessException("two snapshots are needed to damage one, found " + snapshots);
    }
    Path newest = snapshots.get(snapshots.size() - 1);
    byte[] bytes = Files.readAllBytes(newest);
    bytes[bytes.length / 2] ^= 8;
    Files.write(newest, bytes);
    faults++;
    findings.note("byte %,d of %s is damaged", bytes.length / 2, newest.getFileName());
  }

  private void passedOver() throws IOException, InterruptedException {
    long beganNanos = System.nanoTime();
    double rejected = 0;
    while (rejected == 0 && millisSince(beganNanos) < METRICS_LIMIT_MILLIS) {
      Thread.sleep(100);
      rejected = BrokerMetrics.of(setup).sum(REJECTED_METRIC, "");
    }
    findings.require(
        rejected == 1, "the broker started from the older snapshot, %.0f passed over", rejected);
  }

  private BrokerProcess killAndRestart(BrokerProcess broker)
      throws IOException, InterruptedException {
    broker.kill();
    faults++;
    return BrokerProcess.start(setup);
  }

  /**
   * Acknowledges about so many messages and holds back one in {@code oneIn} of those that pass.
   *
   * @return how many were acknowledged
   */
  private int thin(int wanted, int oneIn)
      throws HarnessException, InterruptedException, JMSException {
    ExecutorService threads = Executors.newFixedThreadPool(PAIRS);
    try {
      List<Future<Integer>> pairs = new ArrayList<>();
      for (int pair = 0; pair < PAIRS; pair++) {
        int share = wanted / PAIRS + (pair < wanted % PAIRS ? 1 : 0);
        pairs.add(threads.submit(() -> thinWithOnePair(share, oneIn)));
      }
      int acknowledged = 0;
      for (Future<Integer> pair : pairs) {
        acknowledged += pair.get();
      }
      return acknowledged;
    } catch (ExecutionException e) {
      throw new HarnessException("a pair of consumers failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  private int thinWithOnePair(int wanted, int oneIn) throws JMSException, HarnessException {
    int acknowledged = 0;
    try (Connection connection = connect("prefetchMessages=1");
        Session taking = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
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
    for (int i = 0; i < count; i++) {
      Message message = taker.receive(RECEIVE_MILLIS);
      if (message == null) {
        throw new HarnessException("no message for " + RECEIVE_MILLIS + " ms in " + QUEUE);
      }
      Consumers.log("taker", message, deliveries);
    }
    return count;
  }

  /** Waits until the files without the journal are small enough for what lives. */
  private void awaitShrinking(long liveBytes) throws IOException, InterruptedException {
    long beganNanos = System.nanoTime();
    long bytes = variableBytes();
    while (bytes >= MAX_TIMES_LIVE * liveBytes && millisSince(beganNanos) < SHRINK_LIMIT_MILLIS) {
      Thread.sleep(200);
      bytes = variableBytes();
    }
    disk("with one in a hundred left");
    findings.require(
        bytes < MAX_TIMES_LIVE * liveBytes,
        "%,d KiB in segments and snapshots for %,d KiB that live, %,d ms after the last"
            + " acknowledgement",
        bytes >> 10,
        liveBytes >> 10,
        millisSince(beganNanos));
  }

  /** Disk use is what segments and snapshots take; the preallocated files are told beside it. */
  private void disk(String when) throws IOException {
    long all = DataFiles.bytes(setup.data(), Set.of());
    long variable = variableBytes();
    findings.note(
        "%s: disk use %,d KiB (segments %,d, snapshots and others %,d); preallocated beside it:"
            + " journal and ballast %,d KiB",
        when,
        variable >> 10,
        segmentBytes() >> 10,
        (variable - segmentBytes()) >> 10,
        (all - variable) >> 10);
  }

  private long segmentBytes() throws IOException {
    return DataFiles.bytes(setup.data().resolve("segments"), Set.of());
  }

  private long variableBytes() throws IOException {
    return DataFiles.variableBytes(setup.data());
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  private Connection connect(String... options) throws JMSException {
    Connection connection = new LightmqConnectionFactory(setup.uri(options)).createConnection();
    connection.start();
    return connection;
  }
}
