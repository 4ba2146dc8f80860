package io.lightmq.samples.broker;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.Message;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kills a broker again and again under an application of somebody's framework, which moves numbers
 * from the queue {@value #IN} to the queue {@value #OUT} in transactions, and counts what came of
 * them: each number has to be there once, and no send may have failed.
 */
public final class Restarts {
  /** Where the application sends to, and consumes. */
  public static final String IN = "restarts.in";

  /** Where it moves to what it has consumed. */
  public static final String OUT = "restarts.out";

  /** The property that has the number. */
  public static final String NUMBER = "number";

  /** A broker that starts beside other work may take longer than the 30 s that a send waits. */
  private static final String PATIENCE = "requestTimeoutMillis=120000";

  private static final int SENDERS = 2;
  private static final long PAUSE_MILLIS = 10;
  private static final int WORK = 20;
  private static final int MOST_APART_MILLIS = 1_500;
  private static final long LIMIT_SECONDS = 90;

  /** The application. Its consumers run from its start to its close. */
  public interface Application extends AutoCloseable {
    /** Sends a number to {@value #IN}, on any thread. */
    void send(int number) throws Exception;

    /** What there is to tell in the end. */
    String story();
  }

  /** Starts the application. */
  public interface Starter {
    Application start(String uri) throws Exception;
  }

  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicBoolean over = new AtomicBoolean();

  private Restarts() {}

  /** Runs an application over so many restarts; exits with 0 if nothing was lost or doubled. */
  public static void main(String[] arguments, Starter starter) throws Exception {
    int restarts = arguments.length == 0 ? 20 : Integer.parseInt(arguments[0]);
    System.exit(new Restarts().run(restarts, starter) ? 0 : 1);
  }

  private boolean run(int restarts, Starter starter) throws Exception {
    BrokerSetup setup = BrokerSetup.in(Files.createTempDirectory("lightmq-restarts-"));
    System.out.println("logs are in " + setup.work());
    BrokerProcess broker = BrokerProcess.start(setup);
    Random random = new Random();
    try (Application application = starter.start(setup.uri(PATIENCE))) {
      List<Thread> senders = new ArrayList<>();
      for (int i = 0; i < SENDERS; i++) {
        Thread sender = new Thread(() -> send(application), "restarts-sender-" + i);
        sender.start();
        senders.add(sender);
      }
      try {
        for (int restart = 1; restart <= restarts; restart++) {
          awaitWork();
          Thread.sleep(random.nextInt(MOST_APART_MILLIS));
          broker.kill();
          broker = BrokerProcess.start(setup);
          System.out.printf(
              "restart %d: %,d sent, %,d failed%n", restart, sent.get(), failed.get());
        }
        Thread.sleep(MOST_APART_MILLIS);
      } finally {
        over.set(true);
      }
      for (Thread sender : senders) {
        sender.join();
      }
      boolean well = count(setup, restarts);
      System.out.println(application.story());
      return well;
    } finally {
      broker.kill();
    }
  }

  /** A broker that is killed before anybody reaches it is one long outage, not a restart. */
  private void awaitWork() throws InterruptedException {
    int wanted = sent.get() + WORK;
    long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (sent.get() < wanted && System.nanoTime() - limitNanos < 0) {
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  private void send(Application application) {
    try {
      while (!over.get()) {
        try {
          application.send(sent.incrementAndGet());
        } catch (Exception e) {
          failed.incrementAndGet();
          System.out.println("a send failed: " + e);
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean count(BrokerSetup setup, int restarts) {
    BitSet seen = new BitSet();
    int twice = 0;
    long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    try (JMSContext context = new LightmqConnectionFactory(setup.uri()).createContext();
        JMSConsumer consumer = context.createConsumer(context.createQueue(OUT))) {
      while (System.nanoTime() - limitNanos < 0) {
        Message message = consumer.receive(1_000);
        if (message == null && seen.cardinality() >= sent.get()) {
          break; // and nothing comes behind it
        }
        if (message != null) {
          int number = message.getIntProperty(NUMBER);
          twice += seen.get(number) ? 1 : 0;
          seen.set(number);
        }
      }
    } catch (jakarta.jms.JMSException e) {
      throw new IllegalStateException("the outputs cannot be counted", e);
    }
    int lost = sent.get() - seen.cardinality();
    System.out.printf(
        "restarts %d, sent %d, failed sends %d, lost %d, twice %d%n",
        restarts, sent.get(), failed.get(), lost, twice);
    return lost == 0 && twice == 0 && failed.get() == 0;
  }
}
