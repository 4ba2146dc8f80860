package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.IllegalStateException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidDestinationRuntimeException;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueReceiver;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TextMessage;
import jakarta.jms.TopicConnection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jakarta Messaging 3.1, section 4.8. */
class BrowsingTest {
  private static final long WAIT_MILLIS = 20_000;

  private final LightmqConnectionFactory factory;

  @TempDir Path directory;

  BrowsingTest() throws JMSException {
    factory = new LightmqConnectionFactory("lightmq:mem:" + UUID.randomUUID());
  }

  private static List<String> texts(QueueBrowser browser) throws JMSException {
    List<String> all = new ArrayList<>();
    Enumeration<?> messages = browser.getEnumeration();
    while (messages.hasMoreElements()) {
      assertThat(messages.hasMoreElements()).as("asking changes nothing").isTrue();
      all.add(((TextMessage) messages.nextElement()).getText());
    }
    assertThatThrownBy(messages::nextElement).isInstanceOf(NoSuchElementException.class);
    assertThat(messages.hasMoreElements()).isFalse();
    return all;
  }

  private static List<String> receive(JMSContext context, Queue queue, int count)
      throws JMSException {
    List<String> all = new ArrayList<>();
    try (JMSConsumer consumer = context.createConsumer(queue)) {
      for (int i = 0; i < count; i++) {
        Message message = consumer.receive(WAIT_MILLIS);
        assertThat(message).as("message %d of %d", i, count).isNotNull();
        assertThat(message.getJMSRedelivered()).as("flag of message %d", i).isFalse();
        assertThat(message.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
        all.add(((TextMessage) message).getText());
      }
      assertThat(consumer.receiveNoWait()).isNull();
    }
    return all;
  }

  @Test
  void aBrowserShowsWhatAConsumerGetsThenAndChangesNothing() throws JMSException {
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("q");
      JMSProducer producer = context.createProducer();
      for (int i = 0; i < 3_000; i++) {
        producer
            .setPriority(i % 10)
            .setDeliveryMode(i % 7 == 0 ? DeliveryMode.NON_PERSISTENT : DeliveryMode.PERSISTENT)
            .send(queue, "message " + i);
      }
      QueueBrowser browser = context.createBrowser(queue);
      List<String> shown = texts(browser);
      assertThat(shown).hasSize(3_000).startsWith("message 9").endsWith("message 2990");
      assertThat(texts(browser)).isEqualTo(shown);
      assertThat(receive(context, queue, 3_000)).isEqualTo(shown);
      assertThat(texts(browser)).isEmpty();
      browser.close();
    }
  }

  @Test
  void theConnectionNeedNotBeStartedAndEachEnumerationIsALookOfItsOwn() throws JMSException {
    try (Connection connection = factory.createConnection()) {
      Session session = connection.createSession();
      Queue queue = session.createQueue("q");
      MessageProducer producer = session.createProducer(queue);
      QueueBrowser browser = session.createBrowser(queue, "  ");
      assertThat(browser.getQueue()).isSameAs(queue);
      assertThat(browser.getMessageSelector()).isNull();
      producer.send(session.createTextMessage("a"));
      Enumeration<?> first = browser.getEnumeration();
      producer.send(session.createTextMessage("b"));
      assertThat(((TextMessage) first.nextElement()).getText()).isEqualTo("a");
      assertThat(first.hasMoreElements()).as("what came after the look began").isFalse();
      assertThat(texts(browser)).containsExactly("a", "b");
      Enumeration<?> open = browser.getEnumeration();
      browser.close();
      browser.close();
      assertThat(open.hasMoreElements()).isFalse();
      assertThatThrownBy(browser::getEnumeration).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(browser::getQueue).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void whatATransactionHoldsIsShownAndWhatIsAcknowledgedIsNot() throws JMSException {
    try (JMSContext sender = factory.createContext();
        JMSContext taker = sender.createContext(JMSContext.SESSION_TRANSACTED)) {
      Queue queue = sender.createQueue("q");
      sender.createProducer().send(queue, "a").send(queue, "b");
      QueueBrowser browser = sender.createBrowser(queue);
      try (JMSConsumer consumer = taker.createConsumer(queue)) {
        assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("a");
        assertThat(texts(browser)).containsExactly("a", "b");
        taker.commit();
        assertThat(texts(browser)).containsExactly("b");
        assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("b");
        taker.rollback();
      }
      Enumeration<?> messages = browser.getEnumeration();
      assertThat(((Message) messages.nextElement()).getJMSRedelivered()).isTrue();
    }
  }

  @Test
  void whatTheApplicationHasReceivedInModeAutoIsGoneAtOnce() throws JMSException {
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("q");
      QueueBrowser browser = context.createBrowser(queue);
      try (JMSConsumer consumer = context.createConsumer(queue)) {
        for (int i = 0; i < 50; i++) {
          context.createProducer().send(queue, "message " + i);
          assertThat(consumer.receive(WAIT_MILLIS)).isNotNull();
          assertThat(texts(browser)).as("after message %d", i).isEmpty();
        }
      }
    }
  }

  @Test
  void aSelectorChoosesWhatIsShown() throws JMSException {
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("q");
      for (int i = 0; i < 100; i++) {
        context.createProducer().setProperty("n", i).send(queue, "message " + i);
      }
      QueueBrowser browser = context.createBrowser(queue, "n BETWEEN 40 AND 42 OR n = 7");
      assertThat(browser.getMessageSelector()).isEqualTo("n BETWEEN 40 AND 42 OR n = 7");
      assertThat(texts(browser))
          .containsExactly("message 7", "message 40", "message 41", "message 42");
      assertThat(texts(context.createBrowser(queue, "n > 1000"))).isEmpty();
    }
  }

  @Test
  void whatCannotBeBrowsedIsRefusedWhenTheBrowserIsMade() throws JMSException {
    try (Connection connection = factory.createConnection();
        JMSContext context = factory.createContext()) {
      Session session = connection.createSession();
      Queue queue = session.createQueue("q");
      assertThatThrownBy(() -> session.createBrowser(null))
          .isInstanceOf(InvalidDestinationException.class);
      assertThatThrownBy(() -> context.createBrowser(null))
          .isInstanceOf(InvalidDestinationRuntimeException.class);
      assertThatThrownBy(() -> session.createBrowser(queue, "n = = 3"))
          .isInstanceOf(InvalidSelectorException.class)
          .hasMessageContaining("column");
      TemporaryQueue gone = session.createTemporaryQueue();
      gone.delete();
      assertThatThrownBy(() -> session.createBrowser(gone))
          .isInstanceOf(InvalidDestinationException.class);
      session.close();
      assertThatThrownBy(() -> session.createBrowser(queue))
          .isInstanceOf(IllegalStateException.class);
      try (TopicConnection topics = factory.createTopicConnection()) {
        Session topicSession = topics.createTopicSession(false, Session.AUTO_ACKNOWLEDGE);
        assertThatThrownBy(() -> topicSession.createBrowser(queue))
            .isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void aTemporaryQueueIsBrowsedByItsConnectionAloneUntilItIsDeleted() throws JMSException {
    try (JMSContext owner = factory.createContext();
        Connection other = factory.createConnection()) {
      TemporaryQueue queue = owner.createTemporaryQueue();
      owner.createProducer().send(queue, "a").send(queue, "b");
      Session stranger = other.createSession();
      for (Queue given : List.of(queue, stranger.createQueue(queue.getQueueName()))) {
        assertThatThrownBy(() -> stranger.createBrowser(given).getEnumeration())
            .isInstanceOf(InvalidDestinationException.class);
        assertThatThrownBy(() -> stranger.createConsumer(given))
            .isInstanceOf(InvalidDestinationException.class);
      }
      QueueBrowser browser = owner.createBrowser(queue);
      assertThat(texts(browser)).containsExactly("a", "b");
      Enumeration<?> messages = browser.getEnumeration();
      queue.delete();
      assertThat(messages.hasMoreElements()).isFalse();
      assertThatThrownBy(browser::getEnumeration).isInstanceOf(InvalidDestinationException.class);
    }
  }

  @Test
  void aQueueSessionBrowsesToo() throws JMSException {
    try (QueueConnection connection = factory.createQueueConnection()) {
      QueueSession session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
      Queue queue = session.createQueue("q");
      session.createSender(queue).send(session.createTextMessage("a"));
      assertThat(texts(session.createBrowser(queue))).containsExactly("a");
      connection.start();
      QueueReceiver receiver = session.createReceiver(queue);
      assertThat(receiver.receive(WAIT_MILLIS)).isNotNull();
      assertThat(texts(session.createBrowser(queue))).isEmpty();
    }
  }

  @Test
  void aListenerMayBrowse() throws Exception {
    try (Connection connection = factory.createConnection()) {
      Session session = connection.createSession();
      Queue queue = session.createQueue("q");
      Queue other = session.createQueue("other");
      MessageProducer producer = session.createProducer(null);
      producer.send(other, session.createTextMessage("a"));
      CompletableFuture<List<String>> seen = new CompletableFuture<>();
      MessageConsumer consumer = session.createConsumer(queue);
      consumer.setMessageListener(
          message -> {
            try {
              seen.complete(texts(session.createBrowser(other)));
            } catch (JMSException | RuntimeException e) {
              seen.completeExceptionally(e);
            }
          });
      producer.send(queue, session.createTextMessage("go"));
      connection.start();
      assertThat(seen.get(WAIT_MILLIS, TimeUnit.MILLISECONDS)).containsExactly("a");
    }
  }

  @Test
  void whatAnEarlierBrokerLeftInItsFilesIsShown() throws JMSException {
    LightmqConnectionFactory files =
        new LightmqConnectionFactory("lightmq:file:" + directory.resolve("data"));
    List<String> sent = new ArrayList<>();
    try (JMSContext context = files.createContext()) {
      for (int i = 0; i < 500; i++) {
        sent.add(i + " ".repeat(1_000));
        context.createProducer().setAsync(null).send(context.createQueue("q"), sent.get(i));
      }
    }
    try (JMSContext context = files.createContext()) {
      Queue queue = context.createQueue("q");
      assertThat(texts(context.createBrowser(queue))).isEqualTo(sent);
      Enumeration<?> half = context.createBrowser(queue).getEnumeration();
      half.nextElement();
      assertThat(receive(context, queue, 500)).isEqualTo(sent);
      // What the client had fetched is shown still; the rest has gone.
      assertThat(Collections.list(half)).hasSizeLessThan(499);
    }
  }
}
