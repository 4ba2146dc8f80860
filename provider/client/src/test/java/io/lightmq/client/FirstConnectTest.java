package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.naming.StringRefAddr;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a connection begins: as whom, and how often that is tried. */
class FirstConnectTest {
  private ScriptedBroker broker;

  @BeforeEach
  void start() throws Exception {
    broker = new ScriptedBroker();
  }

  @AfterEach
  void stop() throws Exception {
    broker.close();
    assertThat(ClientThreads.alive()).isEmpty();
  }

  private LightmqConnectionFactory factory(String options) {
    return new LightmqConnectionFactory(broker.uri(options));
  }

  /** The broker sends so many connections away. */
  private void turnsAway(int connections) {
    AtomicInteger greetings = new AtomicInteger();
    broker.on(
        Frame.Hello.class,
        hello ->
            List.of(
                greetings.incrementAndGet() <= connections
                    ? new Frame.Goodbye(FaultCode.CLOSING, "starting")
                    : ScriptedBroker.welcome()));
  }

  private int tries() {
    return broker.seen(Frame.Hello.class).size();
  }

  // ---- as whom ----

  @Test
  void anEmptyUserIsNoUserThroughEveryDoor() throws Exception {
    LightmqConnectionFactory plain = factory("");
    plain.createConnection("", "").close();
    plain.createConnection("", null).close();
    plain.createQueueConnection("", "").close();
    plain.createTopicConnection("", null).close();
    plain.createContext("", "").close(); // the scripted broker answers one connection at a time
    plain.createContext("", null, 1).close();
    LightmqConnectionFactory bean = factory("");
    bean.setUser("");
    bean.setPassword("");
    bean.createConnection().close();
    assertThat(bean).isEqualTo(factory(""));
    javax.naming.Reference reference = factory("").getReference();
    reference.add(new StringRefAddr("user", ""));
    reference.add(new StringRefAddr("password", ""));
    ((LightmqConnectionFactory)
            new LightmqObjectFactory().getObjectInstance(reference, null, null, null))
        .createConnection()
        .close();
    factory("&user=&password=").createConnection().close();
    assertThat(broker.seen(Frame.AuthStart.class))
        .hasSize(9)
        .allMatch(start -> start.mechanism().equals("ANONYMOUS"));
  }

  @Test
  void aPropertyThatAContainerLeavesEmptyTakesNothingFromTheUri() {
    LightmqConnectionFactory factory = factory("&user=shop&password=secret&clientId=till");
    LightmqConnectionFactory same = factory("&user=shop&password=secret&clientId=till");
    factory.setUser("");
    factory.setPassword("");
    factory.setClientId("");
    assertThat(factory).isEqualTo(same);
  }

  // ---- how often ----

  @Test
  void onceByDefault() {
    turnsAway(1);
    assertThatThrownBy(factory("")::createConnection)
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("starting");
    assertThat(tries()).isOne();
  }

  @Test
  void asOftenAsTheOptionSays() throws Exception {
    turnsAway(2);
    try (Connection connection = factory("&initialReconnectAttempts=2").createConnection()) {
      assertThat(connection.getClientID()).isNull();
    }
    assertThat(tries()).isEqualTo(3);
  }

  @Test
  void afterTheLastTheFailureNamesTheOption() {
    turnsAway(3);
    assertThatThrownBy(factory("&initialReconnectAttempts=2")::createConnection)
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("starting")
        .hasMessageContaining("3 attempts")
        .hasMessageContaining("initialReconnectAttempts");
    assertThat(tries()).isEqualTo(3);
  }

  @Test
  void whatNoLaterAttemptCanChangeIsNotTriedAgain() {
    broker.on(
        Frame.AuthStart.class,
        start -> List.of(new Frame.Goodbye(FaultCode.AUTHENTICATION_FAILED, "wrong password")));
    assertThatThrownBy(factory("&initialReconnectAttempts=-1")::createConnection)
        .isInstanceOf(JMSSecurityException.class);
    assertThat(tries()).isOne();
  }

  @Test
  void anInterruptEndsIt() throws Exception {
    turnsAway(Integer.MAX_VALUE);
    CompletableFuture<JMSException> failed = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                factory("&initialReconnectAttempts=-1").createConnection();
              } catch (JMSException e) {
                failed.complete(e);
              }
            });
    thread.start();
    Awaitility.await().until(() -> tries() >= 2);
    thread.interrupt();
    assertThat(failed.get(10, TimeUnit.SECONDS)).hasMessageContaining("interrupted");
    thread.join();
  }

  /** It has begun its last try late, and would end after nobody waits for it any more. */
  @Test
  void aTryThatEndsLateDoesNotEndTheConnectionOfTheNext() throws Exception {
    long begun = System.nanoTime();
    broker.on(
        Frame.Hello.class,
        hello ->
            List.of(
                System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(1_000)
                    ? new Frame.Goodbye(FaultCode.RETRY_LATER, "starting")
                    : ScriptedBroker.welcome()));
    AtomicInteger attaches = new AtomicInteger();
    broker.on(
        Frame.Attach.class,
        attach ->
            attaches.incrementAndGet() == 1
                ? List.of()
                : List.of(new Frame.Attached(attach.correlation(), 0, List.of(), 1 << 20, 0)));
    try (Connection connection =
        factory(
                "&initialReconnectAttempts=3&connectTimeoutMillis=100&requestTimeoutMillis=2000"
                    + "&reconnectDelayMillis=10&maxReconnectDelayMillis=50")
            .createConnection()) {
      Awaitility.await()
          .during(2, TimeUnit.SECONDS)
          .atMost(20, TimeUnit.SECONDS)
          .until(
              () -> {
                connection.createSession(false, 1).close();
                return true;
              });
    }
  }
}
