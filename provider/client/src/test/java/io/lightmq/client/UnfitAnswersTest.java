package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.TemporaryName;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker whose answers are whole frames and make no sense: the call fails, as a JMSException. */
class UnfitAnswersTest {
  /** Where an entry has its lane. */
  private static final int LANE = 9;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    connection = rig.connect("");
    session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
  }

  private Frame.Deliver delivery(Frame.PullOne pull, long sequence, int lane) {
    Frame.Deliver good = broker.deliver(pull, "orders", sequence, 0, "a");
    ByteBuffer bytes = good.entries().nioBuffer();
    int at = bytes.position() + LANE;
    bytes.put(at, (byte) lane);
    return good;
  }

  private void gives(long sequence, int lane) {
    broker.on(
        Frame.Pull.class,
        pull -> pull.pulls().stream().<Frame>map(one -> delivery(one, sequence, lane)).toList());
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Integer.MIN_VALUE, Long.MIN_VALUE})
  void aMessageThatIsNowhere(long sequence) throws Exception {
    gives(sequence, 4);
    receiveFails();
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 0x7F, 0xFF, 0x8A})
  void aMessageInNoLane(int lane) throws Exception {
    gives(7, lane);
    receiveFails();
  }

  private void receiveFails() throws Exception {
    connection.start();
    try (MessageConsumer consumer = session.createConsumer(session.createQueue("orders"))) {
      assertThatThrownBy(() -> consumer.receive(10_000))
          .isInstanceOf(JMSException.class)
          .hasRootCauseInstanceOf(MalformedMessageException.class);
    }
    try (QueueBrowser browser = session.createBrowser(session.createQueue("orders"))) {
      assertThatThrownBy(() -> browser.getEnumeration().hasMoreElements())
          .hasRootCauseInstanceOf(MalformedMessageException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(DestinationKind.class)
  void aTemporaryDestinationOfAnotherKind(DestinationKind made) throws Exception {
    broker.on(
        Frame.CreateTemporary.class,
        create ->
            List.of(
                new Frame.TemporaryCreated(
                    create.correlation(),
                    made.isTemporary()
                        ? TemporaryName.of(made, new byte[TemporaryName.BYTES])
                        : new DestinationName(made, "orders"))));
    if (made == DestinationKind.TEMPORARY_QUEUE) {
      assertThat(session.createTemporaryQueue().getQueueName()).startsWith("temp.");
    } else {
      assertThatThrownBy(session::createTemporaryQueue)
          .isInstanceOf(JMSException.class)
          .hasMessageContaining("does not fit");
    }
    if (made == DestinationKind.TEMPORARY_TOPIC) {
      assertThat(session.createTemporaryTopic().getTopicName()).startsWith("temp.");
    } else {
      assertThatThrownBy(session::createTemporaryTopic)
          .isInstanceOf(JMSException.class)
          .hasMessageContaining("does not fit");
    }
  }
}
