package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import jakarta.jms.Connection;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/** What the tests of distributed transactions do again and again. */
final class XaCalls {
  static final long WAIT_MILLIS = 20_000;
  static final long SHORT_MILLIS = 300;

  private XaCalls() {}

  interface Call {
    void run() throws Exception;
  }

  /** With which code a call fails; XA_OK if it does not. */
  static int code(Call call) {
    XAException thrown = catchThrowableOfType(XAException.class, call::run);
    return thrown == null ? XAResource.XA_OK : thrown.errorCode;
  }

  static void send(Session session, Destination to, String... texts) throws JMSException {
    try (var producer = session.createProducer(to)) {
      for (String text : texts) {
        producer.send(session.createTextMessage(text));
      }
    }
  }

  static String receive(MessageConsumer consumer) throws JMSException {
    Message message = consumer.receive(WAIT_MILLIS);
    return message == null ? "nothing" : ((TextMessage) message).getText();
  }

  /** All that is there for a new consumer outside of any transaction; it is gone then. */
  static List<String> drain(Connection connection, Destination from) throws JMSException {
    List<String> texts = new ArrayList<>();
    try (Session session = connection.createSession();
        MessageConsumer consumer = session.createConsumer(from)) {
      Message next = consumer.receive(SHORT_MILLIS);
      while (next != null) {
        texts.add(((TextMessage) next).getText());
        next = consumer.receive(SHORT_MILLIS);
      }
    }
    return texts;
  }

  /** Which branches a resource is told of. */
  static List<Xid> recovered(XAResource resource) throws XAException {
    return Arrays.asList(resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN));
  }
}
