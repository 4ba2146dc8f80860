package io.lightmq.samples.frameworks;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.Restarts;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.messaginghub.pooled.jms.JmsPoolConnectionFactory;

/**
 * pooled-jms over restarts of the broker: each send borrows connection, session and producer and
 * gives them back; two consumers keep their session and move what they receive in transactions. A
 * transaction that a restart has hit is rolled back, and the loop takes its message again.
 */
public final class PooledRestarts implements Restarts.Application {
  private static final int CONSUMERS = 2;

  private final JmsPoolConnectionFactory pool = new JmsPoolConnectionFactory();
  private final List<Thread> consumers = new ArrayList<>();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger rolledBack = new AtomicInteger();
  private volatile boolean over;

  private PooledRestarts(String uri) {
    // The pool may make a connection while the broker is away, and that is a first connect.
    pool.setConnectionFactory(new LightmqConnectionFactory(uri + "?initialReconnectAttempts=60"));
    pool.setMaxConnections(2);
    pool.start();
    for (int i = 0; i < CONSUMERS; i++) {
      Thread consumer = new Thread(this::consume, "pooled-consumer-" + i);
      consumer.start();
      consumers.add(consumer);
    }
  }

  @Override
  public void send(int number) throws JMSException {
    try (Connection connection = pool.createConnection();
        Session session = connection.createSession();
        MessageProducer producer = session.createProducer(session.createQueue(Restarts.IN))) {
      producer.send(message(session, number));
    }
  }

  private static Message message(Session session, int number) throws JMSException {
    Message message = session.createTextMessage("number " + number);
    message.setIntProperty(Restarts.NUMBER, number);
    return message;
  }

  /** Opens its session again only if one has failed for good, which a restart does not do. */
  private void consume() {
    while (!over) {
      try (Connection connection = pool.createConnection();
          Session session = connection.createSession(Session.SESSION_TRANSACTED);
          MessageConsumer consumer = session.createConsumer(session.createQueue(Restarts.IN));
          MessageProducer producer = session.createProducer(session.createQueue(Restarts.OUT))) {
        opened.incrementAndGet();
        connection.start();
        move(session, consumer, producer);
      } catch (JMSException e) {
        System.out.println("a consumer is opened again: " + e);
      }
    }
  }

  private void move(Session session, MessageConsumer consumer, MessageProducer producer)
      throws JMSException {
    while (!over) {
      Message message = consumer.receive(500);
      if (message == null) {
        continue;
      }
      producer.send(message(session, message.getIntProperty(Restarts.NUMBER)));
      try {
        session.commit();
      } catch (jakarta.jms.TransactionRolledBackException e) {
        rolledBack.incrementAndGet(); // its message comes again
      }
    }
  }

  @Override
  public String story() {
    return "%d consumers opened %d sessions; %d transactions rolled back; %d connections in the pool"
        .formatted(CONSUMERS, opened.get(), rolledBack.get(), pool.getNumConnections());
  }

  @Override
  public void close() throws InterruptedException {
    over = true;
    for (Thread consumer : consumers) {
      consumer.join();
    }
    pool.stop();
  }

  public static void main(String[] arguments) throws Exception {
    Restarts.main(arguments, PooledRestarts::new);
  }
}
