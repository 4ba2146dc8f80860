package io.lightmq.tck.netty;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.function.UnaryOperator;

/** An application, which a class loader of its own runs with another Netty. */
public final class SendAndReceive implements UnaryOperator<String> {
  private static final int MESSAGES = 20;
  private static final int WAIT_MILLIS = 10_000;

  /** For the class loader's newInstance. */
  public SendAndReceive() {}

  /** What came of it with a URI: the text of what was received, or the exception. */
  @Override
  public String apply(String uri) {
    LightmqConnectionFactory factory = new LightmqConnectionFactory(uri);
    factory.setConnectTimeoutMillis(WAIT_MILLIS);
    try (Connection connection = factory.createConnection()) {
      connection.start();
      Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
      Queue queue = session.createQueue("netty");
      MessageConsumer consumer = session.createConsumer(queue);
      StringBuilder large = new StringBuilder();
      for (int i = 0; i < MESSAGES; i++) {
        large.append("text ".repeat(800));
        session.createProducer(queue).send(session.createTextMessage(large.toString()));
      }
      session.commit();
      int received = 0;
      for (int i = 0; i < MESSAGES; i++) {
        if (consumer.receive(WAIT_MILLIS) instanceof TextMessage text
            && text.getText().length() == (i + 1) * 4_000) {
          received++;
        }
      }
      session.commit();
      return received + " received";
    } catch (JMSException e) {
      return "JMSException: " + e.getMessage();
    }
  }
}
