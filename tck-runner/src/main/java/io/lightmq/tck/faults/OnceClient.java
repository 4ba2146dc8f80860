package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqJms;
import io.lightmq.samples.Usage;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A consumer process that gets each message at most once, in the three ways in which that can be
 * asked for: {@code semantics=at-most-once} with a session in mode AUTO (a listener) and in mode
 * DUPS_OK, and a session in mode NO_ACKNOWLEDGE of an ordinary connection. It writes down what it
 * processes. Arguments: URI, folder.
 */
public final class OnceClient {
  private static final long RECEIVE_MILLIS = 1_000;
  private static final String SEMANTICS = "semantics=at-most-once";

  private OnceClient() {}

  /** A way to consume, which has a queue of its own. */
  enum Way {
    AUTO(Session.AUTO_ACKNOWLEDGE),
    DUPS_OK(Session.DUPS_OK_ACKNOWLEDGE),
    NO_ACKNOWLEDGE(LightmqJms.NO_ACKNOWLEDGE);

    private final int mode;

    Way(int mode) {
      this.mode = mode;
    }

    String queue() {
      return "once." + this;
    }

    Path file(Path folder) {
      return folder.resolve(queue() + ".processed");
    }
  }

  public static void main(String[] arguments)
      throws JMSException, IOException, InterruptedException {
    Usage.of("usage: OnceClient URI FOLDER   consumes at most once, with a log in FOLDER", 2)
        .check(arguments);
    String uri = arguments[0];
    Path folder = Path.of(arguments[1]);
    String once = uri + (uri.contains("?") ? "&" : "?") + SEMANTICS;
    List<Thread> threads = new java.util.ArrayList<>();
    for (Way way : Way.values()) {
      Connection connection =
          new LightmqConnectionFactory(way == Way.NO_ACKNOWLEDGE ? uri : once).createConnection();
      Session session = connection.createSession(false, way.mode);
      MessageConsumer consumer = session.createConsumer(session.createQueue(way.queue()));
      OnceLog log = new OnceLog(way.file(folder));
      if (way == Way.AUTO) {
        consumer.setMessageListener(message -> process(message, log));
      } else {
        Thread thread = new Thread(() -> receive(consumer, log), "once-" + way);
        threads.add(thread);
        thread.start();
      }
      connection.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void receive(MessageConsumer consumer, OnceLog log) {
    while (true) {
      try {
        Message message = consumer.receive(RECEIVE_MILLIS);
        if (message != null) {
          process(message, log);
        }
      } catch (JMSException e) {
        System.err.println("once: " + e);
      }
    }
  }

  private static void process(Message message, OnceLog log) {
    try {
      BytesMessage bytes = (BytesMessage) message;
      byte[] body = new byte[Math.toIntExact(bytes.getBodyLength())];
      bytes.readBytes(body);
      Stamp stamp = Payload.read(body);
      log.processed(stamp == null ? new Stamp(-1, body.length) : stamp);
    } catch (JMSException | IOException e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }
}
