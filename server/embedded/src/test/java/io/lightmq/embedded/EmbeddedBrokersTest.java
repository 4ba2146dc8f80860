package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.link.ClientUri;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.node.security.UserStore;
import jakarta.jms.Connection;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedBrokersTest {
  private static final long WAIT_MILLIS = 20_000;
  private static final long THREADS_END_MILLIS = 2_000;

  @TempDir Path directory;

  private final Set<Thread> threadsBefore = threads();

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !thread.getName().matches("(process reaper|Attach).*"))
        .collect(Collectors.toSet());
  }

  @AfterEach
  void nothingIsLeftBehind() throws Exception {
    Set<Thread> left = threads();
    left.removeAll(threadsBefore);
    assertThat(left)
        .as("Netty's own executor, which would end only after a quiet second")
        .noneMatch(thread -> thread.getName().startsWith("globalEventExecutor"));
    for (Thread thread : left) {
      thread.join(THREADS_END_MILLIS);
      assertThat(thread.isAlive()).as("thread " + thread.getName() + " after close").isFalse();
    }
    try (Stream<Path> handles = Files.list(Path.of("/proc/self/fd"))) {
      assertThat(handles.map(EmbeddedBrokersTest::target))
          .noneMatch(name -> name.startsWith(directory.toString()));
    }
  }

  private static String target(Path handle) {
    try {
      return Files.readSymbolicLink(handle).toString();
    } catch (IOException closedMeanwhile) {
      return "";
    }
  }

  private static LightmqConnectionFactory factory(String uri) throws JMSException {
    return new LightmqConnectionFactory(uri);
  }

  @Test
  void sendsAndReceivesInMemory() throws JMSException {
    try (JMSContext context = factory("lightmq:mem").createContext()) {
      Queue queue = context.createQueue("q");
      context.createProducer().send(queue, "hello");
      try (JMSConsumer consumer = context.createConsumer(queue)) {
        assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("hello");
        assertThat(consumer.receiveNoWait()).isNull();
      }
    }
  }

  @Test
  void twoConnectionsOfOneUriShareABrokerAndOtherNamesDoNot() throws JMSException {
    String name = "lightmq:mem:" + UUID.randomUUID();
    try (JMSContext sender = factory(name).createContext();
        JMSContext receiver = factory(name).createContext();
        JMSContext stranger = factory(name + "x").createContext()) {
      sender.createProducer().send(sender.createQueue("q"), "for you");
      try (JMSConsumer other = stranger.createConsumer(stranger.createQueue("q"))) {
        assertThat(other.receiveNoWait()).isNull();
      }
      try (JMSConsumer consumer = receiver.createConsumer(receiver.createQueue("q"))) {
        assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("for you");
      }
    }
  }

  @Test
  void anInterruptOfTheApplicationEndsNoBrokerInTheMiddle() throws Exception {
    String uri = "lightmq:file:" + directory.resolve("data");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> factory(uri).createContext())
        .hasMessageContaining("interrupted while connecting");
    assertThat(Thread.interrupted()).as("the interrupt is the application's").isTrue();
    assertThat(directory.resolve("data/lock")).as("given up by its owner").isEmptyFile();
    try (JMSContext context = factory(uri).createContext()) {
      context.createProducer().send(context.createQueue("q"), "kept");
      Thread.currentThread().interrupt();
    }
    assertThat(Thread.interrupted()).isTrue();
    assertThat(directory.resolve("data/lock")).as("given up by its owner").isEmptyFile();
    try (JMSContext context = factory(uri).createContext();
        JMSConsumer consumer = context.createConsumer(context.createQueue("q"))) {
      assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("kept");
    }
  }

  @Test
  void whatIsInMemoryEndsWithTheLastConnection() throws JMSException {
    String uri = "lightmq:mem:" + UUID.randomUUID();
    try (JMSContext context = factory(uri).createContext()) {
      context.createProducer().send(context.createQueue("q"), "gone");
    }
    try (JMSContext context = factory(uri).createContext();
        JMSConsumer consumer = context.createConsumer(context.createQueue("q"))) {
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }

  @Test
  void aKeptBrokerLivesUntilItIsClosed() throws JMSException {
    String uri = "lightmq:mem:" + UUID.randomUUID();
    try (JMSContext context = factory(uri + "?keep=true").createContext()) {
      context.createProducer().send(context.createQueue("q"), "kept");
    }
    try (JMSContext context = factory(uri).createContext();
        JMSConsumer consumer = context.createConsumer(context.createQueue("q"))) {
      assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("kept");
    }
    assertThat(EmbeddedBrokers.close(uri)).isTrue();
    assertThat(EmbeddedBrokers.close(uri)).isFalse();
  }

  @Test
  void aDirectoryKeepsMessagesBetweenBrokers() throws JMSException {
    String uri = "lightmq:file:" + directory.resolve("data");
    try (JMSContext context = factory(uri).createContext()) {
      for (int i = 0; i < 100; i++) {
        context.createProducer().send(context.createQueue("q"), "message " + i);
      }
    }
    try (JMSContext context = factory(uri).createContext();
        JMSConsumer consumer = context.createConsumer(context.createQueue("q"))) {
      for (int i = 0; i < 100; i++) {
        assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("message " + i);
      }
    }
  }

  @Test
  void aConnectionToABrokerThatHasFailedFailsAndTheNextOneStartsAnother() throws Exception {
    String uri = "lightmq:mem:" + UUID.randomUUID();
    CountDownLatch failed = new CountDownLatch(1);
    try (Connection connection = factory(uri).createConnection()) {
      connection.setExceptionListener(cause -> failed.countDown());
      connection.start();
      RunningBroker broker = EmbeddedBrokers.share(ClientUri.parse(uri));
      assertThat(broker.shares).isEqualTo(2);
      broker.death().fatal("shard", new IllegalStateException("a planted bug"));
      assertThat(failed.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
      try (JMSContext context = factory(uri).createContext()) {
        context.createProducer().send(context.createQueue("q"), "works");
        EmbeddedBrokers.giveUp(broker);
        context.createProducer().send(context.createQueue("q"), "still works");
      }
    }
    assertThat(EmbeddedBrokers.close(uri)).as("whether one is left running").isFalse();
  }

  @Test
  void aDirectoryInUseIsAnErrorThatNamesIt() throws Exception {
    Path data = directory.resolve("data");
    try (NioDisk held = NioDisk.open(data)) {
      LightmqConnectionFactory factory = factory("lightmq:file:" + held.root());
      assertThatThrownBy(factory::createConnection)
          .isInstanceOf(JMSException.class)
          .hasMessageContaining(data.toString());
    }
  }

  @Test
  void usersThatAServerHasLeftInTheDirectoryAreLetInWithTheirPassword() throws Exception {
    UserStore.open(directory, false, false).put("ann", "secret", Set.of("user"));
    LightmqConnectionFactory factory = factory("lightmq:file:" + directory);
    factory.createConnection("ann", "secret").close();
    factory.createConnection().close();
    assertThatThrownBy(() -> factory.createConnection("ann", "guessed"))
        .isInstanceOf(JMSSecurityException.class);
    assertThatThrownBy(() -> factory.createConnection("bob", "secret"))
        .isInstanceOf(JMSSecurityException.class);
  }

  @Test
  void aUserWithAPasswordIsRefusedSinceThereAreNone() throws Exception {
    assertThatThrownBy(() -> factory("lightmq:mem").createConnection("ada", "secret"))
        .isInstanceOf(JMSSecurityException.class);
  }

  @Test
  void listenersAndTransactionsWork() throws Exception {
    CountDownLatch heard = new CountDownLatch(10);
    try (Connection connection = factory("lightmq:mem").createConnection()) {
      Session sending = connection.createSession(true, Session.SESSION_TRANSACTED);
      Queue queue = sending.createQueue("q");
      Session listening = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
      MessageConsumer consumer = listening.createConsumer(queue);
      consumer.setMessageListener(message -> heard.countDown());
      connection.start();
      for (int i = 0; i < 10; i++) {
        TextMessage message = sending.createTextMessage("m" + i);
        sending.createProducer(queue).send(message);
      }
      assertThat(heard.getCount()).isEqualTo(10);
      sending.commit();
      assertThat(heard.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
    }
  }

  @Test
  void aMessageOfThreeMebibytesGetsThrough() throws JMSException {
    try (JMSContext context = factory("lightmq:mem").createContext()) {
      Queue queue = context.createQueue("q");
      context.createProducer().send(queue, new byte[3 << 20]);
      try (JMSConsumer consumer = context.createConsumer(queue)) {
        assertThat(consumer.receiveBody(byte[].class, WAIT_MILLIS)).hasSize(3 << 20);
      }
    }
  }

  @Test
  void aDirectoryThatCannotBeMadeIsToldWithItsReason() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    LightmqConnectionFactory factory = factory("lightmq:file:" + file.resolve("data"));
    assertThatThrownBy(factory::createConnection)
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("the broker cannot start: " + file)
        .message()
        .containsAnyOf("exists already", "irectory");
  }
}
