package io.lightmq.samples.bench;

import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Persistent messages of 1 KiB a second through one queue or topic, by the Jakarta Messaging API
 * alone.
 */
final class Throughput {

  private static final int BYTES = 1_024;
  private static final int IN_FLIGHT = 1_000;
  private static final long DRAIN_LIMIT_MILLIS = 60_000;

  private final ConnectionFactory factory;
  private final Destination destination;
  private final long millis;
  private final AtomicLong confirmed = new AtomicLong();
  private final AtomicLong consumed = new AtomicLong();
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private volatile boolean over;

  /** How many consumers get each message. */
  private int copies = 1;

  Throughput(ConnectionFactory factory, Destination destination, long millis) {
    this.factory = factory;
    this.destination = destination;
    this.millis = millis;
  }

  /** Senders that each wait for each receipt, with a consumer that keeps the queue short. */
  double synchronous(int senders) throws JMSException, InterruptedException {
    List<Connection> connections = new ArrayList<>();
    try {
      connections.add(consumer());
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < senders; i++) {
        Connection connection = factory.createConnection();
        connections.add(connection);
        threads.add(new Thread(() -> guard(() -> sendAndWait(connection)), "sender-" + i));
      }
      return measure(threads);
    } finally {
      closeAll(connections);
    }
  }

  /** One sender with 1,000 sends in flight, and a consumer that keeps up. */
  double asynchronous() throws JMSException, InterruptedException {
    List<Connection> connections = new ArrayList<>();
    try {
      connections.add(consumer());
      Connection connection = factory.createConnection();
      connections.add(connection);
      return measure(
          List.of(new Thread(() -> guard(() -> sendInFlight(connection)), "async-sender")));
    } finally {
      closeAll(connections);
    }
  }

  /** A sender that sends the next message when the consumer has had the last one. */
  double endToEnd() throws JMSException, InterruptedException {
    List<Connection> connections = new ArrayList<>();
    Semaphore arrived = new Semaphore(0);
    try {
      Connection receiving = factory.createConnection();
      connections.add(receiving);
      Session session = receiving.createSession(false, Session.AUTO_ACKNOWLEDGE);
      session
          .createConsumer(destination)
          .setMessageListener(
              message -> {
                consumed.incrementAndGet();
                arrived.release();
              });
      receiving.start();
      Connection connection = factory.createConnection();
      connections.add(connection);
      return measure(
          List.of(new Thread(() -> guard(() -> sendInStep(connection, arrived)), "sender")));
    } finally {
      closeAll(connections);
    }
  }

  /** One sender with 1,000 sends in flight to a topic with durable subscribers. */
  double durableTopic(int subscribers) throws JMSException, InterruptedException {
    List<Connection> connections = new ArrayList<>();
    copies = subscribers;
    try {
      for (int i = 1; i <= subscribers; i++) {
        Connection receiving = factory.createConnection();
        connections.add(receiving);
        receiving.setClientID("bench-" + i);
        Session session = receiving.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
        session
            .createDurableConsumer((Topic) destination, "bench")
            .setMessageListener(message -> consumed.incrementAndGet());
        receiving.start();
      }
      Connection connection = factory.createConnection();
      connections.add(connection);
      return measure(
          List.of(new Thread(() -> guard(() -> sendInFlight(connection)), "async-sender")));
    } finally {
      closeAll(connections);
    }
  }

  private double measure(List<Thread> threads) throws JMSException, InterruptedException {
    threads.forEach(Thread::start);
    Thread.sleep(millis / 5);
    long confirmedBefore = confirmed.get();
    long consumedBefore = received();
    long beganNanos = System.nanoTime();
    Thread.sleep(millis);
    long sent = confirmed.get() - confirmedBefore;
    long received = received() - consumedBefore;
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    over = true;
    for (Thread thread : threads) {
      thread.join();
    }
    Exception failed = failure.get();
    if (failed != null) {
      throw new JMSException("a client of the benchmark failed: " + failed);
    }
    drain();
    // A consumer that falls behind would make the sender's figure look better than it is.
    return Math.min(sent, received) / seconds;
  }

  private void drain() throws InterruptedException, JMSException {
    long deadline = System.nanoTime() + DRAIN_LIMIT_MILLIS * 1_000_000;
    while (received() < confirmed.get()) {
      if (System.nanoTime() > deadline) {
        throw new JMSException(
            "%,d of %,d messages did not come"
                .formatted(confirmed.get() - received(), confirmed.get()));
      }
      Thread.sleep(10);
    }
  }

  private long received() {
    return consumed.get() / copies;
  }

  private Connection consumer() throws JMSException {
    Connection connection = factory.createConnection();
    Session session = connection.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
    session.createConsumer(destination).setMessageListener(message -> consumed.incrementAndGet());
    connection.start();
    return connection;
  }

  private void sendAndWait(Connection connection) throws JMSException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    MessageProducer producer = session.createProducer(destination);
    while (!over) {
      producer.send(message(session));
      confirmed.incrementAndGet();
    }
  }

  private void sendInStep(Connection connection, Semaphore arrived)
      throws JMSException, InterruptedException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    MessageProducer producer = session.createProducer(destination);
    while (!over) {
      producer.send(message(session));
      confirmed.incrementAndGet();
      if (!arrived.tryAcquire(DRAIN_LIMIT_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new JMSException("a message did not come for " + DRAIN_LIMIT_MILLIS + " ms");
      }
    }
  }

  private void sendInFlight(Connection connection) throws JMSException, InterruptedException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    MessageProducer producer = session.createProducer(destination);
    Semaphore window = new Semaphore(IN_FLIGHT);
    CompletionListener receipt =
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            confirmed.incrementAndGet();
            window.release();
          }

          @Override
          public void onException(Message message, Exception exception) {
            failure.compareAndSet(null, exception);
            window.release();
          }
        };
    while (!over) {
      window.acquire();
      producer.send(message(session), receipt);
    }
    window.acquire(IN_FLIGHT);
  }

  private static BytesMessage message(Session session) throws JMSException {
    BytesMessage message = session.createBytesMessage();
    message.writeBytes(new byte[BYTES]);
    return message;
  }

  private void guard(Work work) {
    try {
      work.run();
    } catch (JMSException e) {
      failure.compareAndSet(null, e);
    } catch (InterruptedException e) {
      failure.compareAndSet(null, e);
      Thread.currentThread().interrupt();
    }
  }

  private static void closeAll(List<Connection> connections) throws JMSException {
    for (Connection connection : connections) {
      connection.close();
    }
  }

  /** What a sender thread does. */
  private interface Work {
    void run() throws JMSException, InterruptedException;
  }
}
