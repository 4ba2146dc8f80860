package io.lightmq.tck.faults;

import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Sends and drains many messages of one size, with every one of them in the logs. */
final class Bulk {

  private static final int IN_FLIGHT = 2_000;
  private static final long RECEIPT_LIMIT_SECONDS = 60;
  private static final long RECEIVE_MILLIS = 5_000;

  private Bulk() {}

  /** Sends so many persistent messages to a queue and waits for all receipts. */
  static void send(Connection connection, SendLog log, int count, int bytes)
      throws JMSException, InterruptedException, HarnessException {
    send(connection, log, count, bytes, DeliveryMode.PERSISTENT);
  }

  /** Sends so many messages to a queue and waits for all receipts. */
  static void send(Connection connection, SendLog log, int count, int bytes, int deliveryMode)
      throws JMSException, InterruptedException, HarnessException {
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      Sending sending = new Sending(session, log, bytes);
      sending.producer.setDeliveryMode(deliveryMode);
      for (int i = 0; i < count; i++) {
        sending.sendOne();
      }
      sending.awaitReceipts();
    }
  }

  /** Sends until the time is over; returns when every send has its answer. */
  static void flood(Connection connection, SendLog log, long untilNanos, int bytes)
      throws JMSException, InterruptedException, HarnessException {
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      Sending sending = new Sending(session, log, bytes);
      while (System.nanoTime() < untilNanos) {
        sending.sendOne();
      }
      sending.awaitReceipts();
    }
  }

  /** Receives until so many messages came, then asks whether there is one too many. */
  static void drain(Connection connection, DeliveryLog log, long wanted) throws JMSException {
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue(log.target()))) {
      long got = 0;
      Message message = consumer.receive(RECEIVE_MILLIS);
      while (message != null) {
        Consumers.log("drain", message, log);
        got++;
        message = got < wanted ? consumer.receive(RECEIVE_MILLIS) : consumer.receiveNoWait();
      }
    }
  }

  /** A session with its bound of sends in flight. */
  private static final class Sending {
    private final Session session;
    private final MessageProducer producer;
    private final SendLog log;
    private final int bytes;
    private final Semaphore window = new Semaphore(IN_FLIGHT);
    private volatile @Nullable Exception failure;

    private Sending(Session session, SendLog log, int bytes) throws JMSException {
      this.session = session;
      this.log = log;
      this.bytes = bytes;
      producer = session.createProducer(session.createQueue(log.target()));
    }

    private void sendOne() throws JMSException, InterruptedException, HarnessException {
      acquire(1);
      Stamp stamp = log.next();
      BytesMessage message = session.createBytesMessage();
      message.writeBytes(Payload.of(stamp, bytes));
      producer.send(message, new Receipt(stamp));
    }

    private void awaitReceipts() throws InterruptedException, HarnessException {
      acquire(IN_FLIGHT);
    }

    private void acquire(int permits) throws InterruptedException, HarnessException {
      Exception failed = failure;
      if (failed != null) {
        throw new HarnessException("a send to " + log.target() + " failed: " + failed, failed);
      }
      if (!window.tryAcquire(permits, RECEIPT_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new HarnessException(
            "no receipt from %s for %d s, %,d sends are open"
                .formatted(log.target(), RECEIPT_LIMIT_SECONDS, log.open()));
      }
    }

    /** The end of one send. */
    private final class Receipt implements CompletionListener {
      private final Stamp stamp;

      private Receipt(Stamp stamp) {
        this.stamp = stamp;
      }

      @Override
      public void onCompletion(Message message) {
        log.confirmed(stamp);
        window.release();
      }

      @Override
      public void onException(Message message, Exception exception) {
        log.unknown(stamp);
        failure = exception;
        window.release();
      }
    }
  }
}
