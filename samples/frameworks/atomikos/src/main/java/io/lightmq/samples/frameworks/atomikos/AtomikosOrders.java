package io.lightmq.samples.frameworks.atomikos;

import com.atomikos.icatch.config.UserTransactionServiceImp;
import com.atomikos.icatch.jta.UserTransactionManager;
import com.atomikos.jdbc.AtomikosDataSourceBean;
import com.atomikos.jms.AtomikosConnectionFactoryBean;
import io.lightmq.samples.frameworks.orders.Orders;
import io.lightmq.samples.frameworks.orders.Stack;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.transaction.TransactionManager;
import java.sql.Connection;
import java.util.Properties;

/** Atomikos as an application sets it up: both resources by its pools, which enlist them. */
public final class AtomikosOrders implements Stack {
  private final UserTransactionServiceImp service;
  private final UserTransactionManager manager;
  private final AtomikosConnectionFactoryBean messages;
  private final AtomikosDataSourceBean database;

  private AtomikosOrders(Parts parts) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("com.atomikos.icatch.log_base_dir", folder(parts));
    // Unique among all that use one broker or database: recovery touches no other's branches.
    properties.setProperty("com.atomikos.icatch.tm_unique_name", "orders1");
    properties.setProperty("com.atomikos.icatch.default_jta_timeout", "15000");
    // A branch without a record in the log is rolled back when it is older than any transaction.
    properties.setProperty("com.atomikos.icatch.max_timeout", "15000");
    properties.setProperty("com.atomikos.icatch.recovery_delay", "1000");
    properties.setProperty("com.atomikos.icatch.oltp_retry_interval", "1000");
    // A crash must leave nothing behind that waits for an orderly end.
    properties.setProperty("com.atomikos.icatch.force_shutdown_on_vm_exit", "false");
    service = new UserTransactionServiceImp(properties);
    messages = new AtomikosConnectionFactoryBean();
    messages.setUniqueResourceName("broker");
    messages.setXaConnectionFactory(parts.messages());
    messages.setPoolSize(parts.threads() + 1);
    messages.setIgnoreSessionTransactedFlag(true);
    database = new AtomikosDataSourceBean();
    database.setUniqueResourceName("database");
    database.setXaDataSource(parts.database());
    database.setPoolSize(parts.threads() + 1);
    database.setTestQuery("select 1");
    messages.init();
    database.init();
    service.init();
    manager = new UserTransactionManager();
    manager.setStartupTransactionService(false);
    manager.init();
  }

  private static String folder(Parts parts) throws java.io.IOException {
    java.nio.file.Files.createDirectories(parts.log());
    return parts.log().toString();
  }

  @Override
  public TransactionManager manager() {
    return manager;
  }

  @Override
  public Desk open() {
    return new AtomikosDesk();
  }

  /** Borrows everything for each transaction, which is what the pools are for. */
  private final class AtomikosDesk implements Desk {
    private jakarta.jms.Connection broker;
    private Session session;
    private MessageConsumer consumer;
    private Connection connection;

    @Override
    public void begun(boolean databaseFirst) throws Exception {
      giveBack();
      if (databaseFirst) {
        connection = database.getConnection();
        connection.prepareStatement("select 1").close();
      }
      broker = messages.createConnection();
      broker.start();
      session = broker.createSession(true, Session.SESSION_TRANSACTED);
      consumer = session.createConsumer(session.createQueue("orders.in"));
      if (!databaseFirst) {
        connection = database.getConnection();
      }
    }

    @Override
    public Session session() {
      return session;
    }

    @Override
    public MessageConsumer consumer() {
      return consumer;
    }

    @Override
    public Connection database() {
      return connection;
    }

    @Override
    public void ended() throws Exception {
      giveBack();
    }

    private void giveBack() throws Exception {
      try {
        if (consumer != null) {
          consumer.close();
        }
        if (session != null) {
          session.close();
        }
      } finally {
        if (broker != null) {
          broker.close();
        }
        if (connection != null) {
          connection.close();
        }
        consumer = null;
        session = null;
        broker = null;
        connection = null;
      }
    }

    @Override
    public void close() throws Exception {
      giveBack();
    }
  }

  @Override
  public void close() {
    service.shutdown(true);
    messages.close();
    database.close();
  }

  public static void main(String[] arguments) throws Exception {
    Orders.main(AtomikosOrders.class, arguments, AtomikosOrders::new);
  }
}
