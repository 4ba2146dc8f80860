package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.InvalidSelectorRuntimeException;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicSession;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Jakarta Messaging 3.1, section 3.8, through every call that takes a selector. */
class SelectorsTest {
  private static final long WAIT_MILLIS = 20_000;

  private final LightmqConnectionFactory factory;

  SelectorsTest() throws JMSException {
    factory = new LightmqConnectionFactory("lightmq:mem:" + UUID.randomUUID());
  }

  private static Message numbered(Session session, int n) throws JMSException {
    Message message = session.createTextMessage("m" + n);
    message.setIntProperty("n", n);
    message.setJMSCorrelationID("c" + n);
    return message;
  }

  private static List<String> take(MessageConsumer consumer, int count) throws JMSException {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      TextMessage message = (TextMessage) consumer.receive(WAIT_MILLIS);
      texts.add(message == null ? "nothing" : message.getText());
    }
    return texts;
  }

  /** Opens a consumer one way. */
  private interface Opening {
    MessageConsumer open(@Nullable String selector) throws JMSException;
  }

  private static void getsWhatItWants(Session session, Topic topic, Opening opening)
      throws JMSException {
    MessageProducer producer = session.createProducer(topic);
    for (String none : new String[] {null, "", "  "}) {
      try (MessageConsumer consumer = opening.open(none)) {
        assertThat(consumer.getMessageSelector()).isNull();
        producer.send(numbered(session, 1));
        assertThat(take(consumer, 1)).containsExactly("m1");
      }
    }
    try (MessageConsumer consumer = opening.open("n > 2")) {
      assertThat(consumer.getMessageSelector()).isEqualTo("n > 2");
      for (int n = 1; n <= 4; n++) {
        producer.send(numbered(session, n));
      }
      assertThat(take(consumer, 2)).containsExactly("m3", "m4");
      assertThat(consumer.receiveNoWait()).isNull();
    }
    assertThatThrownBy(() -> opening.open("n >"))
        .isInstanceOf(InvalidSelectorException.class)
        .hasMessageContaining("column 4")
        .extracting(e -> ((JMSException) e).getErrorCode())
        .isEqualTo("LMQ-25");
  }

  @Test
  void everyKindOfTopicConsumerTakesASelector() throws JMSException {
    try (Connection connection = factory.createConnection()) {
      connection.setClientID("desk");
      connection.start();
      Session session = connection.createSession();
      Topic topic = session.createTopic("prices");
      getsWhatItWants(session, topic, s -> session.createConsumer(topic, s));
      getsWhatItWants(session, topic, s -> session.createConsumer(topic, s, false));
      getsWhatItWants(session, topic, s -> session.createSharedConsumer(topic, "s", s));
      getsWhatItWants(session, topic, s -> session.createDurableConsumer(topic, "d", s, false));
      getsWhatItWants(session, topic, s -> session.createDurableSubscriber(topic, "d", s, false));
      getsWhatItWants(session, topic, s -> session.createSharedDurableConsumer(topic, "sd", s));
    }
    try (TopicConnection connection = factory.createTopicConnection()) {
      connection.start();
      TopicSession session = connection.createTopicSession(false, Session.AUTO_ACKNOWLEDGE);
      Topic topic = session.createTopic("prices");
      getsWhatItWants(session, topic, s -> session.createSubscriber(topic, s, false));
    }
  }

  @Test
  void queueConsumersReachWhatWaitsAndWhatComes() throws JMSException {
    try (QueueConnection connection = factory.createQueueConnection()) {
      connection.start();
      QueueSession session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
      Queue queue = session.createQueue("orders");
      MessageProducer producer = session.createProducer(queue);
      for (int n = 0; n < 3_000; n++) {
        producer.send(numbered(session, n));
      }
      for (Opening opening :
          List.<Opening>of(
              s -> session.createConsumer(queue, s), s -> session.createReceiver(queue, s))) {
        try (MessageConsumer late = opening.open("n IN ('x') OR n > 2998");
            MessageConsumer one = opening.open("JMSCorrelationID = 'c1500'")) {
          assertThat(late.getMessageSelector()).isEqualTo("n IN ('x') OR n > 2998");
          assertThat(take(late, 1)).containsExactly("m2999");
          assertThat(one.receiveNoWait()).isNotNull();
          assertThat(one.receiveNoWait()).isNull();
          producer.send(numbered(session, 1500));
          producer.send(numbered(session, 2999));
          assertThat(take(one, 1)).containsExactly("m1500");
          assertThat(take(late, 1)).containsExactly("m2999");
          producer.send(numbered(session, 1500));
          producer.send(numbered(session, 2999));
        }
      }
      try (MessageConsumer rest = session.createConsumer(queue, "")) {
        assertThat(rest.getMessageSelector()).isNull();
        assertThat(take(rest, 3_000)).contains("m0", "m1500", "m2999").doesNotHaveDuplicates();
        assertThat(rest.receiveNoWait()).isNull();
      }
      assertThatThrownBy(() -> session.createConsumer(queue, "n = = 1"))
          .isInstanceOf(InvalidSelectorException.class);
    }
  }

  @Test
  void aMessageIdFindsItsMessage() throws JMSException {
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("orders");
      List<String> ids = new ArrayList<>();
      for (int n = 0; n < 100; n++) {
        TextMessage message = context.createTextMessage("m" + n);
        context.createProducer().send(queue, message);
        ids.add(message.getJMSMessageID());
      }
      for (int n : new int[] {99, 0, 57}) {
        try (JMSConsumer consumer =
            context.createConsumer(queue, "JMSMessageID = '" + ids.get(n) + "'")) {
          assertThat(consumer.getMessageSelector()).contains(ids.get(n));
          assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("m" + n);
          assertThat(consumer.receiveNoWait()).isNull();
        }
      }
      assertThatThrownBy(() -> context.createConsumer(queue, "JMSReplyTo = 'x'"))
          .isInstanceOf(InvalidSelectorRuntimeException.class)
          .hasMessageContaining("JMSReplyTo cannot be used");
    }
  }

  @Test
  void whatIsRolledBackGoesToAnyConsumerThatWantsIt() throws JMSException {
    try (Connection connection = factory.createConnection()) {
      connection.start();
      Session transacted = connection.createSession(true, Session.SESSION_TRANSACTED);
      Session session = connection.createSession();
      Queue queue = session.createQueue("orders");
      MessageProducer producer = session.createProducer(queue);
      for (int n = 1; n <= 3; n++) {
        producer.send(numbered(session, n));
      }
      try (MessageConsumer first = transacted.createConsumer(queue, "n > 1")) {
        assertThat(take(first, 2)).containsExactly("m2", "m3");
        transacted.rollback();
        assertThat(take(first, 1)).containsExactly("m2");
        transacted.rollback();
      }
      try (MessageConsumer second = session.createConsumer(queue, "n >= 2")) {
        Message again = second.receive(WAIT_MILLIS);
        assertThat(again.getJMSRedelivered()).isTrue();
        assertThat(again.getIntProperty("JMSXDeliveryCount")).isEqualTo(3);
        assertThat(take(second, 1)).containsExactly("m3");
      }
    }
  }
}
