package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of received messages when the word on them cannot be carried out. */
class SettlingTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
  }

  private void open(int mode) throws Exception {
    connection = rig.connect("");
    session = connection.createSession(mode);
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
  }

  private String receive() throws JMSException {
    Message message = consumer.receive(10_000);
    return message == null ? "nothing" : ((TextMessage) message).getText();
  }

  /**
   * The broker gives back what a refused commit would have acknowledged, and counts the attempt.
   */
  @Test
  void afterACommitThatTheBrokerRefusesTheOrderHolds() throws Exception {
    open(Session.SESSION_TRANSACTED);
    queue.give(1, 0, "a", "b");
    assertThat(receive()).isEqualTo("a");
    broker.on(
        Frame.Commit.class,
        commit ->
            List.of(
                new Frame.Fault(
                    commit.correlation(), FaultCode.TRANSACTION_ROLLED_BACK, "no room", 0)));
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(queue.returned(true)).as("counted twice").isEmpty();
    assertThat(queue.returned(false)).as("what waits behind it").containsExactly(2L);
    queue.give(1, 1, "a", "b");
    assertThat(List.of(receive(), receive())).containsExactly("a", "b");
  }

  /** Section 10.3 of the specification; the other codes leave the outcome unknown. */
  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"OK", "OUTCOME_UNKNOWN", "CLOSING", "BROKER_FAILED", "HEARTBEAT_LOST"})
  void whateverTheBrokerRefusesACommitForItIsRolledBack(FaultCode code) throws Exception {
    open(Session.SESSION_TRANSACTED);
    queue.give(1, 0, "a", "b");
    assertThat(receive()).isEqualTo("a");
    broker.on(
        Frame.Commit.class,
        commit -> List.of(new Frame.Fault(commit.correlation(), code, "the reason", 0)));
    assertThatThrownBy(session::commit)
        .isInstanceOf(TransactionRolledBackException.class)
        .hasMessageContaining("the reason")
        .satisfies(
            e ->
                assertThat(codes(e))
                    .as("the cause is kept with its code")
                    .contains("LMQ-" + code.code()));
    assertThat(queue.returned(false)).as("what waits behind it").containsExactly(2L);
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      names = {"OUTCOME_UNKNOWN", "BROKER_FAILED"})
  void aCommitWhoseOutcomeIsUnknownIsNotSaidToBeRolledBack(FaultCode code) throws Exception {
    open(Session.SESSION_TRANSACTED);
    queue.give(1, 0, "a", "b");
    assertThat(receive()).isEqualTo("a");
    broker.on(
        Frame.Commit.class,
        commit -> List.of(new Frame.Fault(commit.correlation(), code, "who knows", 0)));
    assertThatThrownBy(session::commit)
        .isInstanceOf(JMSException.class)
        .isNotInstanceOf(TransactionRolledBackException.class);
    assertThat(queue.returned(true)).isEmpty();
  }

  @Test
  void aCommitThatTheClientRefusesGivesItsMessagesBack() throws Exception {
    open(Session.SESSION_TRANSACTED);
    MessageProducer producer = session.createProducer(session.createQueue("gone"));
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(
                new Frame.Fault(
                    attach.correlation(), FaultCode.INVALID_DESTINATION, "it is gone", 0)));
    queue.lost();
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 2);
    queue.give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    producer.send(session.createTextMessage("x"));
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
    assertThat(queue.returned(true)).containsExactly(1L);
  }

  /** That a connection was lost is no failure of the application's, in a transaction neither. */
  @Test
  void aCommitThatALostConnectionHasMadeVainGivesTheRestBackUncounted() throws Exception {
    open(Session.SESSION_TRANSACTED);
    queue.give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    queue.lost();
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 2);
    queue.give(2, 0, "b");
    assertThat(receive()).isEqualTo("b");
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
    assertThat(queue.returned(true)).isEmpty();
    assertThat(queue.returned(false)).contains(2L);
  }

  @Test
  void aRefusedCommitKeepsItsReasonThoughGivingBackFails() throws Exception {
    open(Session.SESSION_TRANSACTED);
    queue.give(1, 0, "a", "b");
    assertThat(receive()).isEqualTo("a");
    broker.on(
        Frame.Commit.class,
        commit ->
            List.of(
                new Frame.Fault(
                    commit.correlation(), FaultCode.TRANSACTION_ROLLED_BACK, "no room", 0)));
    broker.on(
        Frame.Return.class,
        back ->
            List.of(new Frame.Fault(back.correlation(), FaultCode.NOT_AUTHORIZED, "not yours", 0)));
    assertThatThrownBy(session::commit)
        .isInstanceOf(TransactionRolledBackException.class)
        .hasMessageContaining("no room")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
  }

  @Test
  void anAcknowledgementThatIsRefusedCanBeRepeated() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    Message message = consumer.receive(10_000);
    broker.on(
        Frame.Acknowledge.class,
        ack -> List.of(new Frame.Fault(ack.correlation(), FaultCode.DISK_FULL, "full", 0)));
    assertThatThrownBy(message::acknowledge).isInstanceOf(ResourceAllocationException.class);
    broker.ok(Frame.Acknowledge.class);
    message.acknowledge();
    assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(2);
    message.acknowledge();
    assertThat(broker.seen(Frame.Acknowledge.class)).as("nothing is left").hasSize(2);
  }

  @Test
  void anAcknowledgementOfOneMessageThatIsRefusedCanBeRepeated() throws Exception {
    open(LightmqJms.INDIVIDUAL_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    Message message = consumer.receive(10_000);
    broker.on(
        Frame.Acknowledge.class,
        ack -> List.of(new Frame.Fault(ack.correlation(), FaultCode.DISK_FULL, "full", 0)));
    assertThatThrownBy(message::acknowledge).isInstanceOf(ResourceAllocationException.class);
    session.recover();
    assertThat(queue.returned(true)).as("it was not forgotten").containsExactly(1L);
  }

  @Test
  void whatWasReceivedIsSettledOrReportedLostWheneverTheConnectionGoes() throws Exception {
    open(Session.SESSION_TRANSACTED);
    Races races = new Races(broker);
    for (int round = 0; round < 2_000; round++) {
      assertThat(races.commitWhileTheLinkIsLost())
          .as("round %d: a commit that succeeds has its acknowledgement", round)
          .isTrue();
    }
    for (int round = 0; round < 2_000; round++) {
      assertThat(races.acknowledgeOneWhileTheLinkIsLost())
          .as("round %d: an acknowledgement that succeeds was sent", round)
          .isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.SESSION_TRANSACTED, Session.CLIENT_ACKNOWLEDGE, 101})
  void whatTheCloseHasGivenBackIsNotSettledAsIfNothingHadBeen(int mode) throws Exception {
    open(mode);
    Races races = new Races(broker);
    assertThatThrownBy(() -> races.settleWhatTheCloseHasGivenBack(AckMode.of(mode)))
        .isInstanceOf(jakarta.jms.IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  private void loseTheConnection() throws Exception {
    int attached = broker.seen(Frame.AttachConsumer.class).size();
    queue.lost();
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() > attached);
  }

  @Test
  void aClosedConsumerIsDetachedThoughItsConnectionHadBeenLost() throws Exception {
    open(LightmqJms.INDIVIDUAL_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    Message lost = consumer.receive(10_000);
    loseTheConnection();
    queue.give(1, 1, "a");
    consumer.receive(10_000).acknowledge();
    consumer.close();
    await().until(() -> broker.seen(Frame.DetachConsumer.class).size() == 1);
    for (int time = 0; time < 2; time++) {
      assertThatThrownBy(lost::acknowledge)
          .isInstanceOf(JMSException.class)
          .hasMessageContaining("comes again");
    }
    session.recover();
    lost.acknowledge();
    assertThat(broker.seen(Frame.Acknowledge.class)).as("of the second copy only").hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.SESSION_TRANSACTED, Session.CLIENT_ACKNOWLEDGE, 101})
  void aConsumerThatWaitsForItsMessagesToBeSettledDoesNotSurviveTheirLoss(int mode)
      throws Exception {
    open(mode);
    queue.give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    consumer.close();
    assertThat(broker.seen(Frame.DetachConsumer.class)).isEmpty();
    int connections = broker.seen(Frame.Attach.class).size();
    queue.lost();
    broker.cut();
    await().until(() -> broker.seen(Frame.OpenSession.class).size() > connections);
    session.createConsumer(session.createQueue("later"));
    assertThat(broker.seen(Frame.AttachConsumer.class))
        .as("only the new one is attached on the new connection")
        .hasSize(2);
  }

  @Test
  void anAcknowledgementThatALostConnectionHasMadeVainGivesTheRestBackUncounted() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    loseTheConnection();
    queue.give(1, 1, "a", "b");
    assertThat(receive()).isEqualTo("a");
    Message last = consumer.receive(10_000);
    assertThatThrownBy(last::acknowledge)
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("come again");
    assertThat(queue.returned(true)).as("no application has failed").isEmpty();
    assertThat(queue.returned(false)).containsExactly(1L);
  }

  /** The error codes of a failure and its causes. */
  private static List<String> codes(Throwable failure) {
    List<String> codes = new ArrayList<>();
    for (Throwable e = failure; e != null; e = e.getCause()) {
      if (e instanceof JMSException jms) {
        codes.add(jms.getErrorCode());
      }
    }
    return codes;
  }

  static <T> T got(CompletableFuture<T> future) {
    try {
      return future.get(10, TimeUnit.SECONDS);
    } catch (ExecutionException | InterruptedException | java.util.concurrent.TimeoutException e) {
      throw new AssertionError(e);
    }
  }
}
