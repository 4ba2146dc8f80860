package io.lightmq.samples;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

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
    String[] given =
        Usage.of("usage: EmbeddedBroker [DIR]   runs a broker inside, with its data in DIR", 0)
            .check(arguments);
    if (given.length > 0) {
      sendAndFind(Path.of(given[0]));
      return;
    }
    Path directory = Files.createTempDirectory("lightmq-sample-");
    try {
      sendAndFind(directory);
    } finally {
      delete(directory);
    }
  }

  private static void sendAndFind(Path directory) {
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

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
