package io.lightmq.samples.frameworks.orders;

import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.XAConnectionFactory;
import jakarta.transaction.TransactionManager;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.XADataSource;

/** A transaction manager as an application sets it up, with our broker and a database. */
public interface Stack extends AutoCloseable {

  /** What it is made of. */
  record Parts(XAConnectionFactory messages, XADataSource database, Path log, int threads) {}

  /** Makes one, whose own recovery runs from then on. */
  interface Maker {
    Stack make(Parts parts) throws Exception;
  }

  TransactionManager manager();

  /** A thread's way to both resources; closed and opened again after a failure. */
  Desk open() throws Exception;

  /** What one thread works with. */
  interface Desk extends AutoCloseable {
    /**
     * The transaction of this thread has begun, and both resources take part in it.
     *
     * @param databaseFirst in which order they come, and so in which they are committed
     */
    void begun(boolean databaseFirst) throws Exception;

    Session session() throws JMSException;

    MessageConsumer consumer() throws JMSException;

    Connection database() throws SQLException;

    /** The transaction has ended. */
    void ended() throws Exception;
  }
}
