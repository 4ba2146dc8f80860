package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One consumer of the queue with groups, on a connection of its own, from its coming to its going:
 * it listens, acknowledges or commits, rolls back some, and then closes or has its line cut.
 */
final class GroupConsumer {
  /** What all of them have done together. */
  static final class Totals {
    int listened;
    int acknowledged;
    int committed;
    int rolledBack;
    int closed;
    int cut;

    synchronized void add(Totals more) {
      listened += more.listened;
      acknowledged += more.acknowledged;
      committed += more.committed;
      rolledBack += more.rolledBack;
      closed += more.closed;
      cut += more.cut;
    }
  }

  private static final long RECEIVE_MILLIS = 100;
  private static final int MOST_TOGETHER = 30;

  private final BrokerSetup setup;
  private final String queue;
  private final GroupLedger ledger;
  private final int id;
  private final Random random;
  private final Totals totals = new Totals();

  /** What it has in hand: by key the highest count. */
  private final Map<Integer, Integer> held = new HashMap<>();

  /** What it would give back: by key the lowest count since it last settled. */
  private final Map<Integer, Integer> lowest = new HashMap<>();

  private volatile boolean dying;

  GroupConsumer(BrokerSetup setup, String queue, GroupLedger ledger, int id, long seed) {
    this.setup = setup;
    this.queue = queue;
    this.ledger = ledger;
    this.id = id;
    this.random = new Random(seed);
  }

  /** Lives for a while. */
  Totals live(long lifeMillis, boolean mayBeCut)
      throws IOException, JMSException, InterruptedException {
    boolean cuts = mayBeCut && random.nextInt(3) == 0;
    int mode =
        switch (random.nextInt(3)) {
          case 0 -> Session.AUTO_ACKNOWLEDGE;
          case 1 -> Session.CLIENT_ACKNOWLEDGE;
          default -> Session.SESSION_TRANSACTED;
        };
    try (CutLine line = new CutLine(setup.port())) {
      String uri = "lightmq://127.0.0.1:" + line.port() + "?failover=false&prefetchMessages=100";
      Connection connection = new LightmqConnectionFactory(uri).createConnection();
      connection.setExceptionListener(e -> {}); // its line is cut
      try {
        Session session = connection.createSession(mode == Session.SESSION_TRANSACTED, mode);
        MessageConsumer consumer = session.createConsumer(session.createQueue(queue));
        if (mode == Session.AUTO_ACKNOWLEDGE) {
          listen(connection, consumer, lifeMillis, cuts ? line : null);
        } else {
          receive(connection, session, consumer, lifeMillis);
          if (cuts) {
            ledger.released(id, held);
            line.cut();
          }
        }
        ledger.released(id, held);
      } finally {
        close(connection, cuts);
      }
    }
    totals.cut = cuts ? 1 : 0;
    totals.closed = cuts ? 0 : 1;
    return totals;
  }

  private static void close(Connection connection, boolean isCut) throws JMSException {
    try {
      connection.close();
    } catch (JMSException e) {
      if (!isCut) {
        throw e;
      }
    }
  }

  private void process(Message message) throws JMSException, InterruptedException {
    int key = message.getIntProperty("key");
    int count = message.getIntProperty("n");
    ledger.begun(id, key, count, message.getJMSRedelivered());
    held.put(key, count);
    lowest.merge(key, count, Math::min);
    if (random.nextInt(500) == 0) {
      Thread.sleep(2);
    }
  }

  private void listen(
      Connection connection, MessageConsumer consumer, long lifeMillis, @Nullable CutLine line)
      throws JMSException, InterruptedException {
    CountDownLatch cut = new CountDownLatch(1);
    consumer.setMessageListener(
        message -> {
          try {
            if (dying) {
              cut.await(); // it is cut off and never does anything with this one
              return;
            }
            process(message);
            totals.listened++;
          } catch (JMSException | InterruptedException e) {
            throw new IllegalStateException(e);
          } finally {
            ledger.released(id, held);
            held.clear();
            lowest.clear();
          }
        });
    connection.start();
    Thread.sleep(lifeMillis);
    if (line != null) {
      dying = true;
      Thread.sleep(20);
      line.cut();
    }
    cut.countDown();
  }

  private void receive(
      Connection connection, Session session, MessageConsumer consumer, long lifeMillis)
      throws JMSException, InterruptedException {
    connection.start();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lifeMillis);
    while (System.nanoTime() < end) {
      Message last = null;
      for (int left = 1 + random.nextInt(MOST_TOGETHER); left > 0; left--) {
        Message message = consumer.receive(RECEIVE_MILLIS);
        if (message == null) {
          break;
        }
        process(message);
        last = message;
      }
      if (last != null && random.nextInt(20) > 0) {
        settle(session, last);
      } // else the next round has more in hand
    }
  }

  private void settle(Session session, Message last) throws JMSException {
    Map<Integer, Integer> done = Map.copyOf(held);
    boolean transacted = session.getTransacted();
    boolean back = transacted && random.nextInt(5) == 0;
    // What is confirmed must be noted before anybody else can get what comes behind it.
    if (back) {
      ledger.givenBack(lowest);
    }
    ledger.released(id, done);
    held.clear();
    lowest.clear();
    if (back) {
      session.rollback();
      totals.rolledBack++;
      return;
    }
    if (transacted) {
      session.commit();
      totals.committed++;
    } else {
      last.acknowledge();
      totals.acknowledged++;
    }
    ledger.confirmed(done);
  }
}
