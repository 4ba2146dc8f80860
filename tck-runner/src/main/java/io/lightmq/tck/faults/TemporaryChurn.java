package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Temporary queues that are made, answered into and deleted on ten connections, on a small heap:
 * what the broker keeps of them is the same after the first minute and at the end. The deleted
 * queues are the faults.
 */
final class TemporaryChurn {
  private static final int CONNECTIONS = 10;

  /** Destinations of closed producers are remembered, in half of a sixteenth of the heap. */
  private static final long HEAP_LIMIT_BYTES = 4L << 20;

  private static final long REPLY_MILLIS = 30_000;
  private static final long METRICS_MILLIS = 3_000;
  private static final int SHARE_OF_FIRST = 5;
  private static final long NANOS_PER_MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final BrokerSetup setup;
  private final int minutes;
  private final Findings findings = new Findings();
  private final AtomicLong deleted = new AtomicLong();
  private final AtomicLong replies = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  TemporaryChurn(BrokerSetup setup, int minutes) {
    this.setup = setup.withJavaOptions("-Xmx128m");
    this.minutes = minutes;
  }

  /** What is kept, while nobody works. */
  private record Kept(long destinations, long namedBytes, ProcessFigures figures) {}

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    List<Pair> pairs = new ArrayList<>();
    try {
      for (int i = 0; i < CONNECTIONS; i++) {
        pairs.add(new Pair("churn." + i));
      }
      Kept begin = kept(broker, "at the beginning");
      churn(pairs, NANOS_PER_MINUTE * minutes / SHARE_OF_FIRST);
      Kept first = kept(broker, "after the first fifth");
      churn(pairs, NANOS_PER_MINUTE * minutes * (SHARE_OF_FIRST - 1) / SHARE_OF_FIRST);
      Kept last = kept(broker, "at the end");
      long grown = last.figures().heapBytes() - first.figures().heapBytes();
      findings.require(
          grown < HEAP_LIMIT_BYTES,
          "heap grew by %,d KiB of %,d",
          grown >> 10,
          HEAP_LIMIT_BYTES >> 10);
      findings.require(
          last.destinations() == begin.destinations(),
          "%,d destinations of %,d in the beginning",
          last.destinations(),
          begin.destinations());
      findings.require(
          last.namedBytes() == first.namedBytes(),
          "%,d bytes of names and links of %,d",
          last.namedBytes(),
          first.namedBytes());
      newcomer();
      findings.require(failed.get() == 0, "%,d rounds failed", failed.get());
      findings.require(
          replies.get() == deleted.get(),
          "%,d replies in %,d temporary queues",
          replies.get(),
          deleted.get());
    } finally {
      for (Pair pair : pairs) {
        pair.close();
      }
      broker.kill();
    }
    return findings.verdict(1, deleted.get(), replies.get());
  }

  private Kept kept(BrokerProcess broker, String when)
      throws HarnessException, IOException, InterruptedException {
    Thread.sleep(METRICS_MILLIS); // the broker looks at what it has once a second
    ProcessFigures figures = ProcessFigures.afterCollection(broker);
    BrokerMetrics metrics = BrokerMetrics.of(setup);
    Kept kept =
        new Kept(destinations(metrics), (long) metrics.sum("lightmq_named_bytes", ""), figures);
    findings.note(
        "%s: %,d temporary queues deleted, %,d destinations, %,d named bytes, %s",
        when, deleted.get(), kept.destinations(), kept.namedBytes(), figures);
    return kept;
  }

  /** What the ten have left behind keeps nobody out. */
  private void newcomer() {
    try (JMSContext late = new LightmqConnectionFactory(setup.uri()).createContext()) {
      Queue queue = late.createTemporaryQueue();
      late.createProducer().send(queue, "late");
      findings.require(
          late.createConsumer(queue).receive(10_000) != null, "another client can work");
    } catch (JMSRuntimeException e) {
      findings.require(false, "another client can work: %s", e);
    }
  }

  private static long destinations(BrokerMetrics metrics) {
    return (long) metrics.sum("lightmq_other_destinations", "")
        + metrics.samples().keySet().stream()
            .filter(sample -> sample.startsWith("lightmq_produce_rate{"))
            .count();
  }

  private void churn(List<Pair> pairs, long nanos) throws InterruptedException {
    long untilNanos = System.nanoTime() + nanos;
    List<Thread> threads = new ArrayList<>();
    for (Pair pair : pairs) {
      Thread thread = new Thread(() -> pair.work(untilNanos), pair.requests);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** A connection with a session that asks, and one that answers. */
  private final class Pair {
    private final String requests;
    private final Connection connection;
    private final Session asking;
    private final MessageProducer producer;

    Pair(String requests) throws JMSException {
      this.requests = requests;
      connection = new LightmqConnectionFactory(setup.uri()).createConnection();
      asking = connection.createSession();
      producer = asking.createProducer(asking.createQueue(requests));
      Session answering = connection.createSession();
      MessageProducer answers = answering.createProducer(null);
      answering
          .createConsumer(answering.createQueue(requests))
          .setMessageListener(request -> answer(answering, answers, request));
      connection.start();
    }

    private void answer(Session session, MessageProducer answers, Message request) {
      try {
        answers.send(request.getJMSReplyTo(), session.createTextMessage("reply"));
      } catch (JMSException e) {
        failed.incrementAndGet();
        System.out.println("  no reply sent: " + e.getMessage());
      }
    }

    void work(long untilNanos) {
      try {
        while (untilNanos - System.nanoTime() > 0) {
          TemporaryQueue replyTo = asking.createTemporaryQueue();
          try (MessageConsumer consumer = asking.createConsumer(replyTo)) {
            Message request = asking.createTextMessage("request");
            request.setJMSReplyTo(replyTo);
            producer.send(request);
            if (consumer.receive(REPLY_MILLIS) != null) {
              replies.incrementAndGet();
            }
          }
          replyTo.delete();
          deleted.incrementAndGet();
        }
      } catch (JMSException e) {
        failed.incrementAndGet();
        System.out.println("  " + requests + " ended: " + e.getMessage());
      }
    }

    void close() throws JMSException {
      connection.close();
    }
  }
}
