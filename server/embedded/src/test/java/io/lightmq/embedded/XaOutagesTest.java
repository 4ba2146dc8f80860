package io.lightmq.embedded;

import static io.lightmq.embedded.XaCalls.code;
import static io.lightmq.embedded.XaCalls.drain;
import static io.lightmq.embedded.XaCalls.receive;
import static io.lightmq.embedded.XaCalls.recovered;
import static io.lightmq.embedded.XaCalls.send;
import static javax.transaction.xa.XAResource.TMENDRSCAN;
import static javax.transaction.xa.XAResource.TMNOFLAGS;
import static javax.transaction.xa.XAResource.TMSTARTRSCAN;
import static javax.transaction.xa.XAResource.TMSUCCESS;
import static javax.transaction.xa.XAResource.XA_OK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.XAConnection;
import jakarta.jms.XASession;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a transaction manager is told when the broker is away, has no room or was decided for. */
class XaOutagesTest {
  private static final String PATIENT = "?initialReconnectAttempts=20";
  private static final String IMPATIENT = "?initialReconnectAttempts=20&requestTimeoutMillis=3000";

  @TempDir Path directory;
  private final List<Connection> connections = new ArrayList<>();
  private final XaName xid = XaName.fresh();
  private LoopbackBroker broker;
  private Line line;
  private Connection plain;
  private XASession session;
  private XAResource resource;
  private Queue orders;
  private Queue bills;

  @BeforeEach
  void start() throws Exception {
    broker = new LoopbackBroker(Files.createDirectory(directory.resolve("data")));
    line = new Line(broker.port());
    plain = factory(broker.port(), PATIENT).createConnection();
    connections.add(plain);
    plain.start();
    session = xa(line.port(), IMPATIENT);
    resource = session.getXAResource();
    orders = session.createQueue("orders");
    bills = session.createQueue("bills");
  }

  @AfterEach
  void close() throws Exception {
    for (Connection each : connections) {
      each.close();
    }
    line.close();
    broker.close();
  }

  private static LightmqConnectionFactory factory(int port, String options) throws JMSException {
    return new LightmqConnectionFactory("lightmq://127.0.0.1:" + port + options);
  }

  private XASession xa(int port, String options) throws JMSException {
    XAConnection connection = factory(port, options).createXAConnection();
    connections.add(connection);
    connection.start();
    return connection.createXASession();
  }

  private void work(XaName branch, String text) throws Exception {
    resource.start(branch, TMNOFLAGS);
    send(session, bills, text);
    resource.end(branch, TMSUCCESS);
  }

  // ---- away ----

  @Test
  void awayAtAnyCallThatAsksItIsRmfailAndLaterEverythingIsDone() throws Exception {
    XaName toCommit = XaName.fresh();
    XaName toRollBack = XaName.fresh();
    XaName toPrepare = XaName.fresh();
    work(toCommit, "committed");
    work(toRollBack, "rolled back");
    resource.prepare(toCommit);
    resource.prepare(toRollBack);
    MessageProducer stays = session.createProducer(bills);
    resource.start(toPrepare, TMNOFLAGS);
    stays.send(session.createTextMessage("prepared"));
    resource.end(toPrepare, TMSUCCESS);
    work(xid, "one phase");
    broker.stop();
    assertThat(code(() -> resource.commit(toCommit, false))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.rollback(toRollBack))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.recover(TMSTARTRSCAN))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.recover(TMENDRSCAN))).isEqualTo(XA_OK);
    assertThat(code(() -> resource.forget(XaName.fresh()))).isEqualTo(XAException.XAER_RMFAIL);
    broker.start();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(code(() -> resource.commit(toCommit, false))).isEqualTo(XA_OK);
    assertThat(code(() -> resource.rollback(toRollBack))).isEqualTo(XA_OK);
    assertThat(resource.prepare(toPrepare)).isEqualTo(XA_OK);
    resource.commit(toPrepare, false);
    resource.commit(xid, true);
    assertThat(recovered(resource)).isEmpty();
    assertThat(drain(plain, bills)).containsExactlyInAnyOrder("committed", "prepared", "one phase");
  }

  @Test
  void awayAtPrepareIsRmfailAndTheBranchMayBeRolledBackWithoutIt() throws Exception {
    work(xid, "a");
    broker.stop();
    assertThat(code(() -> resource.prepare(xid)))
        .isIn(XAException.XAER_RMFAIL, XAException.XA_RBCOMMFAIL);
    broker.start();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(code(() -> resource.rollback(xid))).isIn(XA_OK, XAException.XAER_NOTA);
    assertThat(recovered(resource)).isEmpty();
    assertThat(drain(plain, bills)).isEmpty();
  }

  @Test
  void aBranchWhoseReceivedMessagesWereLostWithTheConnectionIsRolledBack() throws Exception {
    send(session, orders, "a");
    MessageConsumer consumer = session.createConsumer(orders);
    resource.start(xid, TMNOFLAGS);
    assertThat(receive(consumer)).isEqualTo("a");
    send(session, bills, "bill of a");
    resource.end(xid, TMSUCCESS);
    line.cut();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBCOMMFAIL);
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_NOTA);
    consumer.close();
    assertThat(drain(plain, orders)).containsExactly("a");
    assertThat(drain(plain, bills)).isEmpty();
  }

  @Test
  void aBranchWhoseProducersWereClosedBeforeTheConnectionWasLostIsRolledBack() throws Exception {
    work(xid, "a");
    line.cut();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBCOMMFAIL);
    assertThat(drain(plain, bills)).isEmpty();
  }

  @Test
  void aBranchOfWhichAPartWasSentAheadIsRolledBackWithItsConnection() throws Exception {
    session = xa(line.port(), PATIENT);
    resource = session.getXAResource();
    resource.start(xid, TMNOFLAGS);
    for (int i = 0; i < 1_200; i++) {
      send(session, bills, i + "x".repeat(1_000));
    }
    resource.end(xid, TMSUCCESS);
    line.cut();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBCOMMFAIL);
    assertThat(drain(plain, bills)).isEmpty();
  }

  @Test
  void aConnectionThatIsGivenUpIsRmfailAtEveryCall() throws Exception {
    XASession once = xa(line.port(), "?reconnectAttempts=0&requestTimeoutMillis=3000");
    XAResource given = once.getXAResource();
    given.start(xid, TMNOFLAGS);
    send(once, bills, "a");
    given.end(xid, TMSUCCESS);
    broker.stop();
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> once.createConsumer(bills))
                    .isInstanceOf(JMSException.class));
    assertThat(code(() -> given.start(XaName.fresh(), TMNOFLAGS)))
        .isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> given.recover(TMSTARTRSCAN))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> given.commit(XaName.fresh(), false))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> given.rollback(XaName.fresh()))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> given.forget(XaName.fresh()))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> given.prepare(xid)))
        .isIn(XAException.XAER_RMFAIL, XAException.XA_RBCOMMFAIL);
    broker.start();
    assertThat(drain(plain, bills)).isEmpty();
  }

  // ---- answers that are lost ----

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLostAnswerToADecisionIsRmfailAndARepetitionIsFine(boolean commits) throws Exception {
    work(xid, "a");
    resource.prepare(xid);
    line.loseAnswers();
    assertThat(code(() -> decide(resource, commits))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(line.lostBytes()).isPositive();
    line.cut();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(recovered(resource)).isEmpty();
    assertThat(code(() -> decide(resource, commits))).isEqualTo(XA_OK);
    assertThat(drain(plain, bills)).hasSize(commits ? 1 : 0);
    XAResource other = xa(broker.port(), PATIENT).getXAResource();
    assertThat(code(() -> decide(other, commits))).isEqualTo(XAException.XAER_NOTA);
  }

  private void decide(XAResource by, boolean commits) throws XAException {
    if (commits) {
      by.commit(xid, false);
    } else {
      by.rollback(xid);
    }
  }

  @Test
  void anAnswerThatIsLostWhileTheCallWaitsIsAskedForAgain() throws Exception {
    XASession patient = xa(line.port(), PATIENT);
    XAResource waiting = patient.getXAResource();
    waiting.start(xid, TMNOFLAGS);
    send(patient, bills, "a");
    waiting.end(xid, TMSUCCESS);
    line.loseAnswers();
    CompletableFuture<Integer> prepared = new CompletableFuture<>();
    new Thread(() -> prepared.complete(code(() -> waiting.prepare(xid)))).start();
    XAResource other = xa(broker.port(), PATIENT).getXAResource();
    Awaitility.await().until(() -> recovered(other).size() == 1);
    line.cut();
    assertThat(prepared.get()).isEqualTo(XA_OK);
    patient.createTemporaryQueue().delete(); // everything is opened again
    line.loseAnswers();
    CompletableFuture<Integer> committed = new CompletableFuture<>();
    new Thread(() -> committed.complete(code(() -> waiting.commit(xid, false)))).start();
    Awaitility.await().until(() -> recovered(other).isEmpty());
    line.cut();
    assertThat(committed.get()).isEqualTo(XA_OK);
    assertThat(drain(plain, bills)).containsExactly("a");
  }

  @Test
  void aLostAnswerToPrepareIsRmfailAndTheBranchMayBeRolledBack() throws Exception {
    work(xid, "a");
    line.loseAnswers();
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XAER_RMFAIL);
    XAResource other = xa(broker.port(), PATIENT).getXAResource();
    assertThat(recovered(other)).hasSize(1);
    line.cut();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(XA_OK);
    assertThat(recovered(other)).isEmpty();
    assertThat(drain(plain, bills)).isEmpty();
  }

  // ---- no room ----

  @Test
  void withoutRoomOnTheDiskABranchIsRolledBackAndAPreparedOneIsCommitted() throws Exception {
    XASession patient = xa(broker.port(), PATIENT);
    resource = patient.getXAResource();
    session = patient;
    XaName prepared = XaName.fresh();
    work(prepared, "prepared");
    resource.prepare(prepared);
    send(session, orders, "a");
    MessageConsumer consumer = session.createConsumer(orders);
    broker.diskFull(true);
    Awaitility.await().until(() -> refusesSends());
    resource.start(xid, TMNOFLAGS);
    assertThat(receive(consumer)).isEqualTo("a");
    send(session, bills, "bill of a");
    resource.end(xid, TMSUCCESS);
    assertThat(code(() -> resource.prepare(xid))).isEqualTo(XAException.XA_RBROLLBACK);
    assertThat(recovered(resource)).hasSize(1).allMatch(prepared::is);
    XaName staged = XaName.fresh();
    resource.start(staged, TMNOFLAGS);
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1_200; i++) {
                send(session, bills, i + "x".repeat(1_000));
              }
            })
        .isInstanceOf(JMSException.class);
    resource.end(staged, TMSUCCESS);
    resource.rollback(staged);
    resource.commit(prepared, false);
    broker.diskFull(false);
    Awaitility.await().until(() -> !refusesSends());
    consumer.close();
    assertThat(drain(plain, orders)).containsExactly("a");
    assertThat(drain(plain, bills)).containsExactly("prepared");
    assertThat(recovered(resource)).isEmpty();
  }

  private boolean refusesSends() {
    try (var other = plain.createSession()) {
      send(other, other.createQueue("probe"), "x");
      return false;
    } catch (JMSException e) {
      return true;
    }
  }

  // ---- decided by hand ----

  @ParameterizedTest
  @ValueSource(strings = {"commit", "rollback"})
  void whatAnAdministratorDecidedIsToldUntilItIsForgotten(String decision) throws Exception {
    boolean committed = decision.equals("commit");
    work(xid, "a");
    resource.prepare(xid);
    String shown = broker.admin("xa.list", Map.of());
    String branch = shown.replaceFirst(".*?\"branch\":\"([^\"]+)\".*", "$1");
    broker.admin("xa." + decision, Map.of("branch", branch));
    assertThat(drain(plain, bills)).hasSize(committed ? 1 : 0);
    broker.stop();
    broker.start();
    Awaitility.await().ignoreExceptions().untilAsserted(() -> resource.recover(TMSTARTRSCAN));
    assertThat(recovered(resource)).hasSize(1).allMatch(xid::is);
    int told = committed ? XAException.XA_HEURCOM : XAException.XA_HEURRB;
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(told);
    assertThat(code(() -> resource.rollback(xid))).isEqualTo(told);
    XaName other = XaName.fresh();
    work(other, "b");
    resource.prepare(other);
    assertThat(code(() -> resource.forget(other))).isEqualTo(XAException.XAER_PROTO);
    resource.rollback(other);
    resource.forget(xid);
    assertThat(recovered(resource)).isEmpty();
    assertThat(code(() -> resource.forget(xid))).isEqualTo(XAException.XAER_NOTA);
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_NOTA);
  }
}
