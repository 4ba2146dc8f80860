package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.tck.SmallNode;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A listener that takes its whole process with it, in processes of its own. */
class HaltedListenerTest {
  private static final int MESSAGES = 1_000;
  private static final int MAX_ATTEMPTS = 3;
  private static final int HALTED = 17;
  private static final int WAIT_MILLIS = 30_000;

  @TempDir Path directory;

  private SmallNode node;

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
    node =
        SmallNode.start(
            directory,
            """
            [destinations]
            max-attempts = %d
            [limits]
            temporary-grace-millis = 0
            """
                .formatted(MAX_ATTEMPTS)); // without grace: a halted process does not come back
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
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
                node.uri(),
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
    try (JMSContext context = new LightmqConnectionFactory(node.uri()).createContext()) {
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
        new LightmqConnectionFactory(node.uri()).createContext(Session.SESSION_TRANSACTED)) {
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
