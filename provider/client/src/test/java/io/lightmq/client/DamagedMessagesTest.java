package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.MalformedMessageException;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageFormatRuntimeException;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged messages: each receive is an attempt, and what waits behind them is not blocked. */
class DamagedMessagesTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private PlayedQueue queue;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
  }

  private JMSContext context(int mode) {
    return new LightmqConnectionFactory(broker.uri("")).createContext(mode);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        Session.AUTO_ACKNOWLEDGE,
        Session.CLIENT_ACKNOWLEDGE,
        Session.DUPS_OK_ACKNOWLEDGE,
        Session.SESSION_TRANSACTED,
        LightmqJms.INDIVIDUAL_ACKNOWLEDGE
      })
  void aReceiveOfADamagedMessageIsAFailedAttemptWithItsCause(int mode) throws Exception {
    try (JMSContext context = context(mode)) {
      JMSConsumer consumer = context.createConsumer(context.createQueue("orders"));
      queue.giveDamaged(7, "bad", "behind");
      assertThatThrownBy(() -> consumer.receive(10_000))
          .isInstanceOf(MessageFormatRuntimeException.class)
          .hasMessageContaining("damaged");
      await().until(() -> queue.returned(true).equals(List.of(7L)));
      assertThat(queue.returned(false)).containsExactly(8L);
      assertThat(broker.seen(Frame.Return.class).get(0).cause()).contains("damaged");
      assertThat(broker.seen(Frame.Acknowledge.class)).isEmpty();
      queue.give(8, 1, "behind"); // the broker has made a dead letter of it
      assertThat(consumer.receiveBody(String.class, 10_000)).isEqualTo("behind");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"receive", "receiveNoWait", "receiveBody", "receiveBodyNoWait"})
  void everyKindOfReceiveCountsTheAttemptAndFailsOnce(String kind) throws Exception {
    try (JMSContext context = context(Session.AUTO_ACKNOWLEDGE)) {
      JMSConsumer consumer = context.createConsumer(context.createQueue("orders"));
      for (int attempt = 1; attempt <= 3; attempt++) {
        queue.giveDamaged(7, "bad");
        assertThatThrownBy(() -> receive(consumer, kind))
            .isInstanceOf(MessageFormatRuntimeException.class);
        assertThat(queue.returned(true)).hasSize(attempt).containsOnly(7L);
      }
      queue.give(8, 0, "behind");
      assertThat(consumer.receiveBody(String.class, 10_000)).isEqualTo("behind");
    }
  }

  private static Object receive(JMSConsumer consumer, String kind) {
    return switch (kind) {
      case "receive" -> consumer.receive();
      case "receiveNoWait" -> consumer.receiveNoWait();
      case "receiveBody" -> consumer.receiveBody(Integer.class);
      default -> consumer.receiveBodyNoWait(String.class);
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.CLIENT_ACKNOWLEDGE, Session.AUTO_ACKNOWLEDGE, 0, 101})
  void aDamagedMessageThatNoListenerGotIsNotSettledWithTheOthers(int mode) throws Exception {
    LinkedBlockingQueue<Message> heard = new LinkedBlockingQueue<>();
    try (JMSContext context = context(mode)) {
      JMSConsumer consumer = context.createConsumer(context.createQueue("orders"));
      consumer.setMessageListener(heard::add);
      queue.giveDamaged(7, "bad");
      await().until(() -> queue.returned(true).equals(List.of(7L)));
      queue.give(8, 0, "behind");
      assertThat(heard.poll(10, TimeUnit.SECONDS).getBody(String.class)).isEqualTo("behind");
    }
    assertThat(queue.returned(true).stream().filter(sequence -> sequence == 7)).hasSize(1);
  }

  @Test
  void withoutAcknowledgementsADamagedMessageIsPassedOver() throws Exception {
    try (var connection = rig.connect("")) {
      Session session = connection.createSession(LightmqJms.NO_ACKNOWLEDGE);
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      connection.start();
      queue.giveDamaged(7, "bad", "behind");
      assertThatThrownBy(() -> consumer.receive(10_000))
          .isInstanceOf(JMSException.class)
          .hasCauseInstanceOf(MalformedMessageException.class);
      assertThat(((TextMessage) consumer.receive(10_000)).getText()).isEqualTo("behind");
    }
  }
}
