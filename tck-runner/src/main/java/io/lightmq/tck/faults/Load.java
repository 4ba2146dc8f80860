package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The mixed load of the fault rounds: synchronous, asynchronous and transacted senders, consumers
 * that acknowledge, commit and roll back, a queue with a single consumer, and a durable
 * subscription.
 *
 * <p>All of it lives in this process, which no fault touches; it stays connected over all rounds.
 */
final class Load implements AutoCloseable {

  private static final String QUEUE = "faults.queue";
  private static final String ALONE = "faults.alone";
  private static final String TOPIC = "faults.topic";
  private static final int IN_FLIGHT = 100;
  private static final int TRANSACTION = 5;
  private static final long LOOK_MILLIS = 5;
  private static final long IDLE_LIMIT_MILLIS = 60_000;
  private static final long DRAIN_SILENCE_MILLIS = 15_000;
  private static final long LATE_MILLIS = 200;

  private static final String DURABLE = "durable";

  private final ConnectionFactory factory;
  private final Gate senderGate = new Gate();
  private final Gate consumerGate = new Gate();
  private final List<SendLog> sends = new ArrayList<>();
  private final List<DeliveryLog> deliveries = new ArrayList<>();
  private final List<Worker> senders = new ArrayList<>();
  private final List<Worker> consumers = new ArrayList<>();

  Load(String uri, EventLog events) throws JMSException {
    factory = new LightmqConnectionFactory(uri);
    DeliveryLog queue = add(DeliveryLog.competing(QUEUE));
    DeliveryLog alone = add(DeliveryLog.single(ALONE));
    DeliveryLog topic = add(DeliveryLog.single(TOPIC));
    Gate gate = consumerGate;
    consumers.add(new Consumers.Acknowledging("acknowledging", factory, queue, gate, events));
    consumers.add(new Consumers.Transacted("committing", factory, queue, gate, events));
    consumers.add(new Consumers.Automatic("alone", factory, false, alone, gate, events));
    consumers.add(new Consumers.Automatic(DURABLE, factory, true, topic, gate, events));
    gate = senderGate;
    senders.add(new Producers.Synchronous(factory, false, log(QUEUE, 1), gate, events));
    senders.add(new Producers.Synchronous(factory, false, log(QUEUE, 1), gate, events));
    senders.add(new Producers.Asynchronous(factory, IN_FLIGHT, log(QUEUE, 1), gate, events));
    senders.add(new Producers.Transacted(factory, log(QUEUE, TRANSACTION), gate, events));
    senders.add(new Producers.Asynchronous(factory, IN_FLIGHT, log(ALONE, 1), gate, events));
    senders.add(new Producers.Synchronous(factory, true, log(TOPIC, 1), gate, events));
    workers().forEach(Thread::start);
  }

  private DeliveryLog add(DeliveryLog subscription) {
    deliveries.add(subscription);
    return subscription;
  }

  private SendLog log(String target, int transaction) {
    SendLog log = new SendLog(sends.size() + 1, target, transaction);
    sends.add(log);
    return log;
  }

  /** Lets everybody work. */
  void run() {
    consumerGate.open();
    senderGate.open();
  }

  /** Stops the senders; returns when every send has ended one way or the other. */
  void pauseSenders() throws InterruptedException, HarnessException {
    senderGate.shut();
    await(() -> senders.stream().allMatch(Worker::isIdle) && open() == 0, "open sends to end");
  }

  /** Stops senders and consumers, so that nothing travels. */
  void pauseAll() throws InterruptedException, HarnessException {
    pauseSenders();
    consumerGate.shut();
    await(() -> consumers.stream().allMatch(Worker::isIdle), "consumers to pause");
  }

  /** Waits for everything that is owed, then a little longer for what is not. */
  Check drain() throws InterruptedException {
    consumerGate.open();
    long beganNanos = System.nanoTime();
    while (missing() > 0 && millisOfSilence(beganNanos) < DRAIN_SILENCE_MILLIS) {
      Thread.sleep(LOOK_MILLIS);
    }
    while (millisOfSilence(beganNanos) < LATE_MILLIS) {
      Thread.sleep(LOOK_MILLIS);
    }
    return Check.of(sends, deliveries);
  }

  /**
   * Ends the load and takes what is left with new connections.
   *
   * @return the comparison with all that came since the first round
   */
  Check finish() throws InterruptedException, HarnessException, JMSException {
    pauseAll();
    close();
    for (DeliveryLog subscription : deliveries) {
      if (subscription.target().equals(TOPIC)) {
        String clientId = Consumers.Automatic.clientId(DURABLE);
        FinalDrain.durable(factory, clientId, DURABLE, subscription);
      } else {
        FinalDrain.queue(factory, subscription);
      }
    }
    return Check.of(sends, deliveries);
  }

  /** The destinations of the load. */
  List<String> targets() {
    return deliveries.stream().map(DeliveryLog::target).toList();
  }

  /** Workers that ended although the load is not over. */
  List<String> deaths() {
    return workers()
        .filter(worker -> worker.death() != null)
        .map(worker -> worker.getName() + " died: " + worker.death())
        .toList();
  }

  long receipts() {
    return sends.stream().mapToLong(SendLog::confirmedCount).sum();
  }

  long open() {
    return sends.stream().mapToLong(SendLog::open).sum();
  }

  long repeated() {
    return deliveries.stream().mapToLong(DeliveryLog::repeated).sum();
  }

  long flaggedFirst() {
    return deliveries.stream().mapToLong(DeliveryLog::flaggedFirst).sum();
  }

  long overtaken() {
    return deliveries.stream().mapToLong(DeliveryLog::overtaken).sum();
  }

  /** Time since the last receipt. */
  long millisSinceReceipt() {
    long last = sends.stream().mapToLong(SendLog::lastReceiptNanos).max().orElse(0);
    return (System.nanoTime() - last) / 1_000_000;
  }

  private long missing() {
    long missing = 0;
    for (DeliveryLog subscription : deliveries) {
      for (SendLog producer : sends) {
        if (producer.target().equals(subscription.target())) {
          missing += Check.missing(producer, subscription).cardinality();
        }
      }
    }
    return missing;
  }

  private long millisOfSilence(long sinceNanos) {
    long last = deliveries.stream().mapToLong(DeliveryLog::lastDeliveryNanos).max().orElse(0);
    return (System.nanoTime() - Math.max(last, sinceNanos)) / 1_000_000;
  }

  private Stream<Worker> workers() {
    return Stream.concat(senders.stream(), consumers.stream());
  }

  private void await(Condition condition, String what)
      throws InterruptedException, HarnessException {
    long beganNanos = System.nanoTime();
    while (!condition.holds()) {
      if ((System.nanoTime() - beganNanos) / 1_000_000 > IDLE_LIMIT_MILLIS) {
        throw new HarnessException(
            "waited %,d s for %s; %,d sends are open"
                .formatted(IDLE_LIMIT_MILLIS / 1000, what, open()));
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  @Override
  public void close() throws JMSException {
    senderGate.end();
    consumerGate.end();
    for (Worker worker : workers().toList()) {
      worker.close();
    }
  }

  /** Something to wait for. */
  private interface Condition {
    boolean holds();
  }
}
