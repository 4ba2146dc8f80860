package io.lightmq.embedded;

import static io.lightmq.embedded.XaCalls.code;
import static io.lightmq.embedded.XaCalls.drain;
import static io.lightmq.embedded.XaCalls.receive;
import static io.lightmq.embedded.XaCalls.recovered;
import static io.lightmq.embedded.XaCalls.send;
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

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.node.security.UserStore;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Queue;
import jakarta.jms.XAConnection;
import jakarta.jms.XASession;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Branches as transaction managers drive them, from the client to a broker's disk. */
class XaBranchesTest {
  private static final int OVER_A_FRAME = 1_300;

  @TempDir Path directory;
  private final List<Connection> connections = new ArrayList<>();
  private final XaName xid = XaName.fresh();
  private LightmqConnectionFactory factory;
  private Connection plain;
  private XASession session;
  private XAResource resource;
  private Queue orders;
  private Queue bills;

  @BeforeEach
  void start() throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));
    UserStore users = UserStore.open(data, true, false);
    users.put("ann", "a", Set.of("user"));
    users.put("bob", "b", Set.of("user"));
    factory = new LightmqConnectionFactory("lightmq:file:" + data);
    plain = factory.createConnection("ann", "a");
    connections.add(plain);
    plain.start();
    session = xa("ann", "a");
    resource = session.getXAResource();
    orders = session.createQueue("orders");
    bills = session.createQueue("bills");
  }

  @AfterEach
  void close() throws JMSException {
    for (Connection each : connections) {
      each.close();
    }
  }

  private XASession xa(String user, String password) throws JMSException {
    XAConnection connection = factory.createXAConnection(user, password);
    connections.add(connection);
    connection.start();
    return connection.createXASession();
  }

  /** Moves a message from one queue to the other in a branch, which is ended. */
  private void move(XAResource by, XASession with, XaName branch, MessageConsumer consumer)
      throws Exception {
    by.start(branch, TMNOFLAGS);
    String text = receive(consumer);
    send(with, bills, "bill of " + text);
    by.end(branch, TMSUCCESS);
  }

  private MessageConsumer orderOf(String text) throws Exception {
    send(session, orders, text); // outside of any branch
    return session.createConsumer(orders);
  }

  // ---- whole branches ----

  @Test
  void preparedNothingIsSeenAndCommittedAll() throws Exception {
    move(resource, session, xid, orderOf("a"));
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    assertThat(drain(plain, bills)).isEmpty();
    assertThat(drain(plain, orders)).isEmpty();
    resource.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactly("bill of a");
    assertThat(drain(plain, orders)).isEmpty();
    assertThat(recovered(resource)).isEmpty();
  }

  @Test
  void rolledBackBeforeOrAfterItIsPreparedAllIsAsBefore() throws Exception {
    MessageConsumer consumer = orderOf("a");
    move(resource, session, xid, consumer);
    resource.rollback(xid);
    XaName second = XaName.fresh();
    move(resource, session, second, consumer);
    resource.prepare(second);
    resource.rollback(second);
    consumer.close();
    assertThat(drain(plain, bills)).isEmpty();
    assertThat(drain(plain, orders)).containsExactly("a");
  }

  @Test
  void onePhaseAndAgain() throws Exception {
    move(resource, session, xid, orderOf("a"));
    resource.commit(xid, true);
    assertThat(drain(plain, bills)).containsExactly("bill of a");
    assertThat(code(() -> resource.commit(xid, true))).isEqualTo(XAException.XAER_NOTA);
    assertThat(recovered(resource)).isEmpty();
  }

  @Test
  void whatEndedIsKnownNoMore() throws Exception {
    move(resource, session, xid, orderOf("a"));
    resource.prepare(xid);
    resource.commit(xid, false);
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.forget(xid))).isEqualTo(XAException.XAER_NOTA);
    assertThat(drain(plain, bills)).containsExactly("bill of a");
  }

  @Test
  void aBranchThatDidNothingIsReadOnly() throws Exception {
    resource.start(xid, TMNOFLAGS);
    assertThat(session.createConsumer(orders).receive(1)).isNull();
    resource.end(xid, TMSUCCESS);
    assertThat(resource.prepare(xid)).isEqualTo(XA_RDONLY);
    assertThat(recovered(resource)).isEmpty();
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_NOTA);
  }

  @Test
  void workOutsideOfABranchIsDoneAtOnce() throws Exception {
    MessageConsumer consumer = orderOf("a");
    assertThat(receive(consumer)).isEqualTo("a");
    resource.start(xid, TMNOFLAGS);
    send(session, bills, "inside");
    resource.end(xid, TMSUSPEND);
    send(session, bills, "outside");
    assertThat(drain(plain, bills)).containsExactly("outside");
    resource.end(xid, TMSUCCESS);
    resource.rollback(xid);
    consumer.close();
    assertThat(drain(plain, orders)).isEmpty();
  }

  @Test
  void aBranchLongerThanAFrameIsThereAfterItsCommitAndOnlyThen() throws Exception {
    XaName second = XaName.fresh();
    String[] texts = new String[OVER_A_FRAME];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = i + "x".repeat(1_000);
    }
    resource.start(xid, TMNOFLAGS);
    send(session, bills, texts);
    resource.end(xid, TMSUCCESS);
    resource.rollback(xid);
    resource.start(second, TMNOFLAGS);
    send(session, bills, texts);
    resource.end(second, TMSUCCESS);
    assertThat(resource.prepare(second)).isEqualTo(XA_OK);
    assertThat(drain(plain, bills)).isEmpty();
    resource.commit(second, false);
    assertThat(drain(plain, bills)).containsExactly(texts);
  }

  // ---- the states ----

  @Test
  void suspendedAndResumedWithAnotherBranchBetween() throws Exception {
    XaName second = XaName.fresh();
    resource.start(xid, TMNOFLAGS);
    send(session, bills, "1");
    resource.end(xid, TMSUSPEND);
    resource.start(second, TMNOFLAGS);
    send(session, bills, "2");
    resource.end(second, TMSUCCESS);
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_PROTO);
    resource.start(xid, TMRESUME);
    send(session, bills, "3");
    resource.end(xid, TMSUCCESS);
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    resource.commit(second, true);
    assertThat(drain(plain, bills)).containsExactly("2");
    resource.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactly("1", "3");
  }

  @Test
  void whatFailedCanOnlyBeRolledBack() throws Exception {
    MessageConsumer consumer = orderOf("a");
    resource.start(xid, TMNOFLAGS);
    assertThat(receive(consumer)).isEqualTo("a");
    resource.end(xid, TMFAIL);
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBROLLBACK);
    consumer.close();
    assertThat(drain(plain, orders)).containsExactly("a");
  }

  @Test
  void theNameOfABranchThatIsThereIsRefused() throws Exception {
    resource.start(xid, TMNOFLAGS);
    XAResource other = xa("ann", "a").getXAResource();
    assertThat(code(() -> other.start(xid, TMNOFLAGS))).isEqualTo(XAException.XAER_DUPID);
    assertThat(code(() -> resource.start(XaName.fresh(), TMNOFLAGS)))
        .isEqualTo(XAException.XAER_PROTO);
    resource.end(xid, TMSUCCESS);
    resource.rollback(xid);
    assertThat(code(() -> resource.end(xid, TMSUCCESS))).isEqualTo(XAException.XAER_NOTA);
  }

  @Test
  void aTimeoutTouchesNothingThatIsPrepared() throws Exception {
    assertThat(resource.setTransactionTimeout(1)).isTrue();
    resource.start(xid, TMNOFLAGS);
    send(session, bills, "prepared");
    resource.end(xid, TMSUCCESS);
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    XaName second = XaName.fresh();
    resource.start(second, TMNOFLAGS);
    send(session, bills, "late");
    resource.end(second, TMSUSPEND);
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(code(() -> rest(second))).isEqualTo(XAException.XA_RBTIMEOUT));
    assertThat(code(() -> resource.end(second, TMSUCCESS))).isEqualTo(XAException.XA_RBTIMEOUT);
    assertThat(code(() -> resource.commit(second, true))).isEqualTo(XAException.XA_RBTIMEOUT);
    assertThat(recovered(resource)).hasSize(1).allMatch(xid::is);
    resource.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactly("prepared");
  }

  private void rest(XaName branch) throws XAException {
    resource.start(branch, TMRESUME);
    resource.end(branch, TMSUSPEND);
  }

  // ---- several connections and users ----

  @Test
  void twoConnectionsJoinOneBranch() throws Exception {
    MessageConsumer consumer = orderOf("a");
    XASession joined = xa("ann", "a");
    XAResource theirs = joined.getXAResource();
    assertThat(resource.isSameRM(theirs)).isTrue();
    move(resource, session, xid, consumer);
    theirs.start(xid, TMJOIN);
    send(joined, bills, "theirs");
    theirs.end(xid, TMSUCCESS);
    assertThat(theirs.prepare(xid)).isEqualTo(XA_OK);
    assertThat(drain(plain, bills)).isEmpty();
    assertThat(recovered(resource)).hasSize(1);
    resource.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactlyInAnyOrder("bill of a", "theirs");
    assertThat(drain(plain, orders)).isEmpty();
  }

  @Test
  void whatTwoConnectionsDidIsRolledBackTogether() throws Exception {
    MessageConsumer consumer = orderOf("a");
    XASession joined = xa("ann", "a");
    XAResource theirs = joined.getXAResource();
    theirs.start(xid, TMNOFLAGS);
    send(joined, bills, "theirs");
    theirs.end(xid, TMSUCCESS);
    resource.start(xid, TMJOIN);
    assertThat(receive(consumer)).isEqualTo("a");
    resource.end(xid, TMSUCCESS);
    theirs.rollback(xid);
    consumer.close();
    assertThat(drain(plain, orders)).containsExactly("a");
    assertThat(drain(plain, bills)).isEmpty();
  }

  @Test
  void aSessionThatJoinedAndClosedLeavesItsPart() throws Exception {
    MessageConsumer consumer = orderOf("a");
    XASession joined = xa("ann", "a");
    XAResource theirs = joined.getXAResource();
    move(resource, session, xid, consumer);
    theirs.start(xid, TMJOIN);
    send(joined, bills, "theirs");
    theirs.end(xid, TMSUCCESS);
    joined.close();
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    consumer.close();
    resource.commit(xid, false);
    assertThat(drain(plain, orders)).isEmpty();
    assertThat(drain(plain, bills)).containsExactly("theirs", "bill of a");
  }

  @Test
  void anotherUserIsAnotherResourceManagerAndCannotTouchMyBranch() throws Exception {
    XAResource theirs = xa("bob", "b").getXAResource();
    assertThat(resource.isSameRM(theirs)).isFalse();
    resource.start(xid, TMNOFLAGS);
    send(session, bills, "mine");
    assertThat(code(() -> theirs.start(xid, TMJOIN))).isEqualTo(XAException.XAER_NOTA);
    resource.end(xid, TMSUCCESS);
    resource.prepare(xid);
    assertThat(recovered(theirs)).isEmpty();
    assertThat(code(() -> theirs.commit(xid, false))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> theirs.rollback(xid))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> theirs.forget(xid))).isEqualTo(XAException.XAER_NOTA);
    assertThat(recovered(resource)).hasSize(1);
    resource.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactly("mine");
  }

  @Test
  void twoUsersMayHaveBranchesOfOneName() throws Exception {
    XASession other = xa("bob", "b");
    XAResource theirs = other.getXAResource();
    resource.start(xid, TMNOFLAGS);
    theirs.start(xid, TMNOFLAGS);
    send(session, bills, "ann's");
    send(other, bills, "bob's");
    resource.end(xid, TMSUCCESS);
    theirs.end(xid, TMSUCCESS);
    resource.prepare(xid);
    theirs.prepare(xid);
    resource.commit(xid, false);
    theirs.rollback(xid);
    assertThat(drain(plain, bills)).containsExactly("ann's");
  }

  // ---- closing before the decision ----

  @Test
  void aSessionMayBeClosedBeforeItsBranchIsPrepared() throws Exception {
    move(resource, session, xid, orderOf("a"));
    session.close();
    assertThat(resource.prepare(xid)).isEqualTo(XA_OK);
    resource.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactly("bill of a");
    assertThat(drain(plain, orders)).isEmpty();
  }

  @Test
  void aConnectionMayBeClosedWhileItsSessionWorksInABranch() throws Exception {
    MessageConsumer consumer = orderOf("a");
    resource.start(xid, TMNOFLAGS);
    send(session, bills, "bill of " + receive(consumer));
    connections.get(connections.size() - 1).close();
    resource.end(xid, TMSUCCESS);
    resource.commit(xid, true);
    assertThat(drain(plain, bills)).containsExactly("bill of a");
    assertThat(drain(plain, orders)).isEmpty();
  }

  @Test
  void whatAClosedConnectionHasReceivedComesAgainWithTheRollback() throws Exception {
    move(resource, session, xid, orderOf("a"));
    connections.get(connections.size() - 1).close();
    assertThat(drain(plain, orders)).isEmpty();
    resource.rollback(xid);
    assertThat(drain(plain, orders)).containsExactly("a");
    assertThat(drain(plain, bills)).isEmpty();
  }

  // ---- recovery ----

  @Test
  void recoveryTellsEverythingAtTheStartOfAScanAndNeedsNoEnd() throws Exception {
    XaName second = XaName.fresh();
    for (XaName each : List.of(xid, second)) {
      resource.start(each, TMNOFLAGS);
      send(session, bills, "x");
      resource.end(each, TMSUCCESS);
      resource.prepare(each);
    }
    XAResource other = xa("ann", "a").getXAResource();
    assertThat(other.recover(TMENDRSCAN)).isEmpty();
    assertThat(other.recover(TMNOFLAGS)).isEmpty();
    assertThat(other.recover(TMSTARTRSCAN)).hasSize(2);
    assertThat(other.recover(TMNOFLAGS)).isEmpty();
    assertThat(other.recover(TMSTARTRSCAN)).as("without an end before").hasSize(2);
    assertThat(other.recover(TMENDRSCAN)).isEmpty();
    assertThat(other.recover(TMSTARTRSCAN | TMENDRSCAN)).hasSize(2);
    assertThat(code(() -> other.recover(TMJOIN))).isEqualTo(XAException.XAER_INVAL);
    other.rollback(xid);
    other.commit(second, false);
    assertThat(recovered(other)).isEmpty();
    assertThat(drain(plain, bills)).containsExactly("x");
  }

  @Test
  void preparedBranchesOutliveTheBroker() throws Exception {
    move(resource, session, xid, orderOf("a"));
    resource.prepare(xid);
    close();
    connections.clear();
    plain = factory.createConnection("ann", "a");
    connections.add(plain);
    plain.start();
    XAResource other = xa("ann", "a").getXAResource();
    assertThat(drain(plain, orders)).isEmpty();
    assertThat(recovered(other)).hasSize(1).allMatch(xid::is);
    other.commit(xid, false);
    assertThat(drain(plain, bills)).containsExactly("bill of a");
    assertThat(drain(plain, orders)).isEmpty();
  }
}
