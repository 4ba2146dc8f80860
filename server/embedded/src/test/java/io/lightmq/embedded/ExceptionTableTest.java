package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.Destination;
import jakarta.jms.IllegalStateException;
import jakarta.jms.IllegalStateRuntimeException;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidDestinationRuntimeException;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageEOFException;
import jakarta.jms.MessageFormatException;
import jakarta.jms.MessageFormatRuntimeException;
import jakarta.jms.MessageNotReadableException;
import jakarta.jms.MessageNotWriteableException;
import jakarta.jms.MessageNotWriteableRuntimeException;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicSession;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/**
 * Which exception the specification names for which mistake, by its section; each has an error code
 * of ours and a text.
 */
class ExceptionTableTest {
  private static final long WAIT_MILLIS = 20_000;

  private final String name = "lightmq:mem:" + UUID.randomUUID();

  /** What a case works with, made for it alone. */
  private final class World implements AutoCloseable {
    final Connection connection = factory("").createConnection();
    final Connection named = factory("?clientId=named" + UUID.randomUUID()).createConnection();
    final Session session;
    final Session transacted;
    final Queue queue;
    final Topic topic;

    World() throws JMSException {
      connection.start();
      session = connection.createSession();
      transacted = connection.createSession(true, 0);
      queue = session.createQueue("q");
      topic = session.createTopic("t");
    }

    /** Sends and receives. */
    <M extends Message> M received(M message) throws JMSException {
      Destination own = session.createTemporaryQueue();
      session.createProducer(own).send(message);
      @SuppressWarnings("unchecked")
      M got = (M) session.createConsumer(own).receive(WAIT_MILLIS);
      return got;
    }

    @Override
    public void close() throws JMSException {
      connection.close();
      named.close();
    }
  }

  private LightmqConnectionFactory factory(String options) {
    return new LightmqConnectionFactory(name + options);
  }

  /** A mistake. */
  interface Mistake {
    Executable in(World world) throws Exception;
  }

  private record Row(
      String section, Class<? extends Exception> expected, String what, Mistake mistake) {}

  private static Row row(
      String section, Class<? extends Exception> expected, String what, Mistake mistake) {
    return new Row(section, expected, what, mistake);
  }

  @TestFactory
  Stream<DynamicTest> everyMistakeHasItsException() {
    return Stream.of(messages(), clientIds(), destinations(), sessions(), simplified())
        .flatMap(List::stream)
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.section() + " " + row.what() + ": " + row.expected().getSimpleName(),
                    () -> check(row)));
  }

  private void check(Row row) throws Exception {
    try (World world = new World()) {
      Exception thrown = assertThrows(row.expected(), row.mistake().in(world));
      assertThat(thrown.getMessage()).isNotBlank();
      if (thrown instanceof JMSException jms) {
        assertThat(jms.getErrorCode()).startsWith("LMQ-");
      }
    }
  }

  private static List<Row> messages() {
    return List.of(
        row(
            "3.5.4",
            MessageFormatException.class,
            "a property with the type of a list",
            w -> () -> w.session.createMessage().setObjectProperty("a", List.of())),
        row(
            "3.5.4",
            MessageFormatException.class,
            "a property that is a character",
            w -> () -> w.session.createMessage().setObjectProperty("a", 'c')),
        row(
            "3.5.4",
            MessageFormatException.class,
            "a string property read as a boolean is none",
            w -> {
              Message message = w.session.createMessage();
              message.setLongProperty("a", 1);
              return () -> message.getBooleanProperty("a");
            }),
        row(
            "3.5.4",
            NumberFormatException.class,
            "a word read as a number",
            w -> {
              Message message = w.session.createMessage();
              message.setStringProperty("a", "word");
              return () -> message.getIntProperty("a");
            }),
        row(
            "3.5.1",
            IllegalArgumentException.class,
            "a property without a name",
            w -> () -> w.session.createMessage().setStringProperty("", "x")),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received message's properties",
            w -> {
              Message message = w.received(w.session.createMessage());
              return () -> message.setStringProperty("a", "x");
            }),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received text",
            w -> {
              TextMessage message = w.received(w.session.createTextMessage("x"));
              return () -> message.setText("y");
            }),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received map",
            w -> {
              MapMessage message = w.received(w.session.createMapMessage());
              return () -> message.setInt("a", 1);
            }),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received object",
            w -> {
              ObjectMessage message = w.received(w.session.createObjectMessage("x"));
              return () -> message.setObject("y");
            }),
        row(
            "3.11.3",
            MessageNotReadableException.class,
            "bytes that are being written",
            w -> () -> w.session.createBytesMessage().readByte()),
        row(
            "3.11.3",
            MessageNotReadableException.class,
            "a stream that is being written",
            w -> () -> w.session.createStreamMessage().readObject()),
        row(
            "3.11.3",
            MessageNotWriteableException.class,
            "received bytes",
            w -> {
              BytesMessage message = w.received(w.session.createBytesMessage());
              return () -> message.writeByte((byte) 1);
            }),
        row(
            "3.11.3",
            MessageEOFException.class,
            "the end of bytes",
            w -> {
              BytesMessage message = w.received(w.session.createBytesMessage());
              return message::readInt;
            }),
        row(
            "3.11.3",
            MessageEOFException.class,
            "the end of a stream",
            w -> {
              StreamMessage message = w.received(w.session.createStreamMessage());
              return message::readObject;
            }),
        row(
            "3.11.3",
            MessageFormatException.class,
            "a stream's value of another type",
            w -> {
              StreamMessage message = w.session.createStreamMessage();
              message.writeBoolean(true);
              message.reset();
              return message::readInt;
            }),
        row(
            "3.11.3",
            MessageFormatException.class,
            "a map's value that is a list",
            w -> () -> w.session.createMapMessage().setObject("a", List.of())),
        row(
            "3.11.3",
            MessageFormatException.class,
            "a body asked for as something else",
            w -> () -> w.session.createTextMessage("x").getBody(Integer.class)),
        row(
            "3.11.3",
            MessageFormatException.class,
            "an object that cannot be serialised",
            w ->
                () ->
                    w.session.createObjectMessage(
                        (java.io.Serializable) List.of(new Object()))));
  }

  private List<Row> clientIds() {
    return List.of(
        row(
            "6.1.2",
            IllegalStateException.class,
            "a client id that the factory has set",
            w -> () -> w.named.setClientID("other")),
        row(
            "6.1.2",
            IllegalStateException.class,
            "a client id after the first use",
            w -> () -> w.connection.setClientID("late")),
        row(
            "6.1.2",
            IllegalStateException.class,
            "a client id twice",
            w -> {
              Connection fresh = factory("").createConnection();
              fresh.setClientID("twice" + UUID.randomUUID());
              return () -> {
                try (fresh) {
                  fresh.setClientID("again");
                }
              };
            }),
        row(
            "6.1.2",
            InvalidClientIDException.class,
            "a client id that another connection has",
            w -> {
              Connection fresh = factory("").createConnection();
              return () -> {
                try (fresh) {
                  fresh.setClientID(w.named.getClientID());
                }
              };
            }),
        row(
            "6.1.2",
            InvalidClientIDException.class,
            "an empty client id",
            w -> {
              Connection fresh = factory("").createConnection();
              return () -> {
                try (fresh) {
                  fresh.setClientID("");
                }
              };
            }),
        row(
            "6.1.4",
            JMSSecurityException.class,
            "an unknown user",
            w -> () -> factory("").createConnection("nobody", "x").close()),
        row(
            "6.1.4",
            JMSSecurityException.class,
            "a user without a password",
            w -> () -> factory("").createConnection("nobody", null).close()));
  }

  private static List<Row> destinations() {
    return List.of(
        row(
            "6.2",
            InvalidDestinationException.class,
            "a consumer of null",
            w -> () -> w.session.createConsumer(null)),
        row(
            "6.2",
            InvalidDestinationException.class,
            "a browser of null",
            w -> () -> w.session.createBrowser(null)),
        row(
            "6.2",
            InvalidDestinationException.class,
            "a destination that is neither queue nor topic",
            w -> () -> w.session.createProducer(new Destination() {})),
        row(
            "6.2",
            InvalidDestinationException.class,
            "a queue without a name",
            w -> () -> w.session.createQueue("")),
        row(
            "3.8.1",
            InvalidSelectorException.class,
            "a consumer with a selector that is none",
            w -> () -> w.session.createConsumer(w.topic, "colour =")),
        row(
            "3.8.1",
            InvalidSelectorException.class,
            "a browser with a selector that is none",
            w -> () -> w.session.createBrowser(w.queue, "colour =")),
        row(
            "3.8.1",
            InvalidSelectorException.class,
            "a connection consumer with a selector that is none",
            w ->
                () -> w.connection.createConnectionConsumer(w.topic, "colour =", () -> null, 1)),
        row(
            "6.2.2",
            JMSException.class,
            "a temporary queue of another connection",
            w -> {
              var other = w.named.createSession().createTemporaryQueue();
              return () -> w.session.createConsumer(other);
            }),
        row(
            "6.2.2",
            JMSException.class,
            "deleting a temporary queue that is consumed",
            w -> {
              var own = w.session.createTemporaryQueue();
              w.session.createConsumer(own);
              return own::delete;
            }),
        row(
            "7.3",
            InvalidDestinationException.class,
            "a send to null",
            w -> {
              MessageProducer producer = w.session.createProducer(null);
              return () -> producer.send((Destination) null, w.session.createMessage());
            }),
        row(
            "7.3",
            UnsupportedOperationException.class,
            "a send without a destination",
            w -> {
              MessageProducer producer = w.session.createProducer(null);
              return () -> producer.send(w.session.createMessage());
            }),
        row(
            "7.3",
            UnsupportedOperationException.class,
            "a send to another destination",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.send(w.topic, w.session.createMessage());
            }),
        row(
            "7.3",
            MessageFormatException.class,
            "a send of null",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.send(null);
            }),
        row(
            "7.3",
            IllegalArgumentException.class,
            "an asynchronous send without a listener",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.send(w.session.createMessage(), null);
            }),
        row(
            "7.7",
            JMSException.class,
            "a priority of 10",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.setPriority(10);
            }),
        row(
            "7.8",
            JMSException.class,
            "a negative time to live",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.setTimeToLive(-1);
            }),
        row(
            "7.9",
            JMSException.class,
            "a negative delivery delay",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.setDeliveryDelay(-1);
            }),
        row(
            "7.5",
            JMSException.class,
            "a delivery mode of 3",
            w -> {
              MessageProducer producer = w.session.createProducer(w.queue);
              return () -> producer.setDeliveryMode(3);
            }));
  }

  private static List<Row> sessions() {
    return List.of(
        row(
            "6.2.7",
            IllegalStateException.class,
            "a commit without a transaction",
            w -> w.session::commit),
        row(
            "6.2.7",
            IllegalStateException.class,
            "a rollback without a transaction",
            w -> w.session::rollback),
        row(
            "6.2.10",
            IllegalStateException.class,
            "a recover in a transaction",
            w -> w.transacted::recover),
        row(
            "6.2.15",
            IllegalStateException.class,
            "an acknowledgement after close",
            w -> {
              Session session = w.connection.createSession(Session.CLIENT_ACKNOWLEDGE);
              w.session.createProducer(w.queue).send(w.session.createMessage());
              Message message = session.createConsumer(w.queue).receive(WAIT_MILLIS);
              session.close();
              return message::acknowledge;
            }),
        row(
            "6.1",
            JMSException.class,
            "an unknown session mode",
            w -> () -> w.connection.createSession(7)),
        row(
            "8.3.3",
            IllegalStateException.class,
            "a durable subscription without a client id",
            w -> () -> w.session.createDurableConsumer(w.topic, "d")),
        row(
            "8.3.3",
            InvalidDestinationException.class,
            "a durable subscription to null",
            w -> {
              Session named = w.named.createSession();
              return () -> named.createDurableConsumer(null, "d");
            }),
        row(
            "8.3.3",
            JMSException.class,
            "a second consumer of a durable subscription",
            w -> {
              Session named = w.named.createSession();
              named.createDurableConsumer(w.topic, "d");
              return () -> named.createDurableConsumer(w.topic, "d");
            }),
        row(
            "8.3.2",
            JMSException.class,
            "a shared subscription of another topic",
            w -> {
              w.session.createSharedConsumer(w.topic, "s");
              return () -> w.session.createSharedConsumer(w.session.createTopic("other"), "s");
            }),
        row(
            "8.3.4",
            JMSException.class,
            "a durable subscription that is shared already",
            w -> {
              Session named = w.named.createSession();
              named.createSharedDurableConsumer(w.topic, "d");
              return () -> named.createDurableConsumer(w.topic, "d");
            }),
        row(
            "8.3.3",
            JMSException.class,
            "unsubscribing while it is consumed",
            w -> {
              Session named = w.named.createSession();
              named.createDurableConsumer(w.topic, "d");
              return () -> named.unsubscribe("d");
            }),
        row(
            "8.3.3",
            InvalidDestinationException.class,
            "unsubscribing what does not exist",
            w -> () -> w.named.createSession().unsubscribe("missing")),
        row(
            "8.6",
            IllegalStateException.class,
            "a receive beside a listener",
            w -> {
              MessageConsumer consumer = w.session.createConsumer(w.queue);
              consumer.setMessageListener(message -> {});
              return () -> consumer.receive(1);
            }),
        row(
            "8.5",
            JMSException.class,
            "a negative time to wait",
            w -> {
              MessageConsumer consumer = w.session.createConsumer(w.queue);
              return () -> consumer.receive(-1);
            }),
        row(
            "14.4",
            IllegalStateException.class,
            "a topic of a queue session",
            w -> {
              QueueSession session =
                  ((QueueConnection) w.named).createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
              return () -> session.createTopic("t");
            }),
        row(
            "14.5",
            IllegalStateException.class,
            "a browser of a topic session",
            w -> {
              TopicSession session =
                  ((TopicConnection) w.named).createTopicSession(false, Session.AUTO_ACKNOWLEDGE);
              return () -> session.createBrowser(w.queue);
            }));
  }

  private List<Row> simplified() {
    return List.of(
        row(
            "6.1.8",
            IllegalStateRuntimeException.class,
            "a closed context",
            w -> {
              JMSContext context = factory("").createContext();
              context.close();
              return context::createProducer;
            }),
        row(
            "6.1.8",
            IllegalStateRuntimeException.class,
            "another context of a closed one",
            w -> {
              JMSContext context = factory("").createContext();
              context.close();
              return () -> context.createContext(1);
            }),
        row(
            "7.3",
            InvalidDestinationRuntimeException.class,
            "a send to null",
            w -> inContext(context -> context.createProducer().send(null, "x"))),
        row(
            "7.3",
            MessageFormatRuntimeException.class,
            "a send of null",
            w -> inContext(context -> context.createProducer().send(w.queue, (Message) null))),
        row(
            "7.4",
            MessageNotWriteableRuntimeException.class,
            "a property for a message whose properties are read-only",
            w -> {
              Message received = w.received(w.session.createMessage());
              return inContext(
                  context -> {
                    JMSProducer producer = context.createProducer().setProperty("a", 1);
                    producer.send(w.queue, received);
                  });
            }),
        row(
            "7.4",
            MessageFormatRuntimeException.class,
            "a property that is a list",
            w -> inContext(context -> context.createProducer().setProperty("a", List.of()))),
        row(
            "8.4",
            MessageFormatRuntimeException.class,
            "a body of another type",
            w -> {
              w.session.createProducer(w.queue).send(w.session.createTextMessage("x"));
              return inContext(
                  context ->
                      context.createConsumer(w.queue).receiveBody(Integer.class, WAIT_MILLIS));
            }),
        row(
            "8.3.3",
            IllegalStateRuntimeException.class,
            "a durable subscription without a client id",
            w -> inContext(context -> context.createDurableConsumer(w.topic, "d"))),
        row(
            "6.2.7",
            IllegalStateRuntimeException.class,
            "a commit without a transaction",
            w -> inContext(JMSContext::commit)));
  }

  private Executable inContext(java.util.function.Consumer<JMSContext> use) {
    return () -> {
      try (JMSContext context = factory("").createContext()) {
        use.accept(context);
      }
    };
  }
}
