package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;

/**
 * A client process that receives messages, says so, and acknowledges them when it is told to on its
 * standard input. Arguments: URI, queue, number of messages.
 */
public final class HoldingClient {

  /** Said when all messages are in hand. */
  static final String HOLDING = "HOLDING";

  /** Said when the acknowledgement was accepted. */
  static final String ACCEPTED = "ACCEPTED";

  /** Said, with the error, when the acknowledgement was refused. */
  static final String REFUSED = "REFUSED";

  private static final long RECEIVE_MILLIS = 10_000;

  private HoldingClient() {}

  public static void main(String[] arguments) throws JMSException, IOException {
    Usage.of("usage: HoldingClient URI QUEUE MESSAGES   holds messages that it has received", 3)
        .check(arguments);
    int wanted = Integer.parseInt(arguments[2]);
    Connection connection = new LightmqConnectionFactory(arguments[0]).createConnection();
    connection.start();
    Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
    MessageConsumer consumer = session.createConsumer(session.createQueue(arguments[1]));
    Message last = null;
    for (int i = 0; i < wanted; i++) {
      last = consumer.receive(RECEIVE_MILLIS);
      if (last == null) {
        throw new JMSException("message " + (i + 1) + " of " + wanted + " did not come");
      }
    }
    System.out.println(HOLDING + " " + wanted);
    while (System.in.read() != '\n') {
      // Waits for the word of the parent.
    }
    try {
      if (last != null) {
        last.acknowledge();
      }
      System.out.println(ACCEPTED);
    } catch (JMSException e) {
      System.out.println(REFUSED + " " + e.getErrorCode() + " " + e.getMessage());
    }
    System.out.flush();
    System.exit(0);
  }
}
