package io.lightmq.tck.assertions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jakarta Messaging 3.1 sections 8.3.3 and 8.3.4: unshared and shared durable subscriptions, with a
 * restart of the broker in between.
 */
class S0833DurableSubscriptionTest {

  @TempDir Path folder;
  private BrokerFolder broker;

  @BeforeEach
  void open() {
    broker = new BrokerFolder(folder);
  }

  @AfterEach
  void close() {
    broker.close();
  }

  private void publish(String topic, String... texts) throws JMSException {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      for (String text : texts) {
        session.createProducer(session.createTopic(topic)).send(session.createTextMessage(text));
      }
    }
  }

  private static String next(MessageConsumer consumer) throws JMSException {
    TextMessage message = (TextMessage) consumer.receive(BrokerFolder.COMES_MILLIS);
    assertThat(message).as("a message that is to come").isNotNull();
    return message.getText();
  }

  private static @Nullable String nextIfAny(MessageConsumer consumer) throws JMSException {
    TextMessage message = (TextMessage) consumer.receiveNoWait();
    return message == null ? null : message.getText();
  }

  @Test
  void itGetsWhatIsPublishedWhileNobodyListensAndWhileTheBrokerIsRestarted() throws Exception {
    publish("news", "before");
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      session.createDurableConsumer(session.createTopic("news"), "inbox");
    }
    publish("news", "one", "two");
    broker.restart();
    publish("news", "three");
    broker.restart();
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      MessageConsumer consumer =
          session.createDurableConsumer(session.createTopic("news"), "inbox");
      assertThat(List.of(next(consumer), next(consumer))).containsExactly("one", "two");
    }
    broker.restart();
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      MessageConsumer consumer =
          session.createDurableConsumer(session.createTopic("news"), "inbox");
      assertThat(next(consumer)).isEqualTo("three");
      assertThat(nextIfAny(consumer)).isNull();
    }
  }

  @Test
  void anUnsubscribedOneStaysAwayAfterARestart() throws Exception {
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      session.createDurableConsumer(session.createTopic("news"), "inbox").close();
      publish("news", "one");
      session.unsubscribe("inbox");
    }
    broker.restart();
    publish("news", "two");
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      assertThatThrownBy(() -> session.unsubscribe("inbox"))
          .isInstanceOf(InvalidDestinationException.class);
      MessageConsumer consumer =
          session.createDurableConsumer(session.createTopic("news"), "inbox");
      assertThat(nextIfAny(consumer)).isNull();
    }
  }

  @Test
  void itCannotBeDeletedWhileItIsInUse() throws Exception {
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
      MessageConsumer consumer =
          session.createDurableConsumer(session.createTopic("news"), "inbox");
      assertThatThrownBy(() -> session.unsubscribe("inbox")).isInstanceOf(JMSException.class);
      publish("news", "one");
      assertThat(next(consumer)).isEqualTo("one");
      consumer.close();
      assertThatThrownBy(() -> session.unsubscribe("inbox"))
          .as("a message of it is not acknowledged")
          .isInstanceOf(JMSException.class);
      session.recover();
      session.unsubscribe("inbox");
    }
  }

  @Test
  void anotherTopicMakesItAnother() throws Exception {
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      session.createDurableConsumer(session.createTopic("news"), "inbox").close();
      publish("news", "old");
      session.createDurableConsumer(session.createTopic("sport"), "inbox").close();
      publish("sport", "goal");
    }
    broker.restart();
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      MessageConsumer consumer =
          session.createDurableConsumer(session.createTopic("sport"), "inbox");
      assertThat(next(consumer)).isEqualTo("goal");
      consumer.close();
      MessageConsumer back = session.createDurableConsumer(session.createTopic("news"), "inbox");
      assertThat(nextIfAny(back)).isNull();
    }
  }

  @Test
  void anUnsharedOneHasOneConsumerAndIsNoSharedOne() throws Exception {
    try (Connection connection = broker.connect("ann")) {
      Session session = connection.createSession();
      var news = session.createTopic("news");
      session.createDurableConsumer(news, "inbox");
      Session other = connection.createSession();
      assertThatThrownBy(() -> other.createDurableConsumer(news, "inbox"))
          .isInstanceOf(JMSException.class);
      assertThatThrownBy(() -> other.createSharedDurableConsumer(news, "inbox"))
          .isInstanceOf(JMSException.class);
      other.createSharedConsumer(news, "inbox").close();
    }
  }

  @Test
  void consumersOfASharedOneDivideItsMessagesAlsoOverARestart() throws Exception {
    List<String> sent = new ArrayList<>();
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      session.createSharedDurableConsumer(session.createTopic("news"), "team").close();
    }
    for (int number = 0; number < 40; number++) {
      sent.add("message " + number);
    }
    publish("news", sent.toArray(String[]::new));
    List<String> got = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      broker.restart();
      try (Connection first = broker.connect();
          Connection second = broker.connect()) {
        Session one = first.createSession();
        Session two = second.createSession();
        MessageConsumer left = one.createSharedDurableConsumer(one.createTopic("news"), "team");
        got.add(next(left));
        MessageConsumer right = two.createSharedDurableConsumer(two.createTopic("news"), "team");
        got.add(next(right));
        got.add(next(left));
      }
    }
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer rest =
          session.createSharedDurableConsumer(session.createTopic("news"), "team");
      while (got.size() < sent.size()) {
        got.add(next(rest));
      }
      assertThat(nextIfAny(rest)).isNull();
    }
    assertThat(got).containsExactlyInAnyOrderElementsOf(sent);
  }
}
