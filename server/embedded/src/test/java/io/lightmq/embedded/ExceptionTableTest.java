package io.lightmq.embedded;

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
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageFormatException;
import jakarta.jms.MessageFormatRuntimeException;
import jakarta.jms.MessageNotWriteableRuntimeException;
import jakarta.jms.MessageProducer;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicSession;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** Sections 6 to 14: which exception the specification names for which mistake. */
class ExceptionTableTest extends MistakeTable {
  @TestFactory
  Stream<DynamicTest> everyMistakeHasItsException() {
    return tests(
        Stream.of(clientIds(), destinations(), sessions(), simplified())
            .flatMap(List::stream)
            .toList());
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
            w -> () -> w.connection.createConnectionConsumer(w.topic, "colour =", () -> null, 1)),
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
