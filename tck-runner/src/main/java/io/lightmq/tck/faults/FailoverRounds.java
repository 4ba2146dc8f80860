package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnection;
import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Four transacted consumers that take inputs and send outputs, fed by sources that send again what
 * they know nothing of, while the broker is killed three times a round and connections are cut
 * once: silent in both directions, in one of them, or reset. Each input has one output, in order
 * for each key, without a line of code for it in the application.
 */
final class FailoverRounds {
  static final String IN = "failover.in";
  static final String OUT = "failover.out";

  private static final int STAGES = 4;
  private static final int SOURCES = 4;
  private static final int KEYS_OF_A_SOURCE = 16;
  private static final int KILLS_OF_A_ROUND = 3;
  private static final int HEARTBEAT_MILLIS = 1_000;
  private static final long PAUSE_MILLIS = 8;
  private static final long PROGRESS = 40;
  private static final long CALM_LIMIT_MILLIS = 90_000;
  private static final long LOOK_MILLIS = 20;
  private static final long SILENCE_MILLIS = 400;

  /** Every second client gives up early, so that it does not know what became of its request. */
  private static final String HASTY = "&requestTimeoutMillis=2000&sendTimeoutMillis=2000";

  /** What is done to connections, in turn. */
  private enum Cut {
    BOTH_SILENT,
    TO_BROKER_SILENT,
    TO_CLIENT_SILENT,
    RESET;

    String text() {
      return "cut, " + name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
  }

  private final BrokerSetup setup;
  private final Lines lines;
  private final Random random;
  private final FailoverLedger ledger = new FailoverLedger(SOURCES * KEYS_OF_A_SOURCE);
  private final FailoverTimes times = new FailoverTimes();
  private final List<LightmqConnection> connections = new ArrayList<>();
  private final List<FailoverSource> sources = new ArrayList<>();
  private final List<FailoverStage> stages = new ArrayList<>();
  private BrokerProcess broker;
  private int kills;
  private int cuts;
  private long startMillis;

  private FailoverRounds(BrokerSetup setup, Lines lines, BrokerProcess broker, long seed) {
    this.setup = setup;
    this.lines = lines;
    this.broker = broker;
    this.random = new Random(seed);
  }

  /** In a network of its own where the machine permits one. */
  static Verdict run(Call call)
      throws HarnessException, IOException, JMSException, InterruptedException {
    int rounds = call.number(0, 10);
    long seed = call.seed(1);
    if (!OwnNetwork.isInside() && OwnNetwork.isPossible()) {
      return OwnNetwork.run(List.of("--failover", Integer.toString(rounds), Long.toString(seed)));
    }
    List<Integer> ports = new ArrayList<>();
    for (int line = 0; line < STAGES + SOURCES; line++) {
      ports.add(BrokerSetup.freePort());
    }
    BrokerSetup setup = call.setup().withConfiguration(configuration(ports));
    BrokerProcess broker = BrokerProcess.start(setup);
    try (Lines lines =
        OwnNetwork.isInside()
            ? new FilteredLines(ports)
            : new RelayedLines(ports.size(), setup.port())) {
      System.out.println("lines: " + lines.kind());
      FailoverRounds all = new FailoverRounds(setup, lines, broker, seed);
      try {
        return all.run(rounds);
      } finally {
        all.broker.kill();
        all.times.close();
      }
    }
  }

  private static String configuration(List<Integer> ports) {
    return """
    further = [%s]

    [limits]
    heartbeat-millis = %d

    [destination."%s"]
    suppress-duplicates = "property:%s"
    """
        .formatted(
            ports.stream()
                .map(port -> "\"127.0.0.1:" + port + '"')
                .collect(Collectors.joining(", ")),
            HEARTBEAT_MILLIS,
            IN,
            FailoverSource.INPUT);
  }

  private Verdict run(int rounds)
      throws HarnessException, IOException, JMSException, InterruptedException {
    for (int line = 0; line < STAGES; line++) {
      stages.add(new FailoverStage(connect(line), times, line >= STAGES / 2));
    }
    for (int i = 0; i < SOURCES; i++) {
      boolean asynchronous = i >= SOURCES / 2;
      sources.add(
          new FailoverSource(
              connect(STAGES + i),
              ledger,
              i * KEYS_OF_A_SOURCE,
              KEYS_OF_A_SOURCE,
              asynchronous,
              PAUSE_MILLIS));
    }
    stages.forEach(FailoverStage::start);
    sources.forEach(FailoverSource::start);
    progress("the start");
    int round = 0;
    while (round < rounds && ledger.brokenCount() == 0) {
      round++;
      for (int kill = 0; kill < KILLS_OF_A_ROUND && ledger.brokenCount() == 0; kill++) {
        kill();
      }
      cut(Cut.values()[(round - 1) % Cut.values().length]);
      times.during("calm");
      drain();
      System.out.printf(
          "round %d: %,d inputs confirmed, %,d outputs, %d kills, %d cuts%n",
          round, ledger.confirmed(), ledger.outputs(), kills, cuts);
    }
    finish();
    return new Verdict(round, kills + cuts, ledger.confirmed(), ledger.brokenCount());
  }

  private LightmqConnection connect(int line) throws JMSException {
    LightmqConnection connection =
        (LightmqConnection)
            new LightmqConnectionFactory(
                    "lightmq://127.0.0.1:"
                        + lines.port(line)
                        + "?initialReconnectDelay=20&maxReconnectDelay=300"
                        + "&connectTimeoutMillis=2000&initialReconnectAttempts=20&prefetchMessages=20"
                        + (line % 2 == 0 ? HASTY : ""))
                .createConnection();
    connections.add(connection);
    times.watch(connection);
    connection.start();
    return connection;
  }

  // ---- faults ----

  private void kill() throws HarnessException, IOException, InterruptedException {
    Thread.sleep(random.nextInt(1_000));
    times.during("kill");
    broker.kill();
    kills++;
    Thread.sleep(random.nextInt(3) == 0 ? random.nextInt(3_000) : 0);
    broker = BrokerProcess.start(setup);
    startMillis += broker.startMillis();
    progress("kill " + kills);
  }

  private void cut(Cut kind) throws HarnessException, InterruptedException {
    Thread.sleep(random.nextInt(1_000));
    times.during(kind.text());
    List<Integer> chosen = new ArrayList<>();
    for (int line = 0; line < connections.size(); line++) {
      if (random.nextBoolean()) {
        chosen.add(line);
      }
    }
    if (chosen.isEmpty()) {
      chosen.add(random.nextInt(connections.size()));
    }
    for (int line : chosen) {
      if (kind == Cut.RESET) {
        lines.reset(line);
      } else {
        lines.silence(line, kind != Cut.TO_CLIENT_SILENT, kind != Cut.TO_BROKER_SILENT);
      }
    }
    // Up to three heartbeats neither side notices; beyond, first one of them does, then both.
    Thread.sleep(300 + random.nextInt(6 * HEARTBEAT_MILLIS));
    boolean hit = false;
    for (int line : chosen) {
      hit |= lines.heal(line);
    }
    cuts += hit ? 1 : 0;
    progress(kind.text());
  }

  /** Everything goes on soon: all are connected, and transactions are committed. */
  private void progress(String behind) throws InterruptedException {
    long wanted = times.commits() + PROGRESS;
    long limitNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CALM_LIMIT_MILLIS);
    while (times.commits() < wanted || !times.allAreReady()) {
      if (System.nanoTime() - limitNanos > 0) {
        ledger.broken(
            "behind %s only %d of %d transactions in %,d s; not connected: %s",
            behind,
            PROGRESS - (wanted - times.commits()),
            PROGRESS,
            CALM_LIMIT_MILLIS / 1_000,
            times.notReady());
        return;
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  // ---- looking ----

  /** Takes the outputs that are there, while nothing is broken. */
  private void drain() throws JMSException {
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection();
        Session session = connection.createSession(Session.SESSION_TRANSACTED);
        MessageConsumer consumer = session.createConsumer(session.createQueue(OUT))) {
      connection.start();
      long most = ledger.confirmed() - ledger.outputs();
      Message output = consumer.receive(SILENCE_MILLIS);
      for (long taken = 1; output != null; taken++) {
        ledger.output(
            output.getIntProperty(FailoverSource.KEY),
            output.getIntProperty(FailoverSource.NUMBER));
        if (taken % 100 == 0) {
          session.commit();
        }
        output = taken < most ? consumer.receive(SILENCE_MILLIS) : null;
      }
      session.commit();
    }
  }

  private void finish() throws HarnessException, IOException, JMSException, InterruptedException {
    for (FailoverSource source : sources) {
      source.finish(CALM_LIMIT_MILLIS);
    }
    long limitNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CALM_LIMIT_MILLIS);
    do {
      drain();
    } while (!ledger.isComplete() && System.nanoTime() - limitNanos < 0);
    for (FailoverStage stage : stages) {
      stage.finish(CALM_LIMIT_MILLIS);
    }
    drain(); // a second output of something would lie there
    ledger.finish();
    for (LightmqConnection connection : connections) {
      connection.close();
    }
    Thread.sleep(1_500); // the broker counts once a second
    BrokerMetrics metrics = BrokerMetrics.of(setup);
    for (String left : FinalDrain.leftOver(metrics, List.of(IN, OUT))) {
      ledger.broken("%s", left);
    }
    double dead = metrics.sum("lightmq_backlog_messages", "\"DLQ\"");
    if (dead != 0) {
      ledger.broken("%,.0f dead letters, though no attempt has failed", dead);
    }
    tell();
  }

  private void tell() {
    System.out.printf(
        "  %,d inputs confirmed, %,d of them sent again; %,d outputs%n",
        ledger.confirmed(),
        sources.stream().mapToInt(FailoverSource::resent).sum(),
        ledger.outputs());
    System.out.printf(
        "  transactions rolled back %,d, with an unknown outcome %,d, failed otherwise %,d%n",
        stages.stream().mapToInt(FailoverStage::rolledBack).sum(),
        stages.stream().mapToInt(FailoverStage::unknown).sum(),
        stages.stream().mapToInt(FailoverStage::otherwise).sum());
    System.out.printf(
        "  %d kills, the broker was back after %,d ms on average; %d cuts%n",
        kills, startMillis / Math.max(1, kills), cuts);
    times.lines().forEach(line -> System.out.println("  " + line));
  }
}
