package io.lightmq.tck.faults;

import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The sending workers of a load. */
final class Producers {

  private static final int MIN_BYTES = 16;
  private static final int SPREAD_BYTES = 2_000;

  private Producers() {}

  /** Sizes vary with the number, so that records end at many different places of a block. */
  static BytesMessage message(Session session, Stamp stamp) throws JMSException {
    int bytes = MIN_BYTES + Math.floorMod(stamp.number() * 7919, SPREAD_BYTES);
    BytesMessage message = session.createBytesMessage();
    message.writeBytes(Payload.of(stamp, bytes));
    return message;
  }

  /** Sends one persistent message after the other and waits for each. */
  static final class Synchronous extends Worker {
    private final SendLog log;
    private final Session session;
    private final MessageProducer producer;

    Synchronous(ConnectionFactory factory, boolean topic, SendLog log, Gate gate, EventLog events)
        throws JMSException {
      super("sync-" + log.stream(), factory, null, gate, events);
      this.log = log;
      session = connection().createSession(false, Session.AUTO_ACKNOWLEDGE);
      Destination destination =
          topic ? session.createTopic(log.target()) : session.createQueue(log.target());
      producer = session.createProducer(destination);
    }

    @Override
    void work() throws JMSException {
      Stamp stamp = log.next();
      try {
        producer.send(message(session, stamp));
        log.confirmed(stamp);
      } catch (JMSException e) {
        log.unknown(stamp);
        throw e;
      }
    }
  }

  /** Keeps many sends in flight. */
  static final class Asynchronous extends Worker {
    private static final long RECEIPT_LIMIT_SECONDS = 90;

    private final SendLog log;
    private final Session session;
    private final MessageProducer producer;
    private final Semaphore window;

    Asynchronous(ConnectionFactory factory, int inFlight, SendLog log, Gate gate, EventLog events)
        throws JMSException {
      super("async-" + log.stream(), factory, null, gate, events);
      this.log = log;
      window = new Semaphore(inFlight);
      session = connection().createSession(false, Session.AUTO_ACKNOWLEDGE);
      producer = session.createProducer(session.createQueue(log.target()));
    }

    @Override
    void work() throws JMSException, InterruptedException {
      if (!window.tryAcquire(RECEIPT_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new JMSException("no receipt for " + RECEIPT_LIMIT_SECONDS + " s");
      }
      Stamp stamp = log.next();
      try {
        producer.send(message(session, stamp), new Receipt(stamp));
      } catch (JMSException e) {
        log.unknown(stamp);
        window.release();
        throw e;
      }
    }

    /** The end of one asynchronous send. */
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
        events().note("%s: send of %s failed: %s", getName(), stamp, exception);
        log.unknown(stamp);
        window.release();
      }
    }
  }

  /** Sends in transactions and rolls back every fourth. */
  static final class Transacted extends Worker {
    private final SendLog log;
    private final Session session;
    private final MessageProducer producer;
    private int transactions;

    Transacted(ConnectionFactory factory, SendLog log, Gate gate, EventLog events)
        throws JMSException {
      super("transacted-" + log.stream(), factory, null, gate, events);
      this.log = log;
      session = connection().createSession(true, Session.SESSION_TRANSACTED);
      producer = session.createProducer(session.createQueue(log.target()));
    }

    @Override
    void work() throws JMSException {
      List<Stamp> stamps = new ArrayList<>();
      for (int i = 0; i < log.transaction(); i++) {
        stamps.add(log.next());
      }
      transactions++;
      try {
        for (Stamp stamp : stamps) {
          producer.send(message(session, stamp));
        }
        if (transactions % 4 == 0) {
          session.rollback();
          stamps.forEach(log::rolledBack);
        } else {
          session.commit();
          stamps.forEach(log::confirmed);
        }
      } catch (TransactionRolledBackException e) {
        stamps.forEach(log::rolledBack);
        throw e;
      } catch (JMSException e) {
        stamps.forEach(log::unknown);
        throw e;
      }
    }
  }
}
