package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.shard.BrokerSettings;
import io.lightmq.core.storage.MemoryDisk;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.node.Node;
import io.lightmq.node.NodeSettings;
import io.lightmq.node.Transport;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.node.security.UserStore;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A listener that takes its whole process with it, in processes of its own. */
class HaltedListenerTest {
  private static final int MIB = 1 << 20;
  private static final int MESSAGES = 1_000;
  private static final int MAX_ATTEMPTS = 3;
  private static final int HALTED = 17;
  private static final int WAIT_MILLIS = 30_000;

  @TempDir Path directory;

  private Node node;

  /** The process: its listener halts at the message "bad"; the arguments are URI and mode. */
  static final class Halting {
    private Halting() {}

    public static void main(String[] arguments) throws Exception {
      JMSContext context =
          new LightmqConnectionFactory(arguments[0]).createContext(Integer.parseInt(arguments[1]));
      JMSConsumer consumer = context.createConsumer(context.createQueue("poisoned"));
      consumer.setMessageListener(
          message -> {
            try {
              if (message.getBody(String.class).equals("bad")) {
                Runtime.getRuntime().halt(HALTED);
              }
            } catch (JMSException e) {
              Runtime.getRuntime().halt(1);
            }
          });
      Thread.sleep(WAIT_MILLIS);
    }
  }

  @BeforeEach
  void start() throws Exception {
    NodeSettings otherwise = NodeSettings.defaults();
    BrokerSettings broker = otherwise.broker();
    BrokerSettings small =
        new BrokerSettings(
            DestinationSettings.DEFAULT.with(
                Map.of("max-attempts", Integer.toString(MAX_ATTEMPTS))),
            true,
            List.of(),
            16 * MIB,
            16L * MIB,
            64L * MIB,
            JournalSettings.small(8 * MIB),
            broker.segments(),
            0,
            broker.maxMessageBytes(),
            broker.maxTransactionBytes(),
            80,
            0,
            0,
            broker.namedBytes(),
            0); // a process that has halted does not come back
    UserStore users = UserStore.open(directory, true, false);
    node =
        Node.start(
            new NodeSettings(small, otherwise.connections(), 16 * MIB, MIB, 8 * MIB, 8 * MIB),
            new MemoryDisk(256L * MIB),
            new ThreadLoops((loop, cause) -> cause.printStackTrace()),
            new Security(users, new RoleAuthorizer(), users.unknownUserKey()),
            new Transport(
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()),
                NioServerSocketChannel.class,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                true));
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
  }

  private String uri() {
    InetSocketAddress address = (InetSocketAddress) node.addresses().get(0);
    return "lightmq://127.0.0.1:" + address.getPort();
  }

  private int run(int mode) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Halting.class.getName(),
                uri(),
                Integer.toString(mode))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(process.waitFor(2L * WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }

  private void sendAll() {
    try (JMSContext context = new LightmqConnectionFactory(uri()).createContext()) {
      context.createProducer().send(context.createQueue("poisoned"), "bad");
      for (int i = 1; i < MESSAGES; i++) {
        context
            .createProducer()
            .setAsync(new Ignoring())
            .send(context.createQueue("poisoned"), "good " + i);
      }
    }
  }

  private static final class Ignoring implements jakarta.jms.CompletionListener {
    @Override
    public void onCompletion(Message message) {}

    @Override
    public void onException(Message message, Exception exception) {
      throw new AssertionError(exception);
    }
  }

  private void afterAllAttemptsItIsADeadLetterAndNoNeighbourIsNearer(int mode) throws Exception {
    sendAll();
    for (int process = 1; process <= MAX_ATTEMPTS; process++) {
      assertThat(run(mode)).as("exit code of process " + process).isEqualTo(HALTED);
    }
    try (JMSContext context =
        new LightmqConnectionFactory(uri()).createContext(Session.SESSION_TRANSACTED)) {
      JMSConsumer dead = context.createConsumer(context.createQueue("DLQ"));
      Message letter = dead.receive(WAIT_MILLIS);
      assertThat(letter.getBody(String.class)).isEqualTo("bad");
      assertThat(letter.getIntProperty("JMS_LightMQ_Attempts")).isEqualTo(MAX_ATTEMPTS);
      context.commit();
      assertThat(dead.receiveNoWait()).isNull();
      JMSConsumer rest = context.createConsumer(context.createQueue("poisoned"));
      // A neighbour has all its attempts before it.
      for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        assertThat(rest.receive(WAIT_MILLIS).getBody(String.class)).isEqualTo("good 1");
        context.rollback();
      }
      for (int i = 2; i < MESSAGES; i++) {
        assertThat(rest.receive(WAIT_MILLIS).getBody(String.class)).isEqualTo("good " + i);
      }
      context.commit();
      assertThat(dead.receive(WAIT_MILLIS).getBody(String.class)).isEqualTo("good 1");
      assertThat(dead.receiveNoWait()).isNull();
      context.commit();
    }
  }

  @Test
  void aListenerThatHaltsItsMachineInModeAuto() throws Exception {
    afterAllAttemptsItIsADeadLetterAndNoNeighbourIsNearer(Session.AUTO_ACKNOWLEDGE);
  }

  @Test
  void aListenerThatHaltsItsMachineInATransaction() throws Exception {
    afterAllAttemptsItIsADeadLetterAndNoNeighbourIsNearer(Session.SESSION_TRANSACTED);
  }
}
