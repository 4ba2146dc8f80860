package io.lightmq.samples;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs a broker inside the application: the first connection starts it, the last one stops it.
 *
 * <p>With {@code lightmq:file:DIRECTORY} its messages outlive the process; {@code lightmq:mem}
 * keeps them in memory, for tests.
 */
final class EmbeddedBroker {

  private static final long WAIT_MILLIS = 5_000;

  private EmbeddedBroker() {}

  public static void main(String[] arguments) throws IOException {
    Path directory =
        arguments.length > 0 ? Path.of(arguments[0]) : Files.createTempDirectory("lightmq-sample-");
    var factory = new LightmqConnectionFactory("lightmq:file:" + directory.toAbsolutePath());
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("notes");
      context.createProducer().send(queue, "remember the milk");
    }
    System.out.println("the broker in " + directory + " has stopped; opening it again");
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("notes");
      String note = context.createConsumer(queue).receiveBody(String.class, WAIT_MILLIS);
      System.out.println("found: " + note);
    }
  }
}
