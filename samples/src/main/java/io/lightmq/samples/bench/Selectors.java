package io.lightmq.samples.bench;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What selectors cost on queues: one match found behind a long backlog by a late consumer, and the
 * rate of request and reply when all replies go to one queue and each client takes its own by
 * JMSCorrelationID, on an empty queue and beside orphaned replies.
 *
 * <p>Arguments: {@code URI backlog MESSAGES} or {@code URI replies CLIENTS ORPHANS SECONDS}. Exit
 * code 1 if it takes more than 5 s, or the rate falls below 0.8 of that on the empty queue.
 */
public final class Selectors {
  private static final int BODY_BYTES = 1_024;
  private static final int AHEAD = 2_000;
  private static final double LIMIT_SECONDS = 5;
  private static final double LEAST_RATIO = 0.8;

  private final LightmqConnectionFactory factory;

  private Selectors(LightmqConnectionFactory factory) {
    this.factory = factory;
  }

  private static final String USE =
      "usage: Selectors URI backlog MESSAGES, or URI replies CLIENTS ORPHANS SECONDS";

  public static void main(String[] arguments) throws JMSException, InterruptedException {
    String[] given = Usage.of(USE, 3).check(arguments);
    Selectors bench = new Selectors(new LightmqConnectionFactory(given[0]));
    boolean kept =
        given[1].equals("backlog")
            ? bench.backlog(Integer.parseInt(given[2])) <= LIMIT_SECONDS
            : bench.replies(
                    Integer.parseInt(given[2]),
                    Integer.parseInt(given[3]),
                    Long.parseLong(given[4]))
                >= LEAST_RATIO;
    System.out.flush();
    System.exit(kept ? 0 : 1);
  }

  // ---- one match in a backlog ----

  private double backlog(int messages) throws JMSException, InterruptedException {
    try (Connection connection = factory.createConnection()) {
      connection.start();
      Session session = connection.createSession();
      Queue queue = session.createQueue("selectors.backlog." + UUID.randomUUID());
      long filling = System.nanoTime();
      fill(session, queue, messages, messages - messages / 10);
      System.out.printf(
          "%,d messages of %d bytes sent in %.1f s%n",
          messages, BODY_BYTES, seconds(System.nanoTime() - filling));
      double taken = find(session, queue, "rare = 1");
      for (int i = 1; i <= 3; i++) {
        find(session, queue, "JMSCorrelationID = 'orphan-" + (messages / 4 * i) + "'");
      }
      return taken;
    }
  }

  private static double find(Session session, Queue queue, String selector) throws JMSException {
    long begin = System.nanoTime();
    try (MessageConsumer consumer = session.createConsumer(queue, selector)) {
      Message found = consumer.receive(300_000);
      double taken = seconds(System.nanoTime() - begin);
      System.out.printf(
          "%s %s after %.3f s%n", selector, found == null ? "NOT found" : "found", taken);
      return found == null ? Double.MAX_VALUE : taken;
    }
  }

  private static void fill(Session session, Queue queue, int messages, int rareAt)
      throws JMSException, InterruptedException {
    MessageProducer producer = session.createProducer(queue);
    byte[] body = new byte[BODY_BYTES];
    Semaphore ahead = new Semaphore(AHEAD);
    AtomicLong failed = new AtomicLong();
    for (int i = 0; i < messages; i++) {
      var message = session.createBytesMessage();
      message.writeBytes(body);
      message.setIntProperty("rare", i == rareAt ? 1 : 0);
      message.setIntProperty("number", i);
      message.setJMSCorrelationID("orphan-" + i);
      ahead.acquire();
      producer.send(
          message,
          new CompletionListener() {
            @Override
            public void onCompletion(Message sent) {
              ahead.release();
            }

            @Override
            public void onException(Message sent, Exception exception) {
              failed.incrementAndGet();
              ahead.release();
            }
          });
    }
    ahead.acquire(AHEAD);
    if (failed.get() > 0) {
      throw new JMSException(failed + " of " + messages + " sends failed");
    }
  }

  // ---- request and reply ----

  private double replies(int clients, int orphans, long seconds)
      throws JMSException, InterruptedException {
    rate(clients, 0, Math.max(1, seconds / 2)); // warms up
    double empty = rate(clients, 0, seconds);
    double beside = rate(clients, orphans, seconds);
    System.out.printf(
        "%d clients: %.0f/s on an empty queue, %.0f/s beside %,d orphans: %.2f%n",
        clients, empty, beside, orphans, beside / empty);
    return beside / empty;
  }

  /** Requests a second that got their replies. */
  private double rate(int clients, int orphans, long seconds)
      throws JMSException, InterruptedException {
    String name = UUID.randomUUID().toString();
    try (Connection connection = factory.createConnection()) {
      connection.start();
      Session session = connection.createSession();
      Queue replies = session.createQueue("selectors.replies." + name);
      Queue requests = session.createQueue("selectors.requests." + name);
      fill(session, replies, orphans, -1);
      serve(connection, requests, replies);
      AtomicLong done = new AtomicLong();
      long end = System.nanoTime() + seconds * 1_000_000_000L;
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        Session own = connection.createSession();
        Thread thread = new Thread(() -> ask(own, requests, replies, end, done), "client-" + i);
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      return (double) done.get() / seconds;
    }
  }

  private void serve(Connection connection, Queue requests, Queue replies) throws JMSException {
    for (int i = 0; i < 4; i++) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(replies);
      producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
      session
          .createConsumer(requests)
          .setMessageListener(
              request -> {
                try {
                  Message reply = session.createTextMessage("reply");
                  reply.setJMSCorrelationID(request.getJMSCorrelationID());
                  producer.send(reply);
                } catch (JMSException e) {
                  System.err.println("a request has no reply: " + e);
                }
              });
    }
  }

  private static void ask(
      Session session, Queue requests, Queue replies, long end, AtomicLong done) {
    try {
      MessageProducer producer = session.createProducer(requests);
      producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
      while (System.nanoTime() < end) {
        String id = UUID.randomUUID().toString();
        try (MessageConsumer consumer =
            session.createConsumer(replies, "JMSCorrelationID = '" + id + "'")) {
          Message request = session.createTextMessage("request");
          request.setJMSCorrelationID(id);
          producer.send(request);
          if (consumer.receive(30_000) == null) {
            throw new JMSException("no reply to " + id);
          }
          done.incrementAndGet();
        }
      }
    } catch (JMSException e) {
      System.err.println("a client ends: " + e);
    }
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
