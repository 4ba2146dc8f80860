package io.lightmq.tck.assertions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TextMessage;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jakarta Messaging 3.1 sections 7.7, 7.8 and 6.2.2: delivery mode, time to live and temporary
 * destinations, with a restart of the broker in between.
 */
class S07DeliveryTest {

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

  @Test
  void onlyPersistentMessagesSurviveTheBroker() throws Exception {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue("orders"));
      producer.send(session.createTextMessage("kept"));
      producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
      producer.send(session.createTextMessage("in memory"));
    }
    broker.restart();
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      TextMessage first = (TextMessage) consumer.receive(BrokerFolder.COMES_MILLIS);
      assertThat(first.getText()).isEqualTo("kept");
      assertThat(first.getJMSRedelivered()).isFalse();
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }

  @Test
  void aMessageExpiresAlsoWhileTheBrokerIsDown() throws Exception {
    long expirationMillis;
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue("orders"));
      TextMessage shortLived = session.createTextMessage("short");
      producer.send(shortLived, DeliveryMode.PERSISTENT, 4, 1);
      producer.send(
          session.createTextMessage("long"), DeliveryMode.PERSISTENT, 4, TimeUnit.DAYS.toMillis(1));
      expirationMillis = shortLived.getJMSExpiration();
    }
    broker.restart();
    Awaitility.await().until(() -> System.currentTimeMillis() > expirationMillis);
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      TextMessage first = (TextMessage) consumer.receive(BrokerFolder.COMES_MILLIS);
      assertThat(first.getText()).isEqualTo("long");
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }

  @Test
  void aTemporaryQueueIsItsConnectionsAndEndsWithIt() throws Exception {
    try (Connection other = broker.connect()) {
      Session asking = other.createSession();
      Queue gone;
      try (Connection connection = broker.connect()) {
        Session session = connection.createSession();
        TemporaryQueue temporary = session.createTemporaryQueue();
        assertThatThrownBy(() -> asking.createConsumer(temporary)).isInstanceOf(JMSException.class);
        asking.createProducer(temporary).send(asking.createTextMessage("reply"));
        assertThat(session.createConsumer(temporary).receive(BrokerFolder.COMES_MILLIS))
            .isNotNull();
        gone = temporary;
      }
      assertThatThrownBy(() -> asking.createProducer(gone).send(asking.createMessage()))
          .isInstanceOf(InvalidDestinationException.class);
    }
  }
}
