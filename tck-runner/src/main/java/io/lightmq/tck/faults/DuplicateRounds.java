package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Messages of which each tenth is sent twice, to a queue that suppresses duplicates by a property,
 * moved on by a process that is killed again and again, through a broker that is killed too: each
 * is processed once, and none is dropped.
 */
final class DuplicateRounds {
  private static final String FROM = "duplicates.in";
  private static final String TO = "duplicates.out";
  private static final String KEY = "order";
  private static final int BYTES = 200;
  private static final int IN_FLIGHT = 2_000;

  /** So much later a message is sent again: some duplicates meet the first one in flight. */
  private static final int LATER = 3_000;

  private static final int BROKER_KILLS = 5;
  private static final long LIMIT_MINUTES = 20;

  private final BrokerSetup setup;
  private final int messages;
  private final Random random;
  private final Findings findings = new Findings();
  private final CountDownLatch sent = new CountDownLatch(1);
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
  private final AtomicInteger confirmed = new AtomicInteger();
  private int moverKills;
  private int brokerKills;
  private long suppressed;

  DuplicateRounds(BrokerSetup setup, int messages, long seed) {
    this.setup =
        setup.withConfiguration(
            "[destination.\"%s\"]\nsuppress-duplicates = \"property:%s\"".formatted(FROM, KEY));
    this.messages = messages;
    this.random = new Random(seed);
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    long began = System.nanoTime();
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection()) {
      connection.start();
      Thread sender = new Thread(() -> send(connection), "duplicates-sender");
      sender.setDaemon(true);
      sender.start();
      broker = killUntilAllIsMoved(broker, began);
      sender.join();
      Exception failed = failure.get();
      if (failed != null) {
        throw new HarnessException("a send failed: " + failed, failed);
      }
      findings.note(
          "%,d sends confirmed in %,d s; the mover was killed %d times, the broker %d times",
          confirmed.get(), (System.nanoTime() - began) / 1_000_000_000, moverKills, brokerKills);
      count(connection);
    } finally {
      broker.kill();
    }
    return findings.verdict(1, moverKills + brokerKills, confirmed.get());
  }

  // ---- sending ----

  private void send(Connection connection) {
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      MessageProducer producer = session.createProducer(session.createQueue(FROM));
      Semaphore window = new Semaphore(IN_FLIGHT);
      for (int i = 0; i < messages + LATER; i++) {
        if (i < messages) {
          send(session, producer, i, window);
        }
        if (i >= LATER && i % 10 == 0) {
          send(session, producer, i - LATER, window);
        }
      }
      window.acquire(IN_FLIGHT);
    } catch (JMSException e) {
      failure.compareAndSet(null, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      sent.countDown();
    }
  }

  private void send(Session session, MessageProducer producer, int order, Semaphore window)
      throws JMSException, InterruptedException {
    window.acquire();
    Message message = session.createTextMessage("x".repeat(BYTES));
    message.setIntProperty(KEY, order);
    producer.send(
        message,
        new CompletionListener() {
          @Override
          public void onCompletion(Message done) {
            confirmed.incrementAndGet();
            window.release();
          }

          @Override
          public void onException(Message done, Exception e) {
            failure.compareAndSet(null, e);
            window.release();
          }
        });
  }

  // ---- killing ----

  /** Kills until all was sent and the queue is empty; returns the broker of the end. */
  private BrokerProcess killUntilAllIsMoved(BrokerProcess first, long beganNanos)
      throws IOException, InterruptedException, HarnessException {
    BrokerProcess broker = first;
    Process mover = startMover();
    try {
      while (true) {
        boolean done = sent.await(1_000 + random.nextInt(3_000), TimeUnit.MILLISECONDS);
        if (done && backlog() == 0) {
          return broker;
        }
        if (System.nanoTime() - beganNanos > TimeUnit.MINUTES.toNanos(LIMIT_MINUTES)) {
          throw new HarnessException(backlog() + " messages are left after 20 minutes");
        }
        if (done) {
          Thread.sleep(1_500);
        }
        if (brokerKills < BROKER_KILLS && random.nextInt(3) == 0) {
          suppressed += suppressed();
          broker.kill();
          brokerKills++;
          broker = BrokerProcess.start(setup);
        } else if (!done || random.nextInt(3) == 0) {
          mover.destroyForcibly().waitFor();
          moverKills++;
          mover = startMover();
        }
      }
    } finally {
      mover.destroyForcibly().waitFor();
    }
  }

  private Process startMover() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
            "-cp",
            System.getProperty("java.class.path"),
            DuplicateMover.class.getName(),
            setup.uri(),
            FROM,
            TO)
        .redirectErrorStream(true)
        .redirectOutput(
            ProcessBuilder.Redirect.appendTo(setup.work().resolve("mover.log").toFile()))
        .start();
  }

  /** The broker counts once a second. */
  private long backlog() throws IOException, InterruptedException {
    Thread.sleep(1_500);
    return (long)
        BrokerMetrics.of(setup).sum("lightmq_backlog_messages", "destination=\"" + FROM + "\"");
  }

  // ---- counting ----

  private void count(Connection connection) throws JMSException, IOException, InterruptedException {
    BitSet seen = new BitSet(messages);
    int twice = 0;
    try (Session session = connection.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue(TO))) {
      for (Message message = consumer.receive(5_000);
          message != null;
          message = consumer.receive(seen.cardinality() < messages ? 5_000 : 500)) {
        int order = message.getIntProperty(KEY);
        twice += seen.get(order) ? 1 : 0;
        seen.set(order);
      }
    }
    findings.require(twice == 0, "%,d were processed twice", twice);
    findings.require(
        seen.cardinality() == messages,
        "%,d of %,d were processed, the first that was not is %d",
        seen.cardinality(),
        messages,
        seen.nextClearBit(0));
    suppressed += suppressed();
    findings.require(suppressed > 0, "about %,d duplicates were suppressed", suppressed);
  }

  /** Since the last start, but for the last second. */
  private long suppressed() throws IOException, InterruptedException {
    return (long) BrokerMetrics.of(setup).sum("lightmq_suppressed_messages_total", "");
  }
}
