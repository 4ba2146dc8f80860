package io.lightmq.client;

import static javax.transaction.xa.XAResource.TMENDRSCAN;
import static javax.transaction.xa.XAResource.TMFAIL;
import static javax.transaction.xa.XAResource.TMJOIN;
import static javax.transaction.xa.XAResource.TMNOFLAGS;
import static javax.transaction.xa.XAResource.TMRESUME;
import static javax.transaction.xa.XAResource.TMSTARTRSCAN;
import static javax.transaction.xa.XAResource.TMSUCCESS;
import static javax.transaction.xa.XAResource.TMSUSPEND;
import static javax.transaction.xa.XAResource.XA_OK;
import static javax.transaction.xa.XAResource.XA_RDONLY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lightmq.client.xa.Xids;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.XAConnection;
import jakarta.jms.XASession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an XAResource asks of the broker, and which codes its answers become. */
class XaResourceTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private final Xid xid = FreshXids.next();
  private int usedPulls;
  private ScriptedBroker broker;
  private XAConnection connection;
  private XASession session;
  private XAResource resource;
  private MessageProducer producer;

  private static io.lightmq.wire.entry.Xid wire(Xid xid) throws XAException {
    return Xids.of(xid);
  }

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    broker.keepsTransactions(1 << 20);
    broker.on(Frame.Commit.class, XaResourceTest::done);
    broker.on(Frame.Prepare.class, XaResourceTest::done);
    broker.on(Frame.Decide.class, XaResourceTest::done);
    broker.on(Frame.Publish.class, XaResourceTest::done);
    broker.ok(Frame.Abandon.class);
    broker.ok(Frame.Return.class);
    connect("");
  }

  private void connect(String options) throws Exception {
    connection = rig.factory(options).createXAConnection();
    rig.closing(connection);
    session = connection.createXASession();
    resource = session.getXAResource();
    producer = session.createProducer(session.createQueue("orders"));
    connection.start();
  }

  private static List<Frame> done(Frame asked) {
    return List.of(new Frame.Receipts(List.of(new Frame.Done(asked.correlation(), 1)), List.of()));
  }

  private static List<Frame> refused(Frame asked, FaultCode code) {
    return List.of(
        new Frame.Receipts(
            List.of(), List.of(new Frame.Fault(asked.correlation(), code, "no", 0))));
  }

  private interface Call {
    void run() throws Exception;
  }

  private static int code(Call call) {
    XAException thrown = catchThrowableOfType(XAException.class, call::run);
    return thrown == null ? XA_OK : thrown.errorCode;
  }

  private void send(String text) throws JMSException {
    producer.send(session.createTextMessage(text));
  }

  private void work(String text) throws Exception {
    resource.start(xid, TMNOFLAGS);
    send(text);
    resource.end(xid, TMSUCCESS);
  }

  private static List<String> texts(List<Frame.StagedRun> runs) {
    List<String> texts = new ArrayList<>();
    runs.forEach(run -> texts.addAll(ScriptedBroker.texts(run.messages())));
    return texts;
  }

  private <F extends Frame> F only(Class<F> type) {
    assertThat(broker.seen(type)).hasSize(1);
    return broker.seen(type).get(0);
  }

  // ---- the usual way ----

  @Test
  void preparedAndCommitted() throws Exception {
    work("a");
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    Frame.Prepare prepare = only(Frame.Prepare.class);
    assertThat(prepare.xid()).isEqualTo(wire(xid));
    assertThat(prepare.transaction()).isZero();
    assertThat(texts(prepare.runs())).containsExactly("a");
    resource.commit(xid, false);
    assertThat(only(Frame.Decide.class).decision()).isEqualTo(BranchDecision.COMMIT);
    assertThat(only(Frame.Decide.class).number()).isEqualTo(prepare.number() + 1);
    broker.on(Frame.Decide.class, d -> refused(d, FaultCode.UNKNOWN_TRANSACTION));
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(XAException.XAER_NOTA);
  }

  @Test
  void committedInOnePhase() throws Exception {
    work("a");
    resource.commit(xid, true);
    Frame.Commit commit = only(Frame.Commit.class);
    assertThat(texts(commit.runs())).containsExactly("a");
    assertThat(commit.staged()).isNull();
    assertThat(code(() -> resource.commit(xid, true))).isEqualTo(XAException.XAER_NOTA);
  }

  @Test
  void aBranchWithoutWorkIsReadOnlyAndForgotten() throws Exception {
    resource.start(xid, TMNOFLAGS);
    resource.end(xid, TMSUCCESS);
    assertThat(resource.prepare(xid)).isEqualTo(XA_RDONLY);
    assertThat(broker.seen(Frame.Prepare.class)).isEmpty();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
    resource.start(xid, TMNOFLAGS);
    resource.end(xid, TMSUCCESS);
    resource.commit(xid, true);
  }

  @Test
  void rolledBackBeforeItIsPreparedTheBrokerHearsNothingOfIt() throws Exception {
    work("a");
    resource.rollback(xid);
    assertThat(broker.seen(Frame.Decide.class)).isEmpty();
    assertThat(broker.seen(Frame.Abandon.class)).isEmpty();
    broker.on(Frame.Decide.class, d -> refused(d, FaultCode.UNKNOWN_TRANSACTION));
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(XAException.XAER_NOTA);
  }

  @Test
  void rolledBackAfterItWasPrepared() throws Exception {
    work("a");
    resource.prepare(xid);
    resource.rollback(xid);
    assertThat(only(Frame.Decide.class).decision()).isEqualTo(BranchDecision.ROLL_BACK);
  }

  @Test
  void aLongBranchIsSentAheadUnderItsName() throws Exception {
    broker.keepsTransactions(10_000);
    connect("");
    resource.start(xid, TMNOFLAGS);
    for (int i = 0; i < 15; i++) {
      send("x".repeat(1_000));
    }
    resource.end(xid, TMSUCCESS);
    resource.prepare(xid);
    assertThat(only(Frame.Stage.class).branch()).isEqualTo(new Branch.Xa(wire(xid)));
    assertThat(only(Frame.Prepare.class).transaction()).isEqualTo(ScriptedBroker.TRANSACTION);
  }

  @Test
  void rollbackAbandonsWhatWasSentAhead() throws Exception {
    broker.keepsTransactions(10_000);
    connect("");
    resource.start(xid, TMNOFLAGS);
    for (int i = 0; i < 15; i++) {
      send("x".repeat(1_000));
    }
    resource.end(xid, TMFAIL);
    resource.rollback(xid);
    assertThat(only(Frame.Abandon.class).branch()).isEqualTo(new Branch.Xa(wire(xid)));
  }

  // ---- several branches, several sessions ----

  @Test
  void branchesOfOneSessionAreKeptApart() throws Exception {
    Xid second = FreshXids.next();
    resource.start(xid, TMNOFLAGS);
    send("1a");
    resource.end(xid, TMSUSPEND);
    resource.start(second, TMNOFLAGS);
    send("2");
    resource.end(second, TMSUCCESS);
    send("outside");
    resource.start(xid, TMRESUME);
    send("1b");
    resource.end(xid, TMSUCCESS);
    resource.commit(second, true);
    resource.commit(xid, true);
    assertThat(texts(broker.seen(Frame.Commit.class).get(0).runs())).containsExactly("2");
    assertThat(texts(broker.seen(Frame.Commit.class).get(1).runs())).containsExactly("1a", "1b");
    assertThat(ScriptedBroker.texts(only(Frame.Publish.class).messages()))
        .containsExactly("outside");
  }

  @Test
  void aSessionOfAnotherConnectionJoinsAndIsSentAheadFirst() throws Exception {
    XAConnection other = rig.factory("").createXAConnection();
    rig.closing(other);
    XASession joined = other.createXASession();
    XAResource theirs = joined.getXAResource();
    assertThat(resource.isSameRM(theirs)).isTrue();
    resource.start(xid, TMNOFLAGS);
    send("mine");
    resource.end(xid, TMSUCCESS);
    theirs.start(xid, TMJOIN);
    joined.createProducer(joined.createQueue("orders")).send(joined.createTextMessage("theirs"));
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_PROTO);
    theirs.end(xid, TMSUCCESS);
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    assertThat(texts(only(Frame.Stage.class).runs())).containsExactly("theirs");
    assertThat(texts(only(Frame.Prepare.class).runs())).containsExactly("mine");
    assertThat(only(Frame.Prepare.class).transaction()).isEqualTo(ScriptedBroker.TRANSACTION);
    theirs.commit(xid, false);
    assertThat(only(Frame.Decide.class).xid()).isEqualTo(wire(xid));
  }

  @Test
  void anotherBrokerOrUserIsAnotherResourceManager() throws Exception {
    broker.on(
        Frame.AuthStart.class, start -> List.of(new Frame.AuthDone(new byte[0], 8, "somebody")));
    XAConnection other = rig.factory("").createXAConnection();
    rig.closing(other);
    XAResource theirs = other.createXASession().getXAResource();
    assertThat(resource.isSameRM(theirs)).isFalse();
    assertThat(resource.isSameRM(null)).isFalse();
    assertThat(resource.isSameRM(connection.createXASession().getXAResource())).isTrue();
    resource.start(xid, TMNOFLAGS);
    assertThat(code(() -> theirs.start(xid, TMJOIN))).isEqualTo(XAException.XAER_NOTA);
    resource.end(xid, TMSUCCESS);
    resource.rollback(xid);
  }

  @Test
  void callsOutOfOrderHaveTheirCodes() throws Exception {
    assertThat(code(() -> resource.end(xid, TMSUCCESS))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.start(xid, TMJOIN))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.start(null, TMNOFLAGS))).isEqualTo(XAException.XAER_INVAL);
    assertThat(code(() -> resource.start(xid, TMFAIL))).isEqualTo(XAException.XAER_INVAL);
    resource.start(xid, TMNOFLAGS);
    assertThat(code(() -> resource.start(FreshXids.next(), TMNOFLAGS)))
        .isEqualTo(XAException.XAER_PROTO);
    assertThat(code(() -> resource.commit(xid, true))).isEqualTo(XAException.XAER_PROTO);
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(XAException.XAER_PROTO);
    XAResource second = connection.createXASession().getXAResource();
    assertThat(code(() -> second.start(xid, TMNOFLAGS))).isEqualTo(XAException.XAER_DUPID);
    resource.end(xid, TMSUCCESS);
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_PROTO);
    assertThat(code(() -> resource.forget(xid))).isEqualTo(XAException.XAER_PROTO);
    send("outside");
    assertThat(resource.prepare(xid)).isEqualTo(XA_RDONLY);
  }

  // ---- refusals and losses ----

  @ParameterizedTest
  @CsvSource({
    "DISK_FULL, 100",
    "LIMIT_REACHED, 100",
    "TRANSACTION_TOO_LARGE, 100",
    "NOT_AUTHORIZED, 100",
    "NOT_IN_FLIGHT, 103",
    "DESTINATION_GONE, 103",
    "DUPLICATE_TRANSACTION, 105",
    "RETRY_LATER, 107",
    "TRANSACTION_ROLLED_BACK, 101",
    "OUTCOME_UNKNOWN, -7",
    "BROKER_FAILED, -7"
  })
  void whatTheBrokerRefusesAtPrepareOrInOnePhaseIsRolledBackWithACode(FaultCode fault, int code)
      throws Exception {
    broker.on(Frame.Prepare.class, prepare -> refused(prepare, fault));
    broker.on(Frame.Commit.class, commit -> refused(commit, fault));
    work("a");
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(code);
    Xid second = FreshXids.next();
    resource.start(second, TMNOFLAGS);
    send("b");
    resource.end(second, TMSUCCESS);
    assertThat(code(() -> resource.commit(second, true))).isEqualTo(code);
    if (code > 0) {
      assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
      assertThat(code(() -> resource.commit(second, true))).isEqualTo(XAException.XAER_NOTA);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "UNKNOWN_TRANSACTION, -4",
    "HEURISTIC_COMMIT, 7",
    "HEURISTIC_ROLLBACK, 6",
    "BAD_REQUEST, -6",
    "OUTCOME_UNKNOWN, -7",
    "DISK_FULL, -7",
    "BROKER_FAILED, -7"
  })
  void whatTheBrokerSaysToADecisionHasACode(FaultCode fault, int code) throws Exception {
    broker.on(Frame.Decide.class, decide -> refused(decide, fault));
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(code);
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(code);
    assertThat(code(() -> resource.forget(xid))).isEqualTo(code);
  }

  @Test
  void withoutAnswerNothingIsGuessedAndARepetitionFindsItDone() throws Exception {
    connect("&requestTimeoutMillis=300");
    work("a");
    resource.prepare(xid);
    broker.on(Frame.Decide.class, decide -> List.of());
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_RMFAIL);
    broker.on(Frame.Decide.class, d -> refused(d, FaultCode.UNKNOWN_TRANSACTION));
    assertThatCode(() -> resource.commit(xid, false)).doesNotThrowAnyException();
  }

  @Test
  void aPrepareWithoutAnswerMayBeRolledBack() throws Exception {
    connect("&requestTimeoutMillis=300");
    broker.on(Frame.Prepare.class, prepare -> List.of());
    work("a");
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_PROTO);
    broker.on(Frame.Decide.class, d -> refused(d, FaultCode.UNKNOWN_TRANSACTION));
    assertThatCode(() -> resource.rollback(xid)).doesNotThrowAnyException();
  }

  @Test
  void aBrokerThatIsAwayIsRmfailForDecisionsAndRecovery() throws Exception {
    connect("&requestTimeoutMillis=300");
    work("a");
    resource.prepare(xid);
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(FaultCode.CLOSING, "down")));
    broker.cut();
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.recover(TMSTARTRSCAN))).isEqualTo(XAException.XAER_RMFAIL);
    Xid second = FreshXids.next();
    resource.start(second, TMNOFLAGS);
    resource.end(second, TMSUCCESS);
    assertThatCode(() -> resource.rollback(second)).doesNotThrowAnyException();
  }

  @Test
  void anAnswerThatIsLostIsAskedForAgain() throws Exception {
    work("a");
    broker.expectToo(Frame.Prepare.class);
    CompletableFuture<Integer> prepared =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return resource.prepare(xid);
              } catch (XAException e) {
                return e.errorCode;
              }
            });
    Frame.Prepare first = broker.expect(Frame.Prepare.class);
    broker.knows(first.number());
    broker.cut();
    assertThat(prepared.join()).isEqualTo(XA_OK);
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void whatWasReceivedOnALostConnectionRollsTheBranchBack() throws Exception {
    MessageConsumer consumer = session.createConsumer(session.createQueue("in"));
    resource.start(xid, TMNOFLAGS);
    receive(consumer, 7);
    resource.end(xid, TMSUCCESS);
    broker.cut();
    Awaitility.await().until(() -> broker.seen(Frame.Attach.class).size() == 2);
    Awaitility.await().untilAsserted(() -> session.createProducer(null));
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBCOMMFAIL);
    assertThat(broker.seen(Frame.Prepare.class)).isEmpty();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
  }

  private void receive(MessageConsumer consumer, long sequence) throws Exception {
    CompletableFuture<Object> received =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return consumer.receive();
              } catch (JMSException e) {
                return e;
              }
            });
    Awaitility.await().until(() -> broker.seen(Frame.Pull.class).size() > usedPulls);
    List<Frame.Pull> pulls = broker.seen(Frame.Pull.class);
    usedPulls = pulls.size();
    Frame.PullOne pull = pulls.get(usedPulls - 1).pulls().get(0);
    broker.send(broker.deliver(pull, "in", sequence, 0, "a"));
    assertThat(received.join()).isInstanceOf(jakarta.jms.Message.class);
  }

  @Test
  void aTimeoutRollsBackWhatIsNotPreparedAndNothingElse() throws Exception {
    assertThat(code(() -> resource.setTransactionTimeout(-1))).isEqualTo(XAException.XAER_INVAL);
    assertThat(resource.setTransactionTimeout(1)).isTrue();
    assertThat(resource.getTransactionTimeout()).isEqualTo(1);
    Xid second = FreshXids.next();
    work("a");
    resource.prepare(xid);
    resource.start(second, TMNOFLAGS);
    send("b");
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(code(() -> rest(second))).isEqualTo(XAException.XA_RBTIMEOUT));
    assertThat(code(() -> resource.end(second, TMSUCCESS))).isEqualTo(XAException.XA_RBTIMEOUT);
    assertThat(code(() -> resource.prepare(second))).isEqualTo(XAException.XA_RBTIMEOUT);
    resource.commit(xid, false);
    assertThat(only(Frame.Prepare.class).xid()).isEqualTo(wire(xid));
  }

  private void rest(Xid branch) throws XAException {
    resource.end(branch, TMSUSPEND);
    resource.start(branch, TMRESUME);
  }

  @Test
  void aClosedSessionLeavesItsBranchesToTheirTransactionManager() throws Exception {
    Xid second = FreshXids.next();
    work("a");
    resource.prepare(xid);
    resource.start(second, TMNOFLAGS);
    send("b");
    session.close();
    assertThat(texts(only(Frame.Stage.class).runs())).containsExactly("b");
    resource.end(second, TMSUCCESS);
    assertThat(resource.prepare(second)).isEqualTo(XA_OK);
    Frame.Prepare last = broker.seen(Frame.Prepare.class).get(1);
    assertThat(last.transaction()).isEqualTo(ScriptedBroker.TRANSACTION);
    assertThat(last.runs()).isEmpty();
    resource.commit(xid, false);
    resource.rollback(second);
    assertThat(code(() -> resource.start(FreshXids.next(), TMNOFLAGS)))
        .isEqualTo(XAException.XAER_RMFAIL);
    assertThat(broker.seen(Frame.Abandon.class)).isEmpty();
  }

  // ---- recovery ----

  @Test
  void recoveryTellsAllAtTheBeginningOfAScanAndKeepsNoState() throws Exception {
    io.lightmq.wire.entry.Xid a = wire(FreshXids.next());
    io.lightmq.wire.entry.Xid b = wire(FreshXids.next());
    broker.on(
        Frame.Recover.class,
        ask ->
            List.of(
                new Frame.Recovered(
                    ask.correlation(),
                    List.of(
                        new Frame.RecoveredBranch(
                            ask.after() == null ? a : b, BranchState.PREPARED)),
                    ask.after() == null)));
    assertThat(resource.recover(TMENDRSCAN)).isEmpty();
    assertThat(resource.recover(TMSTARTRSCAN)).hasSize(2);
    assertThat(resource.recover(TMNOFLAGS)).isEmpty();
    Xid[] again = resource.recover(TMSTARTRSCAN | TMENDRSCAN);
    assertThat(again).extracting(XaResourceTest::wireOrFail).containsExactly(a, b);
    assertThat(code(() -> resource.recover(TMJOIN))).isEqualTo(XAException.XAER_INVAL);
    resource.commit(again[0], false);
    resource.rollback(again[1]);
    resource.forget(again[1]);
    assertThat(broker.seen(Frame.Decide.class))
        .extracting(Frame.Decide::decision)
        .containsExactly(BranchDecision.COMMIT, BranchDecision.ROLL_BACK, BranchDecision.FORGET);
  }

  private static io.lightmq.wire.entry.Xid wireOrFail(Xid xid) {
    try {
      return Xids.of(xid);
    } catch (XAException e) {
      throw new AssertionError(e);
    }
  }

  // ---- what is received ----

  @Test
  void whatIsReceivedInABranchIsAcknowledgedWithItAndOutsideAtOnce() throws Exception {
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    MessageConsumer consumer = session.createConsumer(session.createQueue("in"));
    receive(consumer, 5);
    Awaitility.await().until(() -> broker.seen(Frame.Acknowledge.class).size() == 1);
    resource.start(xid, TMNOFLAGS);
    receive(consumer, 6);
    resource.end(xid, TMSUCCESS);
    resource.prepare(xid);
    assertThat(only(Frame.Prepare.class).acked().get(0).ranges())
        .containsExactly(new SequenceRange(4, 6, 1));
    assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(1);
    assertThat(broker.seen(Frame.Acknowledge.class).get(0).acked().get(0).ranges())
        .containsExactly(new SequenceRange(4, 5, 1));
  }

  @Test
  void whatWasReceivedInABranchComesAgainWhenItIsRolledBack() throws Exception {
    MessageConsumer consumer = session.createConsumer(session.createQueue("in"));
    resource.start(xid, TMNOFLAGS);
    receive(consumer, 6);
    resource.end(xid, TMFAIL);
    resource.rollback(xid);
    assertThat(broker.seen(Frame.Return.class))
        .anySatisfy(
            back -> {
              assertThat(back.attempted()).isTrue();
              assertThat(back.returned().get(0).ranges())
                  .containsExactly(new SequenceRange(4, 6, 1));
            });
  }
}
