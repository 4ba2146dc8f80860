package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Messages of 10,000 groups to one queue, and eight consumers of it that come and go at random: the
 * messages of each group are processed in order, by one consumer at a time, and none is missing.
 */
final class GroupRounds {
  private static final String QUEUE = "groups";
  private static final int KEYS = 10_000;
  private static final int CONSUMERS = 8;
  private static final int BYTES = 100;
  private static final int IN_FLIGHT = 2_000;
  private static final int LONGEST_LIFE_MILLIS = 4_000;
  private static final long LIMIT_MINUTES = 30;

  private final BrokerSetup setup;
  private final int messages;
  private final long seed;
  private final GroupLedger ledger = new GroupLedger(KEYS);
  private final int[] sent = new int[KEYS];
  private final Findings findings = new Findings();
  private final AtomicInteger ids = new AtomicInteger();
  private final GroupConsumer.Totals totals = new GroupConsumer.Totals();
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
  private final long beganNanos = System.nanoTime();
  private volatile boolean over;

  GroupRounds(BrokerSetup setup, int messages, long seed) {
    this.setup = setup;
    this.messages = messages;
    this.seed = seed;
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    List<Thread> threads = new ArrayList<>();
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection()) {
      for (int i = 0; i < CONSUMERS; i++) {
        Random random = new Random(seed * 31 + i);
        threads.add(start("groups-consumer-" + i, () -> consume(random)));
      }
      threads.add(start("groups-sender", () -> send(connection)));
      while (ledger.processed() < messages && failure.get() == null && inTime()) {
        Thread.sleep(100);
      }
      over = true;
      for (Thread thread : threads) {
        thread.join();
      }
      Exception failed = failure.get();
      if (failed != null) {
        throw new HarnessException("a client failed: " + failed, failed);
      }
      drain();
      judge();
    } finally {
      over = true;
      broker.kill();
    }
    return findings.verdict(1, totals.cut, messages);
  }

  private boolean inTime() {
    return System.nanoTime() - beganNanos < TimeUnit.MINUTES.toNanos(LIMIT_MINUTES);
  }

  private static Thread start(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void failed(Exception e) {
    failure.compareAndSet(null, e);
  }

  // ---- sending ----

  private void send(Connection connection) {
    Random random = new Random(seed);
    Semaphore window = new Semaphore(IN_FLIGHT);
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      MessageProducer producer = session.createProducer(session.createQueue(QUEUE));
      String text = "x".repeat(BYTES);
      for (int i = 0; i < messages && failure.get() == null; i++) {
        // Some keys have much more than others.
        int key = random.nextBoolean() ? random.nextInt(KEYS) : random.nextInt(KEYS / 100);
        Message message = session.createTextMessage(text);
        message.setStringProperty("JMSXGroupID", "key-" + key);
        message.setIntProperty("JMSXGroupSeq", random.nextInt(100) == 0 ? -1 : sent[key] + 1);
        message.setIntProperty("key", key);
        message.setIntProperty("n", ++sent[key]);
        window.acquire();
        producer.send(message, releasing(window));
      }
      window.acquire(IN_FLIGHT);
    } catch (JMSException e) {
      failed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private CompletionListener releasing(Semaphore window) {
    return new CompletionListener() {
      @Override
      public void onCompletion(Message done) {
        window.release();
      }

      @Override
      public void onException(Message done, Exception e) {
        failed(e);
        window.release();
      }
    };
  }

  // ---- consuming ----

  private void consume(Random random) {
    try {
      while (!over) {
        Thread.sleep(random.nextInt(LONGEST_LIFE_MILLIS / 10));
        GroupConsumer consumer =
            new GroupConsumer(setup, QUEUE, ledger, ids.incrementAndGet(), random.nextLong());
        totals.add(consumer.live(100 + random.nextInt(LONGEST_LIFE_MILLIS), true));
      }
    } catch (IOException | JMSException e) {
      failed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Takes what came back from the last that went. */
  private void drain() throws IOException, JMSException, InterruptedException, HarnessException {
    for (int tries = 0; backlog() > 0; tries++) {
      if (tries == 20) {
        throw new HarnessException(backlog() + " messages are left after " + tries + " consumers");
      }
      new GroupConsumer(setup, QUEUE, ledger, ids.incrementAndGet(), tries).live(2_000, false);
    }
  }

  /** The broker counts once a second. */
  private long backlog() throws IOException, InterruptedException {
    Thread.sleep(1_500);
    return (long)
        BrokerMetrics.of(setup).sum("lightmq_backlog_messages", "destination=\"" + QUEUE + "\"");
  }

  // ---- judging ----

  private void judge() {
    long millis = Math.max(1, (System.nanoTime() - beganNanos) / 1_000_000);
    findings.note(
        "%,d messages of %,d keys in %,d ms; %,d consumers came, %,d closed, %,d were cut off",
        messages, KEYS, millis, ids.get(), totals.closed, totals.cut);
    findings.note(
        "%,d messages by listeners, %,d acknowledgements, %,d commits, %,d rollbacks; %,d came"
            + " again",
        totals.listened, totals.acknowledged, totals.committed, totals.rolledBack, ledger.again());
    findings.require(
        ledger.violations().isEmpty(),
        "order and ownership of the keys: %d violations",
        ledger.violations().size());
    ledger.violations().forEach(text -> System.out.println("          " + text));
    int missing = 0;
    for (int key = 0; key < KEYS; key++) {
      missing += sent[key] - ledger.highest(key);
    }
    findings.require(missing == 0, "%,d of %,d messages are missing", missing, messages);
    findings.require(
        totals.cut > 0 && totals.rolledBack > 0, "consumers were cut off and rolled back");
  }
}
