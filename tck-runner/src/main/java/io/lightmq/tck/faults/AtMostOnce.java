package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Consumers that asked for each message at most once, while they and the broker are killed, or the
 * broker's file system loses its power: faults lose messages, but none is processed twice. What is
 * lost was on its way to a consumer, so there is a limit to it.
 */
final class AtMostOnce {
  private static final int IN_FLIGHT = 100;
  private static final int MIN_PROCESSED = 200;
  private static final int LOAD_MILLIS = 400;
  private static final long LOOK_MILLIS = 10;
  private static final long LIMIT_MILLIS = 60_000;
  private static final long SILENCE_MILLIS = 3_000;
  private static final long AFTERMATH_MILLIS = 100;
  private static final int MOST_TOLD = 5;

  /** Senders rest when consumers are so far behind, or the last drain would have no end. */
  private static final int MOST_AHEAD = 30_000;

  /** What waits in a client's consumer, and the next batch, which is on its way meanwhile. */
  private static final int ON_THE_WAY = 2 * 1_000;

  private final BrokerSetup setup;
  private final EventLog events;
  private final Random random;
  private final @Nullable LoopDisk disk;
  private final Gate gate = new Gate();
  private final Map<OnceClient.Way, SendLog> sends = new LinkedHashMap<>();
  private final List<Worker> senders = new ArrayList<>();
  private final Findings findings = new Findings();
  private int brokerFaults;
  private int clientKills;

  /**
   * See {@link #run}.
   *
   * @param disk the file system that loses its power, null for kills of broker and client
   */
  AtMostOnce(BrokerSetup setup, EventLog events, @Nullable LoopDisk disk, long seed) {
    this.setup = setup;
    this.events = events;
    this.disk = disk;
    this.random = new Random(seed);
  }

  /** Runs so many faults, or until a promise is broken. */
  Verdict run(int rounds) throws HarnessException, IOException, InterruptedException, JMSException {
    BrokerProcess broker = BrokerProcess.start(setup);
    Process client = startClient();
    int done = 0;
    try {
      startSenders();
      for (int round = 1; round <= rounds && findings.broken() == 0; round++) {
        awaitProcessed(processed() + MIN_PROCESSED, client);
        Thread.sleep(random.nextInt(LOAD_MILLIS));
        if (disk == null && round % 2 == 0) {
          client.destroyForcibly().waitFor();
          clientKills++;
          client = startClient();
        } else {
          broker = broken(broker);
        }
        awaitProcessed(processed() + 1, client);
        tell(round);
        done = round;
      }
      drain(client);
    } finally {
      gate.end();
      client.destroyForcibly().waitFor();
      for (Worker sender : senders) {
        sender.close();
      }
      broker.kill();
    }
    long confirmed = sends.values().stream().mapToLong(SendLog::confirmedCount).sum();
    return findings.verdict(done, brokerFaults + clientKills, confirmed);
  }

  @SuppressWarnings("EnumOrdinal") // any number of its own will do
  private void startSenders() throws JMSException {
    ConnectionFactory factory = new LightmqConnectionFactory(setup.uri());
    for (OnceClient.Way way : OnceClient.Way.values()) {
      SendLog log = new SendLog(1 + way.ordinal(), way.queue(), 1);
      sends.put(way, log);
      senders.add(new Producers.Asynchronous(factory, IN_FLIGHT, log, gate, events));
    }
    gate.open();
    senders.forEach(Thread::start);
  }

  private Process startClient() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
            "-cp",
            System.getProperty("java.class.path"),
            OnceClient.class.getName(),
            setup.uri(),
            setup.work().toString())
        .redirectErrorStream(true)
        .redirectOutput(
            ProcessBuilder.Redirect.appendTo(setup.work().resolve("client.log").toFile()))
        .start();
  }

  /** Takes the broker down and starts it again. */
  private BrokerProcess broken(BrokerProcess broker)
      throws HarnessException, IOException, InterruptedException {
    if (!broker.isAlive()) {
      throw new HarnessException("the broker died before the fault:\n" + broker.tail());
    }
    brokerFaults++;
    if (disk == null) {
      broker.kill();
    } else {
      disk.cutPower(random.nextInt(4) == 0);
      Thread.sleep(AFTERMATH_MILLIS);
      broker.kill();
      disk.unmount();
      disk.mount();
    }
    return BrokerProcess.start(setup);
  }

  /** All three queues have to get on, so that a fault meets each of them at work. */
  private long processed() throws IOException {
    long least = Long.MAX_VALUE;
    for (OnceClient.Way way : OnceClient.Way.values()) {
      least = Math.min(least, OnceLog.count(way.file(setup.work())));
    }
    return least;
  }

  private void awaitProcessed(long wanted, Process client)
      throws HarnessException, IOException, InterruptedException {
    long deadline = System.nanoTime() + LIMIT_MILLIS * 1_000_000;
    while (processed() < wanted) {
      if (System.nanoTime() > deadline || !client.isAlive()) {
        throw new HarnessException(
            "a queue got no further than %,d of %,d messages in %d s; the client %s"
                .formatted(
                    processed(),
                    wanted,
                    LIMIT_MILLIS / 1000,
                    client.isAlive() ? "lives" : "is dead, see client.log"));
      }
      pace();
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private void pace() throws IOException {
    long ahead = -(long) (brokerFaults + clientKills) * ON_THE_WAY * sends.size();
    for (Map.Entry<OnceClient.Way, SendLog> each : sends.entrySet()) {
      ahead += each.getValue().confirmedCount();
      ahead -= OnceLog.count(each.getKey().file(setup.work()));
    }
    if (ahead > MOST_AHEAD) {
      gate.shut();
    } else {
      gate.open();
    }
  }

  private void tell(int round) throws IOException {
    long processed = 0;
    for (Map.Entry<OnceClient.Way, SendLog> each : sends.entrySet()) {
      OnceLog.Result result = OnceLog.check(each.getKey().file(setup.work()), each.getValue());
      processed += result.processed();
      result.violations().stream()
          .limit(MOST_TOLD)
          .forEach(text -> findings.require(false, "%s", text));
    }
    System.out.printf(
        "round %3d: broker down %d times, client %d times  processed %,9d  broken %d%n",
        round, brokerFaults, clientKills, processed, findings.broken());
  }

  /** Stops the senders, lets the consumers take the rest and counts. */
  private void drain(Process client) throws HarnessException, IOException, InterruptedException {
    gate.shut();
    long deadline = System.nanoTime() + LIMIT_MILLIS * 1_000_000;
    while (backlog() > 0 || sends.values().stream().anyMatch(log -> log.open() > 0)) {
      if (System.nanoTime() > deadline || !client.isAlive()) {
        throw new HarnessException("%,d messages are left in the queues".formatted(backlog()));
      }
      Thread.sleep(LOOK_MILLIS);
    }
    Thread.sleep(SILENCE_MILLIS);
    int faults = brokerFaults + clientKills;
    for (Map.Entry<OnceClient.Way, SendLog> each : sends.entrySet()) {
      OnceLog.Result result = OnceLog.check(each.getKey().file(setup.work()), each.getValue());
      findings.require(
          result.violations().isEmpty(),
          "%s: %,d processed, none of them twice%s",
          each.getKey(),
          result.processed(),
          result.violations().isEmpty() ? "" : ": " + result.violations().size() + " violations");
      findings.require(
          result.missing() <= faults * ON_THE_WAY,
          "%s: %,d of %,d confirmed were lost in %d faults, at most %,d may be",
          each.getKey(),
          result.missing(),
          each.getValue().confirmedCount(),
          faults,
          faults * ON_THE_WAY);
    }
  }

  /** The broker counts once a second. */
  private long backlog() throws IOException, InterruptedException {
    Thread.sleep(1_500);
    return (long) BrokerMetrics.of(setup).sum("lightmq_backlog_messages", "destination=\"once.");
  }
}
