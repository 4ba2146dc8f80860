package io.lightmq.samples.frameworks.orders;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSProducer;
import jakarta.jms.Message;
import jakarta.jms.QueueBrowser;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import javax.sql.XAConnection;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;

/** What is in the database and in the queues, and what is in doubt at either. */
final class Books {
  private static final int FEW = 100;

  private final LightmqConnectionFactory broker;
  private final Database database;

  Books(String uri, Database database) {
    this.broker = new LightmqConnectionFactory(uri + "?initialReconnectAttempts=100");
    this.database = database;
  }

  void makeTable() throws SQLException {
    onDatabase(
        statement -> {
          statement.execute("create table orders (number int not null)");
          return 0;
        });
  }

  /** Puts these orders into the queue. */
  void order(int from, int to) {
    try (JMSContext context = broker.createContext(JMSContext.SESSION_TRANSACTED)) {
      JMSProducer producer = context.createProducer();
      for (int number = from; number < to; number++) {
        Message message = context.createTextMessage("order " + number);
        set(message, number);
        producer.send(context.createQueue(OrderApplication.IN), message);
        if ((number - from) % FEW == FEW - 1) {
          context.commit();
        }
      }
      context.commit();
    }
  }

  private static void set(Message message, int number) {
    try {
      message.setIntProperty(OrderApplication.NUMBER, number);
    } catch (jakarta.jms.JMSException e) {
      throw new IllegalStateException(e);
    }
  }

  private interface Query {
    int ask(Statement statement) throws SQLException;
  }

  private int onDatabase(Query query) throws SQLException {
    XAConnection way = database.source().getXAConnection();
    try (Connection connection = way.getConnection();
        Statement statement = connection.createStatement()) {
      return query.ask(statement);
    } finally {
      way.close();
    }
  }

  /** How many rows there are. */
  int rows() throws SQLException {
    return onDatabase(
        statement -> {
          try (ResultSet result = statement.executeQuery("select count(*) from orders")) {
            result.next();
            return result.getInt(1);
          }
        });
  }

  /** How often each number is in the table. */
  Map<Integer, Integer> numbersOfRows() throws SQLException {
    Map<Integer, Integer> found = new TreeMap<>();
    onDatabase(
        statement -> {
          try (ResultSet result = statement.executeQuery("select number from orders")) {
            while (result.next()) {
              found.merge(result.getInt(1), 1, Integer::sum);
            }
          }
          return 0;
        });
    return found;
  }

  /** How often each number is in a queue; takes them out. */
  Map<Integer, Integer> numbersOfMessages(String queue) throws jakarta.jms.JMSException {
    Map<Integer, Integer> found = new TreeMap<>();
    try (JMSContext context = broker.createContext();
        JMSConsumer consumer = context.createConsumer(context.createQueue(queue))) {
      for (Message next = consumer.receive(2_000); next != null; next = consumer.receive(1_000)) {
        found.merge(next.getIntProperty(OrderApplication.NUMBER), 1, Integer::sum);
      }
    }
    return found;
  }

  /** Whether a queue shows no message. */
  boolean isEmpty(String queue) throws jakarta.jms.JMSException {
    try (JMSContext context = broker.createContext();
        QueueBrowser browser = context.createBrowser(context.createQueue(queue))) {
      return !browser.getEnumeration().hasMoreElements();
    }
  }

  /** How many branches the broker has that are prepared, or decided by hand. */
  int inDoubtAtBroker() throws XAException {
    try (var context = broker.createXAContext()) {
      return inDoubt(context.getXAResource());
    }
  }

  /** How many the database has. */
  int inDoubtAtDatabase() throws SQLException, XAException {
    XAConnection way = database.source().getXAConnection();
    try {
      return inDoubt(way.getXAResource());
    } finally {
      way.close();
    }
  }

  private static int inDoubt(XAResource resource) throws XAException {
    return resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN).length;
  }

  /** What may fail as long as a server is starting. */
  interface Look {
    boolean isSo() throws Exception;
  }

  /** Waits until it is so, up to so many seconds. */
  static boolean await(int seconds, Look look) throws InterruptedException {
    long limitNanos = System.nanoTime() + seconds * 1_000_000_000L;
    while (true) {
      try {
        if (look.isSo()) {
          return true;
        }
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        // Looked at again.
      }
      if (System.nanoTime() - limitNanos > 0) {
        return false;
      }
      Thread.sleep(200);
    }
  }
}
