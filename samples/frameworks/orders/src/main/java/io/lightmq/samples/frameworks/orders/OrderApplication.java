package io.lightmq.samples.frameworks.orders;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.XAConnectionFactory;
import jakarta.transaction.RollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionManager;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.XADataSource;

/**
 * The application, in a process of its own that may be killed at any time: takes an order from a
 * queue, makes a row of it and sends a message, all three in one distributed transaction. Says on
 * its output which orders it has committed; ends when its input does.
 */
public final class OrderApplication {
  static final String IN = "orders.in";
  static final String OUT = "orders.out";
  static final String NUMBER = "number";
  static final String CONFIRMED = "confirmed ";
  private static final long RECEIVE_MILLIS = 500;
  private static final long PAUSE_MILLIS = 200;

  private final Stack stack;
  private final AtomicInteger worked = new AtomicInteger();

  private OrderApplication(Stack stack) {
    this.stack = stack;
  }

  /** Runs it; {@link ApplicationProcess} sets the properties. */
  public static void run(Stack.Maker maker) throws Exception {
    XAConnectionFactory messages = new LightmqConnectionFactory(property("uri"));
    XADataSource database = Database.of(property("database"));
    String stop = System.getProperty("orders.stop", "");
    if (!stop.isEmpty()) {
      StopPoint point = new StopPoint(stop);
      messages = point.in("messages", XAConnectionFactory.class, messages);
      database = point.in("database", XADataSource.class, database);
    }
    int threads = Integer.getInteger("orders.threads", 1);
    Stack stack =
        maker.make(new Stack.Parts(messages, database, Path.of(property("log")), threads));
    OrderApplication application = new OrderApplication(stack);
    System.out.println("started");
    for (int i = 0; i < threads; i++) {
      new Thread(application::work, "orders-" + i).start();
    }
    if (stop.isEmpty()) {
      awaitEndOfInput();
      Runtime.getRuntime().halt(0);
    }
  }

  private static String property(String name) {
    String value = System.getProperty("orders." + name);
    if (value == null) {
      throw new IllegalArgumentException("the property orders." + name + " is missing");
    }
    return value;
  }

  private static void awaitEndOfInput() throws IOException {
    while (System.in.read() >= 0) {
      // Whoever has started it is alive.
    }
  }

  private void work() {
    while (true) {
      try (Stack.Desk desk = stack.open()) {
        while (true) {
          workOnce(desk);
        }
      } catch (Exception e) {
        System.out.println("opens everything again: " + e);
      }
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void workOnce(Stack.Desk desk) throws Exception {
    TransactionManager manager = stack.manager();
    manager.begin();
    try {
      String order = System.getProperty("orders.first", "");
      boolean databaseFirst =
          order.isEmpty() ? worked.incrementAndGet() % 2 == 0 : order.equals("database");
      desk.begun(databaseFirst);
      Message message = desk.consumer().receive(RECEIVE_MILLIS);
      if (message != null) {
        int number = message.getIntProperty(NUMBER);
        if (databaseFirst) {
          insert(desk.database(), number);
        }
        send(desk, number);
        if (!databaseFirst) {
          insert(desk.database(), number);
        }
        desk.ended();
        manager.commit();
        System.out.println(CONFIRMED + number);
      }
    } catch (RollbackException e) {
      System.out.println("rolled back, and comes again: " + e);
    } finally {
      if (manager.getStatus() != Status.STATUS_NO_TRANSACTION) {
        manager.rollback();
      }
    }
  }

  private static void insert(Connection database, int number) throws Exception {
    try (PreparedStatement insert =
        database.prepareStatement("insert into orders (number) values (?)")) {
      insert.setInt(1, number);
      insert.executeUpdate();
    }
  }

  private static void send(Stack.Desk desk, int number) throws Exception {
    try (MessageProducer producer =
        desk.session().createProducer(desk.session().createQueue(OUT))) {
      Message message = desk.session().createTextMessage("order " + number);
      message.setIntProperty(NUMBER, number);
      producer.send(message);
    }
  }
}
