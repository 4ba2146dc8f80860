package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqJms;
import jakarta.jms.Connection;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The session modes that this provider adds, and the option that makes one of them the rule. */
class SessionModesTest {
  private static final long WAIT_MILLIS = 20_000;
  private static final long SHORT_MILLIS = 200;

  private final String name = "lightmq:mem:" + UUID.randomUUID();
  private Connection connection;
  private Session sending;
  private Queue queue;

  @TempDir Path directory;

  @BeforeEach
  void connect() throws JMSException {
    connection = new LightmqConnectionFactory(name).createConnection();
    connection.start();
    sending = connection.createSession();
    queue = sending.createQueue("q");
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
  }

  private void send(String... texts) throws JMSException {
    try (MessageProducer producer = sending.createProducer(queue)) {
      for (String text : texts) {
        producer.send(sending.createTextMessage(text));
      }
    }
  }

  private static String shown(Message message) throws JMSException {
    return message == null
        ? "nothing"
        : ((TextMessage) message).getText()
            + "/"
            + message.getIntProperty("JMSXDeliveryCount")
            + (message.getJMSRedelivered() ? "!" : "");
  }

  private List<String> rest() throws JMSException {
    List<String> rest = new ArrayList<>();
    try (Session session = connection.createSession();
        MessageConsumer consumer = session.createConsumer(queue)) {
      for (Message next = consumer.receive(SHORT_MILLIS);
          next != null;
          next = consumer.receive(SHORT_MILLIS)) {
        rest.add(shown(next));
      }
    }
    return rest;
  }

  // ---- INDIVIDUAL_ACKNOWLEDGE ----

  @Test
  void individualAcknowledgementIsOfThatMessageAlone() throws JMSException {
    send("a", "b", "c");
    Session session = connection.createSession(LightmqJms.INDIVIDUAL_ACKNOWLEDGE);
    assertThat(session.getAcknowledgeMode()).isEqualTo(101);
    MessageConsumer consumer = session.createConsumer(queue);
    consumer.receive(WAIT_MILLIS);
    Message second = consumer.receive(WAIT_MILLIS);
    consumer.receive(WAIT_MILLIS);
    second.acknowledge();
    second.acknowledge();
    session.close();
    assertThat(rest()).containsExactly("a/2!", "c/2!");
  }

  @Test
  void recoverBringsBackWhatIsNotAcknowledgedInOrder() throws JMSException {
    send("a", "b", "c", "d");
    Session session = connection.createSession(LightmqJms.INDIVIDUAL_ACKNOWLEDGE);
    MessageConsumer consumer = session.createConsumer(queue);
    consumer.receive(WAIT_MILLIS);
    consumer.receive(WAIT_MILLIS).acknowledge();
    Message third = consumer.receive(WAIT_MILLIS);
    session.recover();
    third.acknowledge(); // given back meanwhile, so this is no acknowledgement any more
    assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("a/2!");
    assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("c/2!");
    assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("d/1");
    session.close();
  }

  @Test
  void aClosedConsumersMessagesCanStillBeAcknowledged() throws JMSException {
    send("a", "b");
    Session session = connection.createSession(LightmqJms.INDIVIDUAL_ACKNOWLEDGE);
    MessageConsumer consumer = session.createConsumer(queue);
    Message first = consumer.receive(WAIT_MILLIS);
    Message second = consumer.receive(WAIT_MILLIS);
    consumer.close();
    second.acknowledge();
    first.acknowledge();
    session.close();
    assertThat(rest()).isEmpty();
    assertThatThrownBy(first::acknowledge).isInstanceOf(jakarta.jms.IllegalStateException.class);
  }

  @Test
  void aContextInThisModeAcknowledgesAllOnItsOwnAcknowledge() throws JMSException {
    send("a", "b");
    try (JMSContext context =
        new LightmqConnectionFactory(name).createContext(LightmqJms.INDIVIDUAL_ACKNOWLEDGE)) {
      assertThat(context.getSessionMode()).isEqualTo(101);
      JMSConsumer consumer = context.createConsumer(queue);
      consumer.receive(WAIT_MILLIS);
      consumer.receive(WAIT_MILLIS);
      context.acknowledge();
    }
    assertThat(rest()).isEmpty();
  }

  @Test
  void aListenerMayAcknowledgeLaterAndFromAnotherThread() throws Exception {
    send("a", "b", "c");
    List<Message> kept = new CopyOnWriteArrayList<>();
    Session session = connection.createSession(LightmqJms.INDIVIDUAL_ACKNOWLEDGE);
    session.createConsumer(queue).setMessageListener(kept::add);
    Awaitility.await().until(() -> kept.size() == 3);
    kept.get(2).acknowledge();
    kept.get(0).acknowledge();
    session.close();
    assertThat(rest()).containsExactly("b/2!");
  }

  // ---- NO_ACKNOWLEDGE ----

  @Test
  void whatWasPulledNeverComesAgain() throws JMSException {
    send("a", "b", "c");
    Session session = connection.createSession(LightmqJms.NO_ACKNOWLEDGE);
    assertThat(session.getAcknowledgeMode()).isEqualTo(100);
    MessageConsumer consumer = session.createConsumer(queue);
    assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("a/1");
    session.recover();
    assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("b/1");
    session.close();
    assertThat(rest()).isEmpty();
  }

  @Test
  void whatAnotherConsumerGaveBackIsNotFlagged() throws JMSException {
    send("a");
    try (Session first = connection.createSession(true, 0)) {
      assertThat(shown(first.createConsumer(queue).receive(WAIT_MILLIS))).isEqualTo("a/1");
      first.rollback();
    }
    Session session = connection.createSession(LightmqJms.NO_ACKNOWLEDGE);
    assertThat(shown(session.createConsumer(queue).receive(WAIT_MILLIS))).isEqualTo("a/1");
  }

  @Test
  void aFailingListenerLosesItsMessageAndGoesOn() throws JMSException {
    List<String> got = new CopyOnWriteArrayList<>();
    Session session = connection.createSession(LightmqJms.NO_ACKNOWLEDGE);
    session
        .createConsumer(queue)
        .setMessageListener(
            message -> {
              try {
                got.add(shown(message));
              } catch (JMSException e) {
                got.add(e.toString());
              }
              throw new IllegalStateException("planted");
            });
    send("a", "b");
    Awaitility.await().until(() -> got.size() == 2);
    assertThat(got).containsExactly("a/1", "b/1");
    session.close();
    assertThat(rest()).isEmpty();
  }

  @Test
  void topicsAndNonPersistentMessagesAreGivenOutToo() throws JMSException {
    Session session = connection.createSession(LightmqJms.NO_ACKNOWLEDGE);
    var topic = session.createTopic("t");
    MessageConsumer consumer = session.createConsumer(topic);
    MessageProducer producer = sending.createProducer(topic);
    producer.setDeliveryMode(jakarta.jms.DeliveryMode.NON_PERSISTENT);
    for (int i = 0; i < 100; i++) {
      producer.send(sending.createTextMessage("m" + i));
    }
    for (int i = 0; i < 100; i++) {
      assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("m" + i + "/1");
    }
    assertThat(consumer.receiveNoWait()).isNull();
  }

  @Test
  void whatWaitsInTheBrokerIsThereAfterARestartAndWhatWasPulledIsNot() throws JMSException {
    String file = "lightmq:file:" + directory.resolve("data");
    try (JMSContext context = new LightmqConnectionFactory(file).createContext(100)) {
      Queue stored = context.createQueue("stored");
      for (int i = 0; i < 50; i++) {
        context.createProducer().send(stored, "m" + i);
      }
      assertThat(context.createConsumer(stored).receiveBody(String.class, WAIT_MILLIS))
          .isEqualTo("m0");
    }
    try (JMSContext context = new LightmqConnectionFactory(file).createContext()) {
      JMSConsumer consumer = context.createConsumer(context.createQueue("stored"));
      Message next = consumer.receive(WAIT_MILLIS);
      assertThat(next).isNotNull();
      assertThat(next.getJMSRedelivered()).isFalse();
      // the first pull asks for 16 messages
      assertThat(((TextMessage) next).getText()).isNotEqualTo("m0");
    }
  }

  // ---- the option ----

  @Test
  void theOptionMakesItTheRuleForSessionsThatAcknowledgeByThemselves() throws JMSException {
    send("a", "b");
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory(name + "?semantics=at-most-once");
    try (JMSContext context = factory.createContext(JMSContext.AUTO_ACKNOWLEDGE)) {
      assertThat(context.getSessionMode()).isEqualTo(JMSContext.AUTO_ACKNOWLEDGE);
      assertThat(shown(context.createConsumer(queue).receive(WAIT_MILLIS))).isEqualTo("a/1");
    }
    assertThat(rest()).isEmpty();
  }

  @Test
  void theOptionLeavesWhatTheApplicationAcknowledgesAlone() throws JMSException {
    send("a");
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory(name + "?semantics=at-most-once");
    try (JMSContext context = factory.createContext(JMSContext.SESSION_TRANSACTED)) {
      assertThat(context.createConsumer(queue).receive(WAIT_MILLIS)).isNotNull();
      context.rollback();
    }
    assertThat(rest()).containsExactly("a/2!");
  }

  @Test
  void unknownModesAndGuaranteesAreRefusedByName() {
    assertThatThrownBy(() -> connection.createSession(102))
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("101 (individual)");
    assertThatThrownBy(() -> new LightmqConnectionFactory(name + "?semantics=exactly-once"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at-most-once");
  }
}
