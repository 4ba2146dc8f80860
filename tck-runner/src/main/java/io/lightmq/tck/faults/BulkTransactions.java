package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * A client process with one transacted session, which is told on its standard input what to do: to
 * send or to receive so many messages, to commit, to roll back. It says how each ended, and on the
 * way how far it is. Arguments: URI, queue.
 */
public final class BulkTransactions {
  static final String NUMBER = "number";
  static final String READY = "ready";
  static final String DONE = "done ";
  static final String FAILED = "failed ";
  static final String SO_FAR = "so far ";

  static final String SEND = "send";
  static final String RECEIVE = "receive";
  static final String COMMIT = "commit";
  static final String ROLLBACK = "rollback";

  private static final int TELL = 10_000;
  private static final int BYTES = 1_024;
  private static final long RECEIVE_MILLIS = 60_000;

  private final Session session;
  private final String queue;

  private BulkTransactions(Session session, String queue) {
    this.session = session;
    this.queue = queue;
  }

  public static void main(String[] arguments) throws JMSException, IOException {
    Usage.of("usage: BulkTransactions URI QUEUE   does what it is told in one transaction", 2)
        .check(arguments);
    Connection connection = new LightmqConnectionFactory(arguments[0]).createConnection();
    connection.start();
    BulkTransactions client =
        new BulkTransactions(connection.createSession(Session.SESSION_TRANSACTED), arguments[1]);
    say(READY);
    BufferedReader told =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = told.readLine(); line != null; line = told.readLine()) {
      String[] words = line.split(" ", -1);
      try {
        say(DONE + client.obey(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0));
      } catch (JMSException e) {
        say(FAILED + e.getClass().getSimpleName() + " " + e.getErrorCode() + " " + e.getMessage());
      }
    }
    connection.close();
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private String obey(String verb, int count) throws JMSException {
    switch (verb) {
      case SEND -> send(count);
      case RECEIVE -> receive(count);
      case COMMIT -> session.commit();
      case ROLLBACK -> session.rollback();
      default -> throw new JMSException("what is '" + verb + "'?");
    }
    return verb;
  }

  private void send(int count) throws JMSException {
    byte[] body = new byte[BYTES];
    try (MessageProducer producer = session.createProducer(session.createQueue(queue))) {
      for (int i = 0; i < count; i++) {
        BytesMessage message = session.createBytesMessage();
        message.writeBytes(body);
        message.setIntProperty(NUMBER, i);
        producer.send(message);
        tell(i);
      }
    }
  }

  /** In order and each once, or it fails. */
  private void receive(int count) throws JMSException {
    try (MessageConsumer consumer = session.createConsumer(session.createQueue(queue))) {
      for (int i = 0; i < count; i++) {
        Message message = consumer.receive(RECEIVE_MILLIS);
        if (message == null || message.getIntProperty(NUMBER) != i) {
          throw new JMSException(
              "instead of "
                  + i
                  + " came "
                  + (message == null ? "nothing" : message.getIntProperty(NUMBER)),
              "ORDER");
        }
        tell(i);
      }
    }
  }

  private static void tell(int i) {
    if ((i + 1) % TELL == 0) {
      say(SO_FAR + (i + 1));
    }
  }
}
