package io.lightmq.samples.bench;

import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Persistent messages of 1 KiB a second through one queue, by the Jakarta Messaging API alone. */
final class Throughput {

  private static final int BYTES = 1_024;
  private static final int IN_FLIGHT = 1_000;
  private static final long DRAIN_LIMIT_MILLIS = 60_000;

  private final ConnectionFactory factory;
  private final Queue queue;
  private final long millis;
  private final AtomicLong confirmed = new AtomicLong();
  private final AtomicLong consumed = new AtomicLong();
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private volatile boolean over;

  Throughput(ConnectionFactory factory, Queue queue, long millis) {
    this.factory = factory;
    this.queue = queue;
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

  private double measure(List<Thread> threads) throws JMSException, InterruptedException {
    threads.forEach(Thread::start);
    Thread.sleep(millis / 5);
    long confirmedBefore = confirmed.get();
    long consumedBefore = consumed.get();
    long beganNanos = System.nanoTime();
    Thread.sleep(millis);
    long sent = confirmed.get() - confirmedBefore;
    long received = consumed.get() - consumedBefore;
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
    while (consumed.get() < confirmed.get()) {
      if (System.nanoTime() > deadline) {
        throw new JMSException(
            "%,d of %,d messages did not come"
                .formatted(confirmed.get() - consumed.get(), confirmed.get()));
      }
      Thread.sleep(10);
    }
  }

  private Connection consumer() throws JMSException {
    Connection connection = factory.createConnection();
    Session session = connection.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
    session.createConsumer(queue).setMessageListener(message -> consumed.incrementAndGet());
    connection.start();
    return connection;
  }

  private void sendAndWait(Connection connection) throws JMSException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    MessageProducer producer = session.createProducer(queue);
    while (!over) {
      producer.send(message(session));
      confirmed.incrementAndGet();
    }
  }

  private void sendInFlight(Connection connection) throws JMSException, InterruptedException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    MessageProducer producer = session.createProducer(queue);
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
