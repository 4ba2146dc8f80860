package io.lightmq.tck.assertions;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jakarta Messaging 3.1 sections 6.2.10 and 6.2.11: message acknowledgment and duplicate delivery,
 * with a restart of the broker in between.
 */
class S0621AcknowledgmentTest {

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

  private void send(int count) throws JMSException {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue("orders"));
      for (int number = 1; number <= count; number++) {
        Message message = session.createMessage();
        message.setIntProperty("number", number);
        producer.send(message);
      }
    }
  }

  private static Message next(MessageConsumer consumer) throws JMSException {
    Message message = consumer.receive(BrokerFolder.COMES_MILLIS);
    assertThat(message).as("a message that is to come").isNotNull();
    return message;
  }

  private static void assertNext(
      MessageConsumer consumer, int number, boolean redelivered, int deliveries)
      throws JMSException {
    Message message = next(consumer);
    assertThat(message.getIntProperty("number")).isEqualTo(number);
    assertThat(message.getJMSRedelivered()).as("flag of %d", number).isEqualTo(redelivered);
    assertThat(message.getIntProperty("JMSXDeliveryCount"))
        .as("deliveries of %d", number)
        .isEqualTo(deliveries);
  }

  @Test
  void acknowledgingOneMessageAcknowledgesAllThatTheSessionConsumed() throws Exception {
    send(4);
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
      Queue queue = session.createQueue("orders");
      MessageConsumer consumer = session.createConsumer(queue);
      Message first = next(consumer);
      next(consumer);
      Message third = next(consumer);
      first.acknowledge();
      next(consumer);
      assertThat(third.getIntProperty("number")).isEqualTo(3);
      session.recover();
      assertNext(consumer, 4, true, 2);
      third.acknowledge();
    }
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.CLIENT_ACKNOWLEDGE, Session.SESSION_TRANSACTED})
  void whatWasNotAcknowledgedComesAgainAfterARestartAndSaysSo(int mode) throws Exception {
    send(5);
    Connection connection = broker.connect();
    Session session = connection.createSession(mode);
    MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
    Message first = next(consumer);
    if (mode == Session.SESSION_TRANSACTED) {
      session.commit();
    } else {
      first.acknowledge();
    }
    next(consumer);
    next(consumer);
    connection.close();
    broker.restart();
    try (Connection again = broker.connect()) {
      Session reading = again.createSession();
      MessageConsumer rest = reading.createConsumer(reading.createQueue("orders"));
      for (int number = 2; number <= 5; number++) {
        Message message = next(rest);
        assertThat(message.getIntProperty("number")).isEqualTo(number);
        assertThat(message.getIntProperty("JMSXDeliveryCount")).isPositive();
        if (number <= 3) {
          assertThat(message.getJMSRedelivered()).as("flag of %d", number).isTrue();
        }
      }
      assertThat(rest.receiveNoWait()).as("an acknowledged message").isNull();
    }
  }

  @Test
  void eachRollbackCountsOneDelivery() throws Exception {
    send(2);
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession(Session.SESSION_TRANSACTED);
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      for (int attempt = 1; attempt <= 4; attempt++) {
        assertNext(consumer, 1, attempt > 1, attempt);
        session.rollback();
      }
      assertNext(consumer, 1, true, 5);
      assertThat(next(consumer).getIntProperty("number")).isEqualTo(2);
      session.commit();
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }

  @Test
  void whatAutoAcknowledgeHandedOverDoesNotComeAgainAfterARestart() throws Exception {
    send(3);
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      next(consumer);
      next(consumer);
    }
    broker.restart();
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      assertThat(next(consumer).getIntProperty("number")).isEqualTo(3);
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }
}
