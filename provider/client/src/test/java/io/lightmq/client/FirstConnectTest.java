package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateRuntimeException;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.naming.StringRefAddr;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How a connection begins: as whom, and how often that is tried. */
class FirstConnectTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
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
    plain.createContext("", "").close();
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

  // ---- several at once ----

  /** What each caller's broker does at its attach, once all callers have come so far. */
  private List<Frame> answer(Frame.Attach attach, Map<String, AtomicInteger> tries) {
    String caller = String.valueOf(attach.clientId());
    int before = tries.computeIfAbsent(caller, any -> new AtomicInteger()).getAndIncrement();
    Frame attached = new Frame.Attached(attach.correlation(), 0, List.of(), 1 << 20, 0);
    FaultCode refusal =
        switch (caller.substring(0, caller.indexOf('-'))) {
          case "refused" -> FaultCode.NOT_AUTHORIZED;
          case "later" -> before < 2 ? FaultCode.RETRY_LATER : FaultCode.OK;
          case "lost" -> FaultCode.CLOSING;
          case "silent" -> FaultCode.HEARTBEAT_LOST;
          default -> FaultCode.OK;
        };
    return switch (refusal) {
      case OK -> List.of(attached);
      case HEARTBEAT_LOST -> List.of();
      case CLOSING -> List.of(new Frame.Goodbye(refusal, caller));
      default -> List.of(new Frame.Fault(attach.correlation(), refusal, caller, 0));
    };
  }

  /**
   * Each first connect belongs to its caller: what becomes of one ends no other, and what fails
   * leaves no connection open.
   */
  @Test
  void firstConnectsThatOverlapHaveNothingToDoWithEachOther() throws Exception {
    List<String> kinds = List.of("well", "refused", "later", "lost", "silent");
    int each = 3;
    CountDownLatch allCame = new CountDownLatch(kinds.size() * each);
    Map<String, AtomicInteger> tries = new ConcurrentHashMap<>();
    broker.on(
        Frame.Attach.class,
        attach -> {
          allCame.countDown();
          assertThat(awaited(allCame)).as("all have come to their attach").isTrue();
          return answer(attach, tries);
        });
    Map<String, CompletableFuture<Connection>> opening = new ConcurrentHashMap<>();
    List<Thread> threads = new ArrayList<>();
    for (String kind : kinds) {
      for (int i = 0; i < each; i++) {
        String caller = kind + "-" + i;
        CompletableFuture<Connection> opened = new CompletableFuture<>();
        opening.put(caller, opened);
        threads.add(new Thread(() -> open(caller, opened)));
      }
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    List<Connection> open = new ArrayList<>();
    opening.forEach(
        (caller, opened) -> {
          if (caller.startsWith("well") || caller.startsWith("later")) {
            open.add(opened.join());
          } else {
            assertThatThrownBy(opened::join)
                .hasCauseInstanceOf(JMSException.class)
                .hasMessageContaining(caller.startsWith("silent") ? "3000 ms" : caller);
          }
        });
    assertThat(open).hasSize(2 * each);
    Awaitility.await().until(() -> broker.connected() == open.size());
    for (Connection connection : open) {
      connection.createSession().close();
      connection.close();
      Awaitility.await().until(() -> broker.connected() == openLeft(open, connection));
    }
  }

  private static long openLeft(List<Connection> open, Connection closed) {
    return open.size() - 1L - open.indexOf(closed);
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      return latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  private void open(String caller, CompletableFuture<Connection> opened) {
    String options = "&requestTimeoutMillis=3000&maxReconnectDelayMillis=20&clientId=";
    try {
      opened.complete(factory(options + caller).createConnection());
    } catch (JMSException | RuntimeException e) {
      opened.completeExceptionally(e);
    }
  }

  /** The first context is closed while another thread makes the second from it. */
  @Test
  void aContextThatIsBeingMadeKeepsItsConnection() throws Exception {
    CountDownLatch asked = new CountDownLatch(2);
    CountDownLatch answer = new CountDownLatch(1);
    AtomicInteger sessions = new AtomicInteger();
    broker.on(
        Frame.OpenSession.class,
        open -> {
          asked.countDown();
          if (sessions.incrementAndGet() == 1) {
            return List.of(new Frame.Ok(open.correlation()));
          }
          CompletableFuture.runAsync(
              () -> {
                assertThat(awaited(answer)).isTrue();
                broker.send(new Frame.Ok(open.correlation()));
              });
          return List.of();
        });
    JMSContext first = factory("").createContext();
    CompletableFuture<JMSContext> making =
        CompletableFuture.supplyAsync(() -> first.createContext(JMSContext.CLIENT_ACKNOWLEDGE));
    assertThat(awaited(asked)).isTrue();
    first.close();
    answer.countDown();
    JMSContext second = making.get(10, TimeUnit.SECONDS);
    second.createTextMessage("it works");
    assertThatThrownBy(() -> first.createContext(JMSContext.AUTO_ACKNOWLEDGE))
        .isInstanceOf(IllegalStateRuntimeException.class);
    second.close();
    Awaitility.await().until(() -> broker.connected() == 0);
  }
}
