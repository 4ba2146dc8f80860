package io.lightmq.client;

import static javax.transaction.xa.XAResource.TMNOFLAGS;
import static javax.transaction.xa.XAResource.TMSTARTRSCAN;
import static javax.transaction.xa.XAResource.TMSUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lightmq.client.xa.Xids;
import io.lightmq.wire.Frame;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.Session;
import jakarta.jms.TopicConnectionFactory;
import jakarta.jms.TransactionInProgressException;
import jakarta.jms.TransactionInProgressRuntimeException;
import jakarta.jms.XAConnection;
import jakarta.jms.XAConnectionFactory;
import jakarta.jms.XAJMSContext;
import jakarta.jms.XAQueueConnectionFactory;
import jakarta.jms.XASession;
import jakarta.jms.XATopicConnectionFactory;
import java.util.List;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The connections, sessions and contexts for distributed transactions, and their one factory. */
class XaObjectsTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private final Xid xid =
      Xids.of(new io.lightmq.wire.entry.Xid(78, new byte[] {1}, new byte[] {1}));
  private ScriptedBroker broker;
  private XAConnection connection;
  private XASession session;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    broker.keepsTransactions(1 << 20);
    broker.on(
        Frame.Commit.class,
        commit ->
            List.of(
                new Frame.Receipts(List.of(new Frame.Done(commit.correlation(), 1)), List.of())));
    connect();
  }

  private void connect() throws Exception {
    connection = rig.factory("").createXAConnection();
    rig.closing(connection);
    session = connection.createXASession();
  }

  private interface Call {
    void run() throws Exception;
  }

  private static int code(Call call) {
    return catchThrowableOfType(XAException.class, call::run).errorCode;
  }

  @Test
  void sessionsSayThatTheyAreTransactedAndLeaveCommitToTheResource() throws Exception {
    assertThat(session.getTransacted()).isTrue();
    assertThat(session.getAcknowledgeMode()).isEqualTo(Session.SESSION_TRANSACTED);
    assertThatThrownBy(session::commit).isInstanceOf(TransactionInProgressException.class);
    assertThatThrownBy(session::rollback).isInstanceOf(TransactionInProgressException.class);
    assertThatThrownBy(session::recover).isInstanceOf(jakarta.jms.IllegalStateException.class);
    assertThat(session.getSession()).isInstanceOf(Session.class);
    assertThat(connection.createSession(false, Session.AUTO_ACKNOWLEDGE).getTransacted()).isFalse();
  }

  @Test
  void theOneFactoryMakesAllKinds() throws Exception {
    LightmqConnectionFactory factory = rig.factory("");
    assertThat((Object) factory)
        .isInstanceOf(ConnectionFactory.class)
        .isInstanceOf(QueueConnectionFactory.class)
        .isInstanceOf(TopicConnectionFactory.class)
        .isInstanceOf(XAConnectionFactory.class)
        .isInstanceOf(XAQueueConnectionFactory.class)
        .isInstanceOf(XATopicConnectionFactory.class);
    try (var queues = factory.createXAQueueConnection();
        var topics = factory.createXATopicConnection(null, null)) {
      assertThat(queues.createXAQueueSession().getQueueSession().createQueue("q")).isNotNull();
      assertThat(topics.createXATopicSession().getTopicSession().createTopic("t")).isNotNull();
      assertThat((Object) queues.createQueueSession(false, 1)).isNotNull();
    }
    try (XAJMSContext context = factory.createXAContext()) {
      assertThat(context.getTransacted()).isTrue();
      assertThat(context.getContext()).isSameAs(context);
      assertThatThrownBy(context::commit).isInstanceOf(TransactionInProgressRuntimeException.class);
      XAResource of = context.getXAResource();
      of.start(xid, TMNOFLAGS);
      context.createProducer().send(context.createQueue("orders"), "in");
      of.end(xid, TMSUCCESS);
      of.commit(xid, true);
    }
    Frame.Commit commit = broker.seen(Frame.Commit.class).get(0);
    assertThat(ScriptedBroker.texts(commit.runs().get(0).messages())).containsExactly("in");
  }

  @Test
  void anOldBrokerCannotDoIt() throws Exception {
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    connect();
    XAResource resource = session.getXAResource();
    assertThat(code(() -> resource.start(xid, TMNOFLAGS))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.recover(TMSTARTRSCAN))).isEqualTo(XAException.XAER_RMFAIL);
    assertThat(code(() -> resource.commit(xid, false))).isEqualTo(XAException.XAER_RMFAIL);
  }
}
