package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A transaction that is longer than a frame is sent ahead, piece by piece. */
class StagingTest {
  private static final int FRAME_BYTES = 10_000;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageProducer producer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    broker.keepsTransactions(FRAME_BYTES);
    broker.on(Frame.Commit.class, StagingTest::done);
    broker.ok(Frame.Abandon.class);
    broker.ok(Frame.Return.class);
    connect("");
  }

  private void connect(String options) throws Exception {
    connection = rig.connect(options);
    session = connection.createSession(Session.SESSION_TRANSACTED);
    producer = session.createProducer(session.createQueue("orders"));
  }

  private static List<Frame> done(Frame commit) {
    return List.of(new Frame.Receipts(List.of(new Frame.Done(commit.correlation(), 1)), List.of()));
  }

  private void send(int... lengths) throws JMSException {
    for (int length : lengths) {
      producer.send(session.createTextMessage("x".repeat(length)));
    }
  }

  private void sendNumbered(int from, int to) throws JMSException {
    for (int i = from; i < to; i++) {
      producer.send(session.createTextMessage(i + "x".repeat(1_000)));
    }
  }

  private static List<Integer> numbers(List<Frame.StagedRun> runs) {
    List<Integer> numbers = new ArrayList<>();
    for (Frame.StagedRun run : runs) {
      ScriptedBroker.texts(run.messages())
          .forEach(text -> numbers.add(Integer.valueOf(text.substring(0, text.indexOf('x')))));
    }
    return numbers;
  }

  private Frame.Commit onlyCommit() {
    assertThat(broker.seen(Frame.Commit.class)).hasSize(1);
    return broker.seen(Frame.Commit.class).get(0);
  }

  private static int bytes(List<Frame.StagedRun> runs) {
    return runs.stream().mapToInt(run -> run.messages().readableBytes() - 4 * run.count()).sum();
  }

  @Test
  void allOfItComesInOrderAndTheCommitNamesWhatCameAhead() throws Exception {
    sendNumbered(0, 25);
    session.commit();
    List<Frame.Stage> stages = broker.seen(Frame.Stage.class);
    Frame.Commit commit = onlyCommit();
    List<Integer> numbers = new ArrayList<>();
    stages.forEach(stage -> numbers.addAll(numbers(stage.runs())));
    numbers.addAll(numbers(commit.runs()));
    assertThat(numbers).hasSize(25).isSorted().doesNotHaveDuplicates();
    assertThat(stages).hasSizeGreaterThanOrEqualTo(2);
    assertThat(stages).allMatch(stage -> bytes(stage.runs()) <= FRAME_BYTES);
    assertThat(stages).allMatch(stage -> stage.branch().equals(new Branch.Local(1)));
    assertThat(stages.get(0).transaction()).isZero();
    assertThat(stages.get(1).transaction()).isEqualTo(ScriptedBroker.TRANSACTION);
    assertThat(commit.staged())
        .isEqualTo(new Frame.Part(new Branch.Local(1), ScriptedBroker.TRANSACTION));
  }

  @Test
  void theNextTransactionHasAnotherNameAndAShortOneHasNone() throws Exception {
    sendNumbered(0, 15);
    session.commit();
    sendNumbered(0, 1);
    session.commit();
    sendNumbered(0, 15);
    session.commit();
    List<Frame.Commit> commits = broker.seen(Frame.Commit.class);
    assertThat(commits.get(1).staged()).isNull();
    assertThat(commits.get(2).staged().branch()).isEqualTo(new Branch.Local(2));
    assertThat(broker.seen(Frame.Stage.class).get(1).transaction()).isZero();
  }

  @Test
  void rollbackDropsWhatTheBrokerHas() throws Exception {
    sendNumbered(0, 15);
    session.rollback();
    assertThat(broker.seen(Frame.Abandon.class))
        .extracting(Frame.Abandon::branch, Frame.Abandon::attempted)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(new Branch.Local(1), true));
    session.commit();
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
  }

  @Test
  void closeDropsWhatTheBrokerHas() throws Exception {
    sendNumbered(0, 15);
    session.close();
    assertThat(broker.seen(Frame.Abandon.class)).hasSize(1);
  }

  @Test
  void aSendForWhichTheBrokerHasNoRoomIsNotPartOfTheTransactionWhichGoesOn() throws Exception {
    sendNumbered(0, 9);
    broker.on(
        Frame.Stage.class,
        stage -> List.of(new Frame.Fault(stage.correlation(), FaultCode.DISK_FULL, "full", 0)));
    assertThatThrownBy(() -> sendNumbered(9, 10)).isInstanceOf(ResourceAllocationException.class);
    broker.keepsTransactions(FRAME_BYTES);
    sendNumbered(10, 15);
    session.commit();
    List<Integer> numbers = new ArrayList<>();
    broker.seen(Frame.Stage.class).stream()
        .skip(1)
        .forEach(stage -> numbers.addAll(numbers(stage.runs())));
    numbers.addAll(numbers(onlyCommit().runs()));
    assertThat(numbers).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14);
  }

  @Test
  void aLostConnectionRollsItBackAtTheNextPieceAndAtTheCommit() throws Exception {
    sendNumbered(0, 15);
    broker.cut();
    Awaitility.await().until(() -> broker.seen(Frame.Attach.class).size() == 2);
    broker.on(
        Frame.Stage.class,
        stage ->
            List.of(
                new Frame.Fault(
                    stage.correlation(), FaultCode.TRANSACTION_ROLLED_BACK, "gone", 0)));
    assertThatThrownBy(() -> sendNumbered(15, 30))
        .isInstanceOf(TransactionRolledBackException.class);
    assertThatThrownBy(() -> sendNumbered(30, 31))
        .isInstanceOf(TransactionRolledBackException.class);
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
    broker.keepsTransactions(FRAME_BYTES);
    sendNumbered(0, 15);
    session.commit();
    assertThat(onlyCommit().staged().branch()).isEqualTo(new Branch.Local(2));
  }

  @Test
  void aPieceWhoseAnswerIsLostRollsItBack() throws Exception {
    broker.expectToo(Frame.Stage.class);
    CompletableFuture<Void> sends =
        CompletableFuture.runAsync(
            () -> {
              try {
                sendNumbered(0, 15);
              } catch (JMSException e) {
                throw new IllegalStateException(e);
              }
            });
    broker.expect(Frame.Stage.class);
    broker.cut();
    assertThatThrownBy(sends::join)
        .cause()
        .hasCauseInstanceOf(TransactionRolledBackException.class);
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
  }

  @Test
  void aMessageLongerThanAFrameOfATransactionGoesAlone() throws Exception {
    send(100, 3 * FRAME_BYTES, 100);
    session.commit();
    List<Frame.Stage> stages = broker.seen(Frame.Stage.class);
    assertThat(stages).hasSize(2);
    assertThat(bytes(stages.get(1).runs())).isGreaterThan(3 * FRAME_BYTES);
    assertThat(stages.get(1).runs()).hasSize(1);
    assertThat(bytes(onlyCommit().runs())).isLessThan(1_000);
  }

  @Test
  void messagesForTemporaryDestinationsStayHereUpToAFrame() throws Exception {
    broker.on(
        Frame.CreateTemporary.class,
        create ->
            List.of(
                new Frame.TemporaryCreated(
                    create.correlation(),
                    new io.lightmq.wire.entry.DestinationName(
                        create.kind(), "temp." + "0".repeat(32)))));
    MessageProducer replies = session.createProducer(session.createTemporaryQueue());
    replies.send(session.createTextMessage("1" + "x".repeat(1_000)));
    sendNumbered(0, 20);
    replies.send(session.createTextMessage("2" + "x".repeat(1_000)));
    session.commit();
    long temporary = broker.idOf("temp." + "0".repeat(32));
    assertThat(broker.seen(Frame.Stage.class))
        .isNotEmpty()
        .allMatch(stage -> stage.runs().stream().noneMatch(r -> r.destinationId() == temporary));
    List<Frame.StagedRun> last =
        onlyCommit().runs().stream().filter(run -> run.destinationId() == temporary).toList();
    assertThat(numbers(last)).containsExactly(1, 2);
    for (int i = 0; i < 9; i++) {
      replies.send(session.createTextMessage("x".repeat(1_000)));
    }
    assertThatThrownBy(() -> replies.send(session.createTextMessage("x".repeat(1_000))))
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("temporary")
        .hasMessageContaining(String.valueOf(FRAME_BYTES));
  }

  @Test
  void whatWasReceivedGoesAheadTooAndIsNotAcknowledgedTwice() throws Exception {
    MessageConsumer consumer = session.createConsumer(session.createQueue("in"));
    broker.expectToo(Frame.Pull.class);
    connection.start();
    CompletableFuture<Void> received =
        CompletableFuture.runAsync(
            () -> {
              try {
                assertThat(consumer.receive()).isNotNull();
              } catch (JMSException e) {
                throw new IllegalStateException(e);
              }
            });
    Frame.PullOne pull = broker.expect(Frame.Pull.class).pulls().get(0);
    broker.nothingThere();
    broker.send(broker.deliver(pull, "in", 7, 0, "a"));
    received.join();
    sendNumbered(0, 25);
    session.commit();
    List<Frame.Stage> stages = broker.seen(Frame.Stage.class);
    assertThat(stages.get(0).acked().get(0).ranges()).containsExactly(new SequenceRange(4, 7, 1));
    assertThat(stages.stream().skip(1)).allMatch(stage -> stage.acked().isEmpty());
    assertThat(onlyCommit().acked()).isEmpty();
  }

  @Test
  void aTransactionThatOnlyCameAheadIsCommittedByAFrameWithoutMessages() throws Exception {
    send(2 * FRAME_BYTES);
    session.commit();
    assertThat(onlyCommit().runs()).isEmpty();
    assertThat(onlyCommit().staged()).isNotNull();
  }

  @Test
  void anOldBrokerHasTheLimitOfOneFrame() throws Exception {
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    connect("");
    for (int i = 0; i < 10; i++) {
      send(100_000);
    }
    assertThatThrownBy(() -> send(100_000))
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("the limit is 1048576; commit more often");
    session.commit();
    assertThat(broker.seen(Frame.Stage.class)).isEmpty();
    assertThat(onlyCommit().runs().get(0).count()).isEqualTo(10);
  }
}
