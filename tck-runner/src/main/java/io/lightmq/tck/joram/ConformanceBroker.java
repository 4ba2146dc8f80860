package io.lightmq.tck.joram;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.server.admin.DestinationCommand;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;

/** The broker of one conformance run: a process of its own, or one inside this Java machine. */
sealed interface ConformanceBroker extends AutoCloseable {

  /** What clients connect to. */
  String uri();

  /** Takes the queue and all its messages away. */
  void deleteQueue(String name) throws IOException;

  /** Takes the topic and its subscriptions away. */
  void deleteTopic(String name) throws IOException;

  @Override
  void close();

  /** A broker process over TCP; destinations are deleted by its admin command. */
  static ConformanceBroker process(Path work) throws IOException, InterruptedException {
    BrokerProcess process = BrokerProcess.start(BrokerSetup.in(work));
    Path passwordFile = work.resolve("admin-password");
    Files.writeString(passwordFile, process.adminPassword());
    return new OwnProcess(process, passwordFile);
  }

  /** A broker in this Java machine that keeps everything in memory until this one is closed. */
  static ConformanceBroker inMemory() {
    String uri = "lightmq:mem:joram";
    return new InMemory(uri, new LightmqConnectionFactory(uri).createContext());
  }

  /**
   * See {@link #process}.
   *
   * @param process the broker
   * @param passwordFile holds the password of the user admin
   */
  record OwnProcess(BrokerProcess process, Path passwordFile) implements ConformanceBroker {

    @Override
    public String uri() {
      return process.setup().uri();
    }

    @Override
    public void deleteQueue(String name) throws IOException {
      delete("queue", name);
    }

    @Override
    public void deleteTopic(String name) throws IOException {
      delete("topic", name);
    }

    /** The admin command {@code lightmq destination delete}, without a process for each. */
    private void delete(String kind, String name) throws IOException {
      StringWriter words = new StringWriter();
      int code =
          new CommandLine(new DestinationCommand())
              .setCaseInsensitiveEnumValuesAllowed(true)
              .setOut(new PrintWriter(words))
              .setErr(new PrintWriter(words))
              .execute(
                  "delete",
                  kind,
                  name,
                  "--port",
                  String.valueOf(process.setup().port()),
                  "--password-file",
                  passwordFile.toString());
      boolean absent = words.toString().startsWith(FaultCode.INVALID_DESTINATION.name());
      if (code != 0 && !absent) {
        throw new IOException(
            "deleting %s %s ended with %d: %s".formatted(kind, name, code, words));
      }
    }

    @Override
    public void close() {
      process.close();
    }
  }

  /**
   * See {@link #inMemory}. An embedded broker has no admin door, so a queue is emptied instead.
   *
   * @param uri what clients connect to
   * @param keeper the connection that keeps the broker up
   */
  record InMemory(String uri, JMSContext keeper) implements ConformanceBroker {

    @Override
    public void deleteQueue(String name) {
      try (JMSContext context = keeper.createContext(JMSContext.AUTO_ACKNOWLEDGE);
          JMSConsumer consumer = context.createConsumer(context.createQueue(name))) {
        while (consumer.receiveNoWait() != null) {
          // Each received message is gone.
        }
      }
    }

    @Override
    public void deleteTopic(String name) {
      // Plain subscriptions end with their connection; the suite unsubscribes its durable ones.
    }

    @Override
    public void close() {
      keeper.close();
    }
  }
}
