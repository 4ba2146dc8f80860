package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.JMSSecurityRuntimeException;
import jakarta.jms.Session;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectingTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
  }

  private LightmqConnectionFactory factory(String options) {
    return new LightmqConnectionFactory(broker.uri(options));
  }

  @Test
  void aConnectionSaysHelloAuthenticatesAndAttaches() throws Exception {
    try (Connection connection = factory("&clientId=billing").createConnection()) {
      assertThat(connection.getClientID()).isEqualTo("billing");
      assertThat(broker.seen(Frame.Hello.class)).hasSize(1);
      assertThat(broker.seen(Frame.AuthStart.class).get(0).mechanism()).isEqualTo("ANONYMOUS");
      Frame.Attach attach = broker.seen(Frame.Attach.class).get(0);
      assertThat(attach.clientId()).isEqualTo("billing");
      assertThat(attach.linkEpoch()).isEqualTo(1);
      assertThat(attach.answersFrom()).isEqualTo(1);
    }
  }

  @Test
  void closingSaysGoodbye() throws Exception {
    factory("").createConnection().close();
    Awaitility.await().until(() -> !broker.seen(Frame.Goodbye.class).isEmpty());
    assertThat(broker.seen(Frame.Goodbye.class).get(0).code()).isEqualTo(FaultCode.OK);
  }

  private static Frame challenge(Frame.AuthStart start, int iterations) {
    String first = new String(start.data(), StandardCharsets.UTF_8);
    String nonce = first.substring(first.indexOf(",r=") + 3);
    return new Frame.AuthChallenge(
        ("r=" + nonce + "more,s=c2FsdHNhbHQ=,i=" + iterations).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aSecondChallengeIsAProtocolError() {
    broker.on(
        Frame.AuthStart.class, start -> List.of(challenge(start, 4_096), challenge(start, 4_096)));
    broker.on(Frame.AuthResponse.class, response -> List.of());
    assertThatThrownBy(() -> factory("").createConnection("anna", "secret"))
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("AUTH_CHALLENGE came during the handshake");
    assertThat(broker.seen(Frame.AuthResponse.class).size()).isLessThanOrEqualTo(1);
  }

  @Test
  void aChallengeAfterTheResponseIsAProtocolErrorToo() {
    broker.on(Frame.AuthStart.class, start -> List.of(challenge(start, 4_096)));
    broker.on(
        Frame.AuthResponse.class,
        response -> List.of(challenge(broker.seen(Frame.AuthStart.class).get(0), 200_000)));
    assertThatThrownBy(() -> factory("").createConnection("anna", "secret"))
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("AUTH_CHALLENGE came during the handshake");
    assertThat(broker.seen(Frame.AuthResponse.class)).hasSize(1);
  }

  @Test
  void theAnswerToAChallengeIsNotComputedOnTheLoopOfAllLinks() throws Exception {
    broker.on(Frame.AuthStart.class, start -> List.of(challenge(start, 200_000)));
    broker.on(
        Frame.AuthResponse.class,
        response -> List.of(new Frame.Goodbye(FaultCode.AUTHENTICATION_FAILED, "no")));
    CompletableFuture<Void> connecting =
        CompletableFuture.runAsync(
            () ->
                assertThatThrownBy(() -> factory("").createConnection("anna", "secret"))
                    .isInstanceOf(JMSSecurityException.class));
    Awaitility.await()
        .pollInterval(java.time.Duration.ofMillis(1))
        .until(() -> ClientThreads.alive().contains("link-auth"));
    connecting.get(20, TimeUnit.SECONDS);
  }

  @Test
  void wrongCredentialsFailAtOnce() {
    broker.on(
        Frame.AuthStart.class,
        start -> List.of(new Frame.Goodbye(FaultCode.AUTHENTICATION_FAILED, "wrong password")));
    assertThatThrownBy(() -> factory("").createConnection("anna", "secret"))
        .isInstanceOf(JMSSecurityException.class)
        .hasMessageContaining("wrong password")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> factory("").createContext("anna", "secret"))
        .isInstanceOf(JMSSecurityRuntimeException.class);
    assertThat(broker.seen(Frame.AuthStart.class).get(0).mechanism()).isEqualTo("SCRAM-SHA-256");
  }

  @Test
  void aBrokerThatDoesNotKnowThePasswordIsNotTrusted() {
    broker.on(
        Frame.AuthStart.class, start -> List.of(new Frame.AuthDone(new byte[] {1}, 1, "anna")));
    assertThatThrownBy(() -> factory("").createConnection("anna", "secret"))
        .isInstanceOf(JMSSecurityException.class);
  }

  @Test
  void anUnreachableBrokerIsNamedInTheError() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    assertThatThrownBy(
            () -> new LightmqConnectionFactory("lightmq://127.0.0.1:" + port).createConnection())
        .isInstanceOf(JMSException.class)
        .hasMessage(
            "connecting to lightmq://127.0.0.1:%1$d: cannot connect to 127.0.0.1:%1$d:"
                + " Connection refused; is a broker running there?",
            port);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "!HTTP/1.1 400 Bad Request|the answer says it has 1213486160 bytes",
        "!220 mail.example.org ESMTP|the answer says it has 842149920 bytes",
        "!\0\0\0\u0020some other protocol, with lengths|frame type",
        "!\0\0\0\0 nothing|which is below its header's"
      })
  void aPortOfAnotherProtocolIsCalledThat(String answer, String detail) throws Exception {
    byte[] bytes = answer.substring(1).getBytes(StandardCharsets.ISO_8859_1);
    try (ServerSocket other = new ServerSocket(0)) {
      Thread server =
          new Thread(
              () -> {
                try (Socket client = other.accept()) {
                  client.getOutputStream().write(bytes);
                  client.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // the client has gone
                }
              });
      server.start();
      assertThatThrownBy(
              () ->
                  new LightmqConnectionFactory("lightmq://127.0.0.1:" + other.getLocalPort())
                      .createConnection())
          .isExactlyInstanceOf(JMSException.class)
          .hasMessageContaining(detail)
          .hasMessageEndingWith(": this is not a LightMQ broker's port");
      server.join();
    }
  }

  @Test
  void anUnknownHostIsNamedInTheError() {
    assertThatThrownBy(
            () -> new LightmqConnectionFactory("lightmq://no-host.invalid:7654").createConnection())
        .isInstanceOf(JMSException.class)
        .hasMessageContaining(
            "connecting to lightmq://no-host.invalid:7654: the host no-host.invalid is unknown;"
                + " check its spelling in the connection URI");
  }

  @Test
  void anUnknownFirstHostDoesNotHinderTheSecond() throws Exception {
    try (Connection connection =
        new LightmqConnectionFactory("lightmq://no-host.invalid,127.0.0.1:" + broker.port())
            .createConnection()) {
      assertThat(connection.getMetaData().getJMSVersion()).isEqualTo("3.1");
    }
  }

  @Test
  void theSecondAddressIsTriedWhenTheFirstFails() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    try (Connection connection =
        new LightmqConnectionFactory("lightmq://127.0.0.1:" + port + ",127.0.0.1:" + broker.port())
            .createConnection()) {
      assertThat(connection.getMetaData().getJMSVersion()).isEqualTo("3.1");
    }
  }

  @Test
  void theEmbeddedSchemesNameTheArtifactTheyNeed() {
    assertThatThrownBy(() -> new LightmqConnectionFactory("lightmq:mem:x").createConnection())
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("lightmq-embedded");
  }

  @Test
  void aSilentBrokerFailsAfterTheConnectTimeout() {
    broker.on(Frame.Hello.class, hello -> List.of());
    assertThatThrownBy(() -> factory("&connectTimeoutMillis=50").createConnection())
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("connectTimeoutMillis");
  }

  @Test
  void aFrameThatTheProtocolForbidsEndsTheHandshake() {
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Credit(1)));
    assertThatThrownBy(() -> factory("").createConnection())
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("before authentication");
  }

  @Test
  void theClientIdIsSetBeforeAnyOtherUseAndOnce() throws Exception {
    broker.ok(Frame.SetClientId.class);
    try (Connection connection = factory("").createConnection()) {
      assertThat(connection.getClientID()).isNull();
      assertThatThrownBy(() -> connection.setClientID(""))
          .isInstanceOf(InvalidClientIDException.class);
      connection.setClientID("one");
      assertThat(connection.getClientID()).isEqualTo("one");
      assertThatThrownBy(() -> connection.setClientID("two"))
          .isInstanceOf(IllegalStateException.class);
    }
    try (Connection connection = factory("").createConnection()) {
      connection.createSession();
      assertThatThrownBy(() -> connection.setClientID("late"))
          .isInstanceOf(IllegalStateException.class);
    }
    try (JMSContext context = factory("").createContext()) {
      context.setClientID("context");
      assertThat(context.getClientID()).isEqualTo("context");
    }
  }

  @Test
  void aTakenClientIdIsRefused() throws Exception {
    broker.on(
        Frame.SetClientId.class,
        set ->
            List.of(new Frame.Fault(set.correlation(), FaultCode.CLIENT_ID_IN_USE, "in use", 0)));
    try (Connection connection = factory("").createConnection()) {
      assertThatThrownBy(() -> connection.setClientID("taken"))
          .isInstanceOf(InvalidClientIDException.class)
          .extracting(e -> ((JMSException) e).getErrorCode())
          .isEqualTo("LMQ-12");
    }
  }

  @Test
  void anythingAfterCloseIsRefused() throws Exception {
    Connection connection = factory("").createConnection();
    Session session = connection.createSession();
    connection.close();
    connection.close();
    session.close();
    assertThatThrownBy(connection::start).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(session::createTextMessage).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.createProducer(null))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void contextsOfOneConnectionCloseItWithTheLast() throws Exception {
    JMSContext first = factory("").createContext();
    JMSContext second = first.createContext(JMSContext.CLIENT_ACKNOWLEDGE);
    first.close();
    assertThat(second.createTextMessage("still open").getText()).isEqualTo("still open");
    second.close();
    Awaitility.await().until(() -> !broker.seen(Frame.Goodbye.class).isEmpty());
    assertThat(broker.seen(Frame.Attach.class)).hasSize(1);
    assertThat(broker.seen(Frame.Goodbye.class)).hasSize(1);
  }
}
