package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.client.ConnectionState.Phase;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several brokers of one URI, and what a connection tells of its losses. */
class FailoverTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker first;
  private ScriptedBroker second;
  private LightmqConnection connection;

  @BeforeEach
  void start() throws Exception {
    first = rig.broker();
    second = new ScriptedBroker();
    first.nothingThere();
    second.nothingThere();
  }

  @AfterEach
  void stop() throws Exception {
    if (connection != null) {
      connection.close();
    }
    second.close();
  }

  private String uri(String options) {
    return "lightmq://127.0.0.1:"
        + first.port()
        + ",127.0.0.1:"
        + second.port()
        + "?initialReconnectDelay=5&maxReconnectDelay=20&batchBytes=1"
        + options;
  }

  private LightmqConnection open(String options) throws JMSException {
    connection = (LightmqConnection) new LightmqConnectionFactory(uri(options)).createConnection();
    return connection;
  }

  private static void isDown(ScriptedBroker broker) {
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(FaultCode.CLOSING, "down")));
  }

  private static void goesAway(ScriptedBroker broker) throws Exception {
    isDown(broker);
    broker.cut();
  }

  private static void comesBack(ScriptedBroker broker) {
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
  }

  private void isAt(ScriptedBroker broker) {
    await()
        .until(
            () ->
                connection.state().isReady()
                    && connection.state().broker().equals("127.0.0.1:" + broker.port()));
  }

  // ---- which broker ----

  @Test
  void theBrokersAreTriedInTheirOrderAndWhoLosesTheSecondIsBackAtTheFirst() throws Exception {
    open("");
    isAt(first);
    goesAway(first);
    isAt(second);
    comesBack(first);
    goesAway(second);
    isAt(first);
    goesAway(first);
    comesBack(second);
    isAt(second);
    assertThat(connection.state().reconnects()).isEqualTo(3);
  }

  @Test
  void inAnOrderOfItsOwnEachTimeConnectionsSpreadOverAll() throws Exception {
    LightmqConnectionFactory factory = new LightmqConnectionFactory(uri("&randomize=true"));
    List<Connection> opened = new ArrayList<>();
    try {
      while (opened.size() < 64
          && (first.seen(Frame.Attach.class).isEmpty()
              || second.seen(Frame.Attach.class).isEmpty())) {
        opened.add(factory.createConnection());
      }
      assertThat(first.seen(Frame.Attach.class)).isNotEmpty();
      assertThat(second.seen(Frame.Attach.class)).isNotEmpty();
    } finally {
      for (Connection each : opened) {
        each.close();
      }
    }
  }

  @Test
  void allObjectsGoOnAtTheOtherBroker() throws Exception {
    open("");
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
    CompletableFuture<Object> received =
        CompletableFuture.supplyAsync(() -> Unchecked.get(consumer::receive), rig.threads());
    await().until(() -> !first.seen(Frame.Pull.class).isEmpty());
    second.expectToo(Frame.Pull.class);
    goesAway(first);
    Frame.Pull pull = second.expect(Frame.Pull.class);
    second.nothingThere();
    second.send(second.deliver(pull.pulls().get(0), "orders", 1, 0, "b"));
    assertThat(((TextMessage) received.get(10, TimeUnit.SECONDS)).getText()).isEqualTo("b");
    second.on(
        Frame.Publish.class,
        publish ->
            List.of(
                new Frame.Receipts(List.of(new Frame.Done(publish.correlation(), 1)), List.of())));
    producer.send(session.createTextMessage("a"));
    assertThat(first.seen(Frame.Publish.class)).isEmpty();
  }

  // ---- an open transaction ----

  @Test
  void aTransactionThatReceivedOnALostConnectionIsRolledBack() throws Exception {
    open("");
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    MessageProducer producer = session.createProducer(session.createQueue("done"));
    MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
    first.expectToo(Frame.Pull.class);
    connection.start();
    CompletableFuture<Object> received =
        CompletableFuture.supplyAsync(() -> Unchecked.get(consumer::receive), rig.threads());
    Frame.Pull pull = first.expect(Frame.Pull.class);
    first.nothingThere();
    first.send(first.deliver(pull.pulls().get(0), "orders", 1, 0, "a"));
    assertThat(received.get(10, TimeUnit.SECONDS)).isNotNull();
    producer.send(session.createTextMessage("b"));
    goesAway(first);
    isAt(second);
    assertThatThrownBy(session::commit)
        .isInstanceOf(TransactionRolledBackException.class)
        .extracting(e -> ((JMSException) e).getErrorCode())
        .isEqualTo("LMQ-31");
    assertThat(second.seen(Frame.Commit.class)).isEmpty();
    session.commit(); // the next transaction is empty and well
  }

  // ---- what it tells ----

  @Test
  void theStateFollowsALossAndItsRepair() throws Exception {
    LightmqConnection open = open("&reconnectBackOffMultiplier=1");
    assertThat(open.state())
        .satisfies(
            state -> {
              assertThat(state.phase()).isEqualTo(Phase.CONNECTED);
              assertThat(state.cause()).isNull();
              assertThat(state.outage()).isZero();
            });
    isDown(second);
    goesAway(first);
    await().until(() -> open.state().attempts() >= 3);
    assertThat(open.state())
        .satisfies(
            state -> {
              assertThat(state.phase()).isEqualTo(Phase.RECONNECTING);
              assertThat(state.isReady()).isFalse();
              assertThat(state.cause()).contains("closed");
              assertThat(state.outage()).isPositive();
            });
    comesBack(first);
    await().until(() -> open.state().isReady());
    assertThat(open.state())
        .satisfies(
            state -> {
              assertThat(state.attempts()).isGreaterThanOrEqualTo(3);
              assertThat(state.reconnects()).isOne();
              assertThat(state.outage()).isPositive();
            });
    open.close();
    assertThat(open.state().phase()).isEqualTo(Phase.CLOSED);
  }

  @Test
  void whatIsGivenUpHasFailedAndItsExceptionListenerIsToldOnce() throws Exception {
    LightmqConnection open = open("&reconnectAttempts=2");
    List<JMSException> told = new ArrayList<>();
    CompletableFuture<JMSException> failed = new CompletableFuture<>();
    open.setExceptionListener(
        e -> {
          synchronized (told) {
            told.add(e);
          }
          failed.complete(e);
        });
    Session session = open.createSession();
    goesAway(first);
    isAt(second);
    session.createProducer(session.createQueue("orders")).close(); // it has done something
    goesAway(second);
    assertThat(failed.get(10, TimeUnit.SECONDS)).hasMessageContaining("reconnectAttempts");
    assertThat(open.state().phase()).isEqualTo(Phase.FAILED);
    assertThat(open.state().cause()).contains("2 attempts");
    assertThatThrownBy(() -> session.createProducer(session.createQueue("orders")))
        .isInstanceOf(JMSException.class);
    open.close();
    synchronized (told) {
      assertThat(told).hasSize(1);
    }
  }

  @Test
  void aContextTellsTheStateOfItsConnection() {
    try (JMSContext context = new LightmqConnectionFactory(uri("")).createContext()) {
      assertThat(((LightmqContext) context).state().isReady()).isTrue();
    }
  }
}
