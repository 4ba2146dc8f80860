package io.lightmq.tck.hostile;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process of real clients beside a {@link HostileBroker}: each call ends within its time with a
 * result or a JMSException, and after the last close no thread of a client is left. The process
 * itself has little memory and ends when that is not enough.
 *
 * <p>Its lines: {@code FINDING text}, at the end {@code DONE frames clients refused}.
 */
public final class HostileTrial {
  /** Begins the line of something that a client must not do. */
  public static final String FINDING = "FINDING ";

  /** Begins the last line, with the frames that were sent and the clients that took them. */
  public static final String DONE = "DONE ";

  private static final int PARALLEL = 16;
  private static final long CALL_NANOS = 15_000_000_000L;
  private static final long HANG_MILLIS = 60_000;
  private static final long THREADS_MILLIS = 15_000;
  private static final int MAX_FINDINGS = 10;

  private final HostileBroker broker;
  private final ConcurrentLinkedQueue<String> findings = new ConcurrentLinkedQueue<>();
  private final AtomicLong clients = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  private HostileTrial(HostileBroker broker) {
    this.broker = broker;
  }

  /** Arguments: the recording's file, frames, seconds at most, seed. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Usage.of("usage: HostileTrial RECORDING FRAMES SECONDS SEED   one of the fuzz job", 4)
        .check(arguments);
    Locale.setDefault(Locale.ROOT);
    Recording recording = Recording.read(Path.of(arguments[0]));
    long frames = Long.parseLong(arguments[1]);
    long untilNanos = System.nanoTime() + Long.parseLong(arguments[2]) * 1_000_000_000L;
    try (HostileBroker broker = new HostileBroker(recording, Long.parseLong(arguments[3]))) {
      HostileTrial trial = new HostileTrial(broker);
      trial.run(frames, untilNanos);
      trial.findings.stream().limit(MAX_FINDINGS).forEach(text -> print(FINDING + text));
      print(DONE + broker.frames() + " " + trial.clients + " " + trial.refused);
    }
    System.out.flush();
    // A thread that was left is a finding already, and would keep the process.
    System.exit(0);
  }

  private static void print(String line) {
    System.out.println(line.replace('\n', '|').replace('\r', '|'));
  }

  private void run(long frames, long untilNanos) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < PARALLEL; i++) {
      Thread thread =
          new Thread(
              () -> {
                while (broker.frames() < frames
                    && System.nanoTime() < untilNanos
                    && findings.size() < MAX_FINDINGS) {
                  client();
                }
              },
              "trial-" + i);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
    long latest = untilNanos + HANG_MILLIS * 1_000_000;
    for (Thread thread : threads) {
      thread.join(Math.max(1, (latest - System.nanoTime()) / 1_000_000));
      if (thread.isAlive()) {
        findings.add("a call hangs: " + List.of(thread.getStackTrace()));
      }
    }
    leftThreads();
  }

  private void leftThreads() throws InterruptedException {
    long latest = System.nanoTime() + THREADS_MILLIS * 1_000_000;
    List<Thread> left = clientThreads();
    while (!left.isEmpty() && System.nanoTime() < latest) {
      Thread.sleep(100);
      left = clientThreads();
    }
    if (!left.isEmpty()) {
      findings.add(
          "%d threads of clients are left, the first is %s %s"
              .formatted(left.size(), left.get(0).getName(), List.of(left.get(0).getStackTrace())));
    }
  }

  private static List<Thread> clientThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("lightmq"))
        .toList();
  }

  /** One connection with some of everything. */
  private void client() {
    boolean failover = clients.incrementAndGet() % 4 == 0;
    String uri =
        "lightmq://127.0.0.1:"
            + broker.port()
            + "?connectTimeoutMillis=700&requestTimeoutMillis=300&sendTimeoutMillis=300"
            + "&reconnectDelayMillis=10&maxReconnectDelayMillis=20&reconnectAttempts=2&failover="
            + failover;
    Connection[] opened = new Connection[1];
    call("connect", () -> opened[0] = new LightmqConnectionFactory(uri).createConnection());
    Connection connection = opened[0];
    if (connection == null) {
      return;
    }
    call("start", connection::start);
    call("auto", () -> auto(connection));
    call("transacted", () -> transacted(connection));
    call("close", connection::close);
  }

  private void auto(Connection connection) throws JMSException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    Queue queue = session.createQueue("queue");
    for (int i = 0; i < 3; i++) {
      call("send", () -> session.createProducer(queue).send(session.createTextMessage("a")));
    }
    call(
        "receive",
        () -> {
          MessageConsumer consumer = session.createConsumer(queue);
          read(consumer.receive(20));
          read(consumer.receiveNoWait());
          consumer.close();
        });
    call(
        "browse",
        () -> {
          try (QueueBrowser browser = session.createBrowser(queue)) {
            var messages = browser.getEnumeration();
            for (int i = 0; i < 5 && messages.hasMoreElements(); i++) {
              read((Message) messages.nextElement());
            }
          }
        });
    call("temporary", () -> session.createTemporaryQueue().delete());
    call("durable", () -> session.createDurableConsumer(session.createTopic("t"), "d").receive(20));
    call("close of a session", session::close);
  }

  private void transacted(Connection connection) throws JMSException {
    Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
    session.createConsumer(session.createQueue("listened")).setMessageListener(message -> {});
    call(
        "commit",
        () -> {
          session.createProducer(session.createQueue("q")).send(session.createTextMessage("a"));
          session.commit();
        });
    call("rollback", session::rollback);
  }

  /** All that a receiver may look at; what cannot be read is a JMSException. */
  private static void read(Message message) throws JMSException {
    if (message != null) {
      message.getJMSReplyTo();
      message.getJMSDestination();
      message.getJMSCorrelationID();
      message.getJMSType();
      var names = message.getPropertyNames();
      while (names.hasMoreElements()) {
        message.getObjectProperty((String) names.nextElement());
      }
      if (message.isBodyAssignableTo(String.class)) {
        message.getBody(String.class);
      }
    }
  }

  /** What a client does. */
  private interface Step {
    void run() throws JMSException;
  }

  private void call(String name, Step step) {
    long beganNanos = System.nanoTime();
    try {
      step.run();
    } catch (JMSException | JMSRuntimeException e) {
      refused.incrementAndGet();
    } catch (RuntimeException | Error e) {
      findings.add(name + " ended with " + e + " " + List.of(e.getStackTrace()).subList(0, 1));
    }
    long tookNanos = System.nanoTime() - beganNanos;
    if (tookNanos > CALL_NANOS) {
      findings.add("%s took %,d ms".formatted(name, tookNanos / 1_000_000));
    }
  }
}
