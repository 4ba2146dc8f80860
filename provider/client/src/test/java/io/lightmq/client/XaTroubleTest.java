package io.lightmq.client;

import static javax.transaction.xa.XAResource.TMJOIN;
import static javax.transaction.xa.XAResource.TMNOFLAGS;
import static javax.transaction.xa.XAResource.TMSUCCESS;
import static javax.transaction.xa.XAResource.XA_OK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkStatus;
import io.lightmq.client.xa.Xids;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.Unpooled;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.XAConnection;
import jakarta.jms.XASession;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Branches in trouble: parts that are refused, answers that never come, sessions that close. */
class XaTroubleTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private final Xid xid = FreshXids.next();
  private ScriptedBroker broker;
  private XAConnection connection;
  private XASession session;
  private XAResource resource;
  private MessageProducer producer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    broker.keepsTransactions(1 << 20);
    broker.on(Frame.Commit.class, XaTroubleTest::done);
    broker.on(Frame.Prepare.class, XaTroubleTest::done);
    broker.on(Frame.Decide.class, XaTroubleTest::done);
    broker.ok(Frame.Abandon.class);
    broker.ok(Frame.Return.class);
    broker.on(
        Frame.CreateTemporary.class,
        create ->
            List.of(
                new Frame.TemporaryCreated(
                    create.correlation(), new DestinationName(create.kind(), "temporary-1"))));
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

  private interface Call {
    void run() throws Exception;
  }

  private static int code(Call call) {
    XAException thrown = catchThrowableOfType(XAException.class, call::run);
    return thrown == null ? XA_OK : thrown.errorCode;
  }

  /** Another session of the connection sends in the branch, and its work ends. */
  private void joinAndSend(XASession joined, String queue) throws Exception {
    XAResource theirs = joined.getXAResource();
    theirs.start(xid, TMJOIN);
    send(joined, joined.createProducer(joined.createQueue(queue)));
    theirs.end(xid, TMSUCCESS);
  }

  private static void send(XASession by, MessageProducer to) throws JMSException {
    to.send(by.createTextMessage("theirs"));
  }

  private void receiveOne() throws Exception {
    MessageConsumer consumer = session.createConsumer(session.createQueue("in"));
    broker.on(
        Frame.Pull.class, pull -> List.of(broker.deliver(pull.pulls().get(0), "in", 6, 0, "a")));
    resource.start(xid, TMNOFLAGS);
    assertThat(consumer.receive(5_000)).isNotNull();
    broker.nothingThere();
    resource.end(xid, TMSUCCESS);
  }

  private void assertItWentBack() {
    assertThat(broker.seen(Frame.Return.class))
        .anySatisfy(
            back ->
                assertThat(back.returned())
                    .anySatisfy(
                        each -> assertThat(each.ranges()).contains(new SequenceRange(4, 6, 1))));
  }

  // ---- parts that are refused ----

  @Test
  void whatTheEndingSessionReceivedGoesBackIfTheOtherOnesPartIsRefused() throws Exception {
    receiveOne();
    joinAndSend(connection.createXASession(), "orders");
    broker.on(
        Frame.Stage.class,
        stage -> List.of(new Frame.Fault(stage.correlation(), FaultCode.DISK_FULL, "full", 0)));
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBROLLBACK);
    assertItWentBack();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
  }

  @Test
  void whatTheEndingSessionReceivedGoesBackIfTheOtherOnesPartIsRefusedHere() throws Exception {
    receiveOne();
    XASession joined = connection.createXASession();
    XAResource theirs = joined.getXAResource();
    theirs.start(xid, TMJOIN);
    send(joined, joined.createProducer(joined.createTemporaryQueue()));
    theirs.end(xid, TMSUCCESS);
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBROLLBACK);
    assertItWentBack();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
  }

  /** Answers pulls with messages at every other sequence, so that each is in a place of its own. */
  private void scatter(int most) {
    AtomicLong next = new AtomicLong(2);
    EntryStamp stamp = new EntryStamp(4, 1, broker.idOf("in"), 5_000, 1, new byte[] {'a'});
    byte[] message = ScriptedBroker.text("a");
    broker.on(
        Frame.Pull.class,
        pull -> {
          List<Frame> answers = new ArrayList<>();
          for (Frame.PullOne one : pull.pulls()) {
            int count = (int) Math.min(one.messages(), most - (next.get() - 2) / 2);
            ByteBuffer entries = ByteBuffer.allocate(8 << 20);
            int at = 0;
            for (int i = 0; i < count; i++) {
              ByteBuffer body = ByteBuffer.wrap(message);
              at += Entry.write(entries, at, stamp, next.get(), 0, body, 0, message.length);
              next.addAndGet(2);
            }
            if (count > 0) {
              answers.add(
                  new Frame.Deliver(
                      one.consumerId(),
                      one.pullId(),
                      count,
                      List.of(),
                      List.of(),
                      Unpooled.wrappedBuffer(entries.array(), 0, at)));
            }
          }
          return answers;
        });
  }

  @Test
  void allThatAnotherSessionReceivedIsPreparedThoughItIsInManyPlaces() throws Exception {
    connect("&prefetchMessages=20000&prefetchBytes=60000000");
    int most = 50_001;
    scatter(most);
    MessageConsumer consumer = session.createConsumer(session.createQueue("in"));
    resource.start(xid, TMNOFLAGS);
    for (int i = 0; i < most; i++) {
      assertThat(consumer.receive(5_000)).as("message %d", i).isNotNull();
    }
    resource.end(xid, TMSUCCESS);
    XASession joined = connection.createXASession();
    joinAndSend(joined, "orders");
    assertThat(joined.getXAResource().prepare(xid)).isEqualTo(XA_OK);
    int acknowledged =
        broker.seen(Frame.Stage.class).stream()
            .flatMap(stage -> stage.acked().stream())
            .mapToInt(acked -> acked.ranges().size())
            .sum();
    assertThat(acknowledged).isEqualTo(most);
    assertThat(broker.seen(Frame.Stage.class))
        .allMatch(stage -> UnitOfWork.items(stage.acked()) <= Protocol.MAX_ITEMS);
  }

  // ---- answers that never come ----

  private void work() throws Exception {
    resource.start(xid, TMNOFLAGS);
    producer.send(session.createTextMessage("a"));
    resource.end(xid, TMSUCCESS);
  }

  private static List<Frame> unknown(Frame asked) {
    return List.of(
        new Frame.Receipts(
            List.of(),
            List.of(new Frame.Fault(asked.correlation(), FaultCode.UNKNOWN_TRANSACTION, "no", 0))));
  }

  @Test
  void aRollbackOfAPrepareWithoutAnswerGoesBehindItOnItsLink() throws Exception {
    XAConnection other = rig.factory("").createXAConnection();
    rig.closing(other);
    XAResource recovering = other.createXASession().getXAResource();
    connect("&requestTimeoutMillis=300");
    broker.on(Frame.Prepare.class, prepare -> List.of());
    work();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_RMFAIL);
    broker.on(Frame.Decide.class, XaTroubleTest::unknown);
    assertThat(code(() -> recovering.rollback(xid))).isEqualTo(XA_OK);
    long prepared = broker.seen(Frame.Prepare.class).get(0).number();
    assertThat(broker.seen(Frame.Decide.class))
        .extracting(Frame.Decide::number)
        .containsExactly(prepared + 1);
  }

  @Test
  void aRollbackOfAPrepareWithoutAnswerIsFreeOnceItsLinkIsClosed() throws Exception {
    XAConnection other = rig.factory("").createXAConnection();
    rig.closing(other);
    XAResource recovering = other.createXASession().getXAResource();
    connect("&requestTimeoutMillis=300");
    broker.on(Frame.Prepare.class, prepare -> List.of());
    work();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_RMFAIL);
    connection.close();
    broker.on(Frame.Decide.class, XaTroubleTest::unknown);
    assertThat(code(() -> recovering.rollback(xid))).isEqualTo(XA_OK);
    assertThat(broker.seen(Frame.Decide.class))
        .extracting(Frame.Decide::number)
        .containsExactly(1L);
  }

  @Test
  void aCommitWithoutAnswerIsForgottenWithItsConnection() throws Exception {
    connect("&requestTimeoutMillis=300");
    broker.on(Frame.Commit.class, commit -> List.of());
    work();
    assertThat(code(() -> resource.commit(xid, true))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.commit(xid, true))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(XAException.XAER_RMFAIL);
    BranchWork left = XaBranches.ALL.find(link().owner(), Xids.of(xid));
    assertThat(left).isNotNull();
    assertThat(left.sessions()).isZero();
    connection.close();
    assertThat(code(() -> resource.commit(xid, true))).isEqualTo(XAException.XAER_NOTA);
    assertThat(XaBranches.ALL.find(link().owner(), Xids.of(xid))).isNull();
  }

  // ---- a broker that keeps no transactions ----

  @Test
  void aPrepareIsNotSentToABrokerThatKeepsNoTransactions() throws Exception {
    connect("&requestTimeoutMillis=5000&maxReconnectDelayMillis=20");
    broker.on(Frame.Prepare.class, prepare -> List.of());
    work();
    CompletableFuture<Integer> prepared =
        CompletableFuture.supplyAsync(() -> code(() -> resource.prepare(xid)));
    Awaitility.await().until(() -> broker.seen(Frame.Prepare.class).size() == 1);
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    broker.cut();
    assertThat(prepared.join()).isEqualTo(XAException.XA_RBCOMMFAIL);
    Awaitility.await().until(() -> ((LightmqConnection) connection).state().isReady());
    assertThat(broker.seen(Frame.Prepare.class)).hasSize(1);
  }

  @Test
  void aDecisionIsNotSentToABrokerThatKeepsNoTransactions() throws Exception {
    connect("&requestTimeoutMillis=5000&maxReconnectDelayMillis=20");
    broker.on(Frame.Decide.class, decide -> List.of());
    work();
    resource.prepare(xid);
    CompletableFuture<Integer> decided =
        CompletableFuture.supplyAsync(() -> code(() -> resource.commit(xid, false)));
    Awaitility.await().until(() -> broker.seen(Frame.Decide.class).size() == 1);
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    broker.cut();
    assertThat(decided.join()).isEqualTo(XAException.XAER_RMFAIL);
    Awaitility.await().until(() -> ((LightmqConnection) connection).state().isReady());
    assertThat(broker.seen(Frame.Decide.class)).hasSize(1);
  }

  // ---- sessions and connections that are closed ----

  private BrokerLink link() {
    return ((LightmqConnection) connection).link();
  }

  private static boolean isEnded(BrokerLink link) {
    return link.status().phase() == LinkStatus.Phase.ENDED;
  }

  @Test
  void aClosedConnectionKeepsItsLinkUntilTheBranchIsDecided() throws Exception {
    work();
    BrokerLink link = link();
    connection.close();
    assertThat(isEnded(link)).isFalse();
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    resource.commit(xid, false);
    assertThat(broker.seen(Frame.Decide.class)).hasSize(1);
    assertThat(isEnded(link)).isTrue();
  }

  @Test
  void aClosedConnectionLetsItsLinkGoWithTheRollback() throws Exception {
    work();
    BrokerLink link = link();
    connection.close();
    assertThat(isEnded(link)).isFalse();
    resource.rollback(xid);
    assertThat(broker.seen(Frame.Abandon.class)).hasSize(1);
    assertThat(isEnded(link)).isTrue();
  }

  @Test
  void aClosedConnectionKeepsNoLinkForWhatIsPreparedOrEmpty() throws Exception {
    work();
    resource.prepare(xid);
    resource.start(FreshXids.next(), TMNOFLAGS);
    BrokerLink link = link();
    connection.close();
    assertThat(isEnded(link)).isTrue();
  }

  @Test
  void whatTheBrokerDoesNotKeepAtTheCloseGoesBackAndTheBranchWithIt() throws Exception {
    receiveOne();
    broker.on(
        Frame.Stage.class,
        stage -> List.of(new Frame.Fault(stage.correlation(), FaultCode.DISK_FULL, "full", 0)));
    BrokerLink link = link();
    connection.close();
    assertItWentBack();
    assertThat(isEnded(link)).isTrue();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBROLLBACK);
  }
}
