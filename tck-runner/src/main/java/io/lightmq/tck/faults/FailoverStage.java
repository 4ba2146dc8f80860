package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnection;
import jakarta.jms.CompletionListener;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A consumer of the pipeline: takes inputs, sends an output for each, and commits both at once, up
 * to {@value #MOST_INPUTS} in a transaction. When it does not know what became of one it goes on:
 * if it was not committed its inputs come again.
 */
final class FailoverStage {
  private static final int MOST_INPUTS = 5;
  private static final long RECEIVE_MILLIS = 500;

  private final LightmqConnection connection;
  private final FailoverTimes times;
  private final boolean asynchronous;
  private final AtomicInteger committed = new AtomicInteger();
  private final AtomicInteger rolledBack = new AtomicInteger();
  private final AtomicInteger unknown = new AtomicInteger();
  private final AtomicInteger otherwise = new AtomicInteger();
  private final Thread thread;
  private volatile boolean over;
  private volatile @Nullable Throwable death;

  FailoverStage(LightmqConnection connection, FailoverTimes times, boolean asynchronous) {
    this.connection = connection;
    this.times = times;
    this.asynchronous = asynchronous;
    thread = new Thread(this::run, "failover-stage");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  int rolledBack() {
    return rolledBack.get();
  }

  int unknown() {
    return unknown.get();
  }

  int otherwise() {
    return otherwise.get();
  }

  int committed() {
    return committed.get();
  }

  void finish(long limitMillis) throws InterruptedException, HarnessException {
    over = true;
    thread.join(limitMillis);
    Throwable died = death;
    if (died != null) {
      throw new HarnessException("a stage died: " + died, died);
    }
    if (thread.isAlive()) {
      throw new HarnessException("a stage has not ended within " + limitMillis + " ms");
    }
  }

  private void run() {
    try {
      Session session = connection.createSession(Session.SESSION_TRANSACTED);
      MessageConsumer consumer = session.createConsumer(session.createQueue(FailoverRounds.IN));
      MessageProducer producer = session.createProducer(session.createQueue(FailoverRounds.OUT));
      while (!over) {
        try {
          transaction(session, consumer, producer);
        } catch (TransactionRolledBackException e) {
          rolledBack.incrementAndGet();
        } catch (JMSException e) {
          (String.valueOf(e.getErrorCode()).equals("LMQ-33") ? unknown : otherwise)
              .incrementAndGet();
          rollBack(session);
        }
      }
    } catch (JMSException | RuntimeException | Error e) {
      death = e;
    }
  }

  private void transaction(Session session, MessageConsumer consumer, MessageProducer producer)
      throws JMSException {
    Message input = consumer.receive(RECEIVE_MILLIS);
    int inputs = 0;
    while (input != null && inputs < MOST_INPUTS) {
      inputs++;
      Message output = session.createMessage();
      for (String name : new String[] {FailoverSource.KEY, FailoverSource.NUMBER}) {
        output.setIntProperty(name, input.getIntProperty(name));
      }
      if (asynchronous) {
        producer.send(output, Ignored.INSTANCE);
      } else {
        producer.send(output);
      }
      input = inputs < MOST_INPUTS ? consumer.receiveNoWait() : null;
    }
    if (inputs > 0) {
      session.commit();
      committed.addAndGet(inputs);
      times.committed();
    }
  }

  /** A roll back may fail as a commit does; then the connection's loss has done it. */
  private void rollBack(Session session) {
    try {
      session.rollback();
    } catch (JMSException e) {
      otherwise.incrementAndGet();
    }
  }

  /** What becomes of a send within a transaction is told by the commit. */
  private enum Ignored implements CompletionListener {
    INSTANCE;

    @Override
    public void onCompletion(Message message) {}

    @Override
    public void onException(Message message, Exception exception) {}
  }
}
