package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;

/**
 * A consumer process: moves messages from one queue to another in transactions, so that each is
 * either processed or not, whenever somebody kills it. Arguments: URI, from, to.
 */
public final class DuplicateMover {
  private static final int TOGETHER = 100;
  private static final long RECEIVE_MILLIS = 100;

  private DuplicateMover() {}

  public static void main(String[] arguments) throws JMSException {
    Usage.of("usage: DuplicateMover URI FROM TO   moves messages from queue to queue", 3)
        .check(arguments);
    Connection connection = new LightmqConnectionFactory(arguments[0]).createConnection();
    connection.start();
    Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
    MessageConsumer consumer = session.createConsumer(session.createQueue(arguments[1]));
    MessageProducer producer = session.createProducer(session.createQueue(arguments[2]));
    while (true) {
      try {
        Message message = consumer.receive(RECEIVE_MILLIS);
        for (int moved = 1; message != null; moved++) {
          producer.send(message);
          message = moved < TOGETHER ? consumer.receive(RECEIVE_MILLIS) : null;
        }
        session.commit();
      } catch (JMSException e) {
        // The broker was killed under it; what was not committed comes again.
        System.err.println("mover: " + e);
        session.rollback();
      }
    }
  }
}
