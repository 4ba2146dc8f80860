package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.tck.hostile.Attack;
import io.lightmq.tck.hostile.Listener;
import io.lightmq.tck.hostile.Stranger;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * What strangers can use up: each {@link Attack} against a new broker of 256 MB with an honest
 * client beside it. The broker lives and starts again, its log has a bound, and the honest client
 * keeps 0.8 of the rate that it has beside the same attack on a listener that keeps nothing.
 */
final class Strangers {

  private static final String HEAP = "-Xmx256m";

  /** So little that one thread can ask for more within seconds. */
  private static final String NAMED_STATE = "[memory]\nnamed-state = \"8MiB\"";

  private static final double KEPT_RATE = 0.8;
  private static final long QUIET_MILLIS = 2_000;

  /** A Java process that is younger works mostly for its compilers. */
  private static final long WARM_UP_MILLIS = 15_000;

  private static final long LOG_LIMIT_BYTES = 2 << 20;
  private static final int HANDLES = 1_024;
  private static final double SHORT_SECONDS = 1;
  private static final int CLIENTS = 20;
  private static final int MUCH = 202;
  private static final String VICTIM = "victim";

  private final BrokerSetup setup;
  private final EventLog events;
  private final long millis;
  private final List<Attack> attacks;
  private final Findings findings = new Findings();
  private long confirmed;

  /**
   * Attacks, each for so many seconds at most.
   *
   * @param setup its work directory gets one folder for each attack
   * @param wanted the names of the attacks; none for all
   */
  Strangers(BrokerSetup setup, EventLog events, int seconds, List<String> wanted)
      throws HarnessException {
    this.attacks =
        Stream.of(Attack.values())
            .filter(attack -> wanted.isEmpty() || wanted.contains(attack.name()))
            .toList();
    if (attacks.size() < wanted.size()) {
      throw new HarnessException(
          "not all of %s are among the attacks %s".formatted(wanted, List.of(Attack.values())));
    }
    this.setup = setup;
    this.events = events;
    this.millis = seconds * 1_000L;
  }

  Verdict run() throws HarnessException, IOException, JMSException, InterruptedException {
    for (Attack attack : attacks) {
      findings.note("%s: %s", attack, attack.summary());
      try {
        one(attack);
      } catch (IOException | JMSException | HarnessException e) {
        // The next attack has a broker of its own.
        findings.require(false, "%s: %s", attack, e);
      }
    }
    return findings.verdict(attacks.size(), attacks.size(), confirmed);
  }

  private void one(Attack attack)
      throws HarnessException, IOException, JMSException, InterruptedException {
    Path folder = Files.createDirectories(setup.work().resolve(attack.name()));
    BrokerSetup here =
        BrokerSetup.in(folder)
            .withHome(limited(folder, setup.home()))
            .withJavaOptions(HEAP)
            .withConfiguration(NAMED_STATE);
    BrokerProcess broker = BrokerProcess.start(here);
    try {
      UUID link = UUID.randomUUID();
      if (attack == Attack.LINKS) {
        victim(here, link, 1);
      }
      try (Canary canary = new Canary(here.uri(), 0, events)) {
        attack(attack, broker, canary);
        findings.require(broker.isAlive(), "the broker lives");
        if (!broker.isAlive()) {
          return;
        }
        after(attack, broker);
        findings.note(
            "%s, %d handles", ProcessFigures.afterCollection(broker), Fuzz.handles(broker));
        canary.brokerChanges();
        broker.close();
        broker = BrokerProcess.start(here);
        findings.note("stopped and started, ready after %,d ms", broker.startMillis());
        findings.require(canary.finish());
        confirmed += canary.confirmed();
      }
      LogScan log = LogScan.of(here.log(), 0);
      findings.require(
          log.findings().isEmpty() && log.bytes() < LOG_LIMIT_BYTES,
          "%,d bytes of log, %d lines that it must not have %s",
          log.bytes(),
          log.findings().size(),
          log.findings().stream().limit(1).toList());
      if (attack == Attack.LINKS) {
        victim(here, link, 2);
        stored(here);
      }
    } finally {
      broker.close();
    }
  }

  /** Beside the listener first, so that the broker is in the same state for both rates. */
  private void attack(Attack attack, BrokerProcess broker, Canary canary)
      throws HarnessException, IOException, JMSException, InterruptedException {
    Thread.sleep(WARM_UP_MILLIS);
    String uri = broker.setup().uri("connectTimeoutMillis=5000");
    Measured stock;
    try (Listener listener = new Listener()) {
      stock = rate(attack, new Attack.Target(listener.port(), listener.port()), canary, uri);
    }
    double before = stock.rate();
    int port = broker.setup().port();
    Measured measured =
        rate(attack, new Attack.Target(port, broker.setup().adminPort()), canary, uri);
    double beside = measured.rate();
    Attack.Result result = measured.result();
    if (attack.meetsLimit() || result.refusedWith() != 0) {
      findings.require(result.isLimit(), "refused for want of room in the end: %s", result);
    }
    if (stock.seconds() < SHORT_SECONDS || measured.seconds() < SHORT_SECONDS) {
      findings.note("over too soon to tell what the honest client loses");
      return;
    }
    findings.require(
        beside >= KEPT_RATE * before,
        "the honest client sent %.0f messages a second, %.0f beside a listener: %.2f; its worst"
            + " round trip took %,d ms",
        beside,
        before,
        beside / before,
        canary.worstMillis());
  }

  /** The honest client's messages a second beside an attack, and how that ended. */
  private record Measured(double rate, double seconds, Attack.Result result) {}

  private Measured rate(Attack attack, Attack.Target target, Canary canary, String uri)
      throws HarnessException, JMSException, InterruptedException {
    long began = System.nanoTime();
    long before = canary.arrived();
    long until = began + millis * 1_000_000;
    AtomicBoolean sending = new AtomicBoolean(attack == Attack.HTTP);
    AtomicReference<Attack.Result> result =
        new AtomicReference<>(new Attack.Result("still at work", 0));
    AtomicReference<RuntimeException> failure = new AtomicReference<>();
    Thread attacker =
        new Thread(
            () -> {
              try {
                result.set(attack.on(target, () -> System.nanoTime() < until || sending.get()));
              } catch (RuntimeException e) {
                failure.set(e);
              }
            },
            "attacker");
    attacker.setDaemon(true);
    attacker.start();
    if (sending.get()) {
      // By now its connections are open.
      Thread.sleep(QUIET_MILLIS);
      try {
        sendMuch(uri);
      } finally {
        sending.set(false);
      }
    }
    // A short attack is over before the client could show what it costs.
    attacker.join(2 * millis);
    RuntimeException failed = failure.get();
    if (failed != null) {
      throw new HarnessException("the attacker failed: " + failed, failed);
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    double rate = (canary.arrived() - before) / seconds;
    Attack.Result did = Objects.requireNonNull(result.get(), "the attack has ended");
    findings.note("%s in %.1f s", did, seconds);
    return new Measured(rate, seconds, did);
  }

  /** What an attack was for. */
  private void after(Attack attack, BrokerProcess broker)
      throws JMSException, IOException, InterruptedException, HarnessException {
    String uri = broker.setup().uri("connectTimeoutMillis=5000");
    switch (attack) {
      case CONNECTS -> connects(broker, uri);
      case LETTERS -> {
        command(broker, "dead-letters", "list");
        command(broker, "dead-letters", "list", "--queue", "");
        command(broker, "dead-letters", "retry", "--all");
        findings.require(broker.isAlive(), "the broker lives after list and retry");
      }
      case HOURS -> {
        try (JMSContext context = new LightmqConnectionFactory(uri).createContext()) {
          context
              .createProducer()
              .setDeliveryDelay(10_000)
              .send(context.createQueue("honest-delay"), "delayed");
          findings.require(true, "another client may delay a message");
        } catch (jakarta.jms.JMSRuntimeException e) {
          findings.require(false, "another client may delay a message: %s", e);
        }
      }
      default -> {}
    }
  }

  /** New connections while strangers hold what they can. */
  private void connects(BrokerProcess broker, String uri) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Attack.Target target = new Attack.Target(broker.setup().port(), broker.setup().adminPort());
    Thread attacker =
        new Thread(() -> Attack.CONNECTS.on(target, () -> System.nanoTime() < until), "attacker");
    attacker.setDaemon(true);
    attacker.start();
    Thread.sleep(QUIET_MILLIS);
    int connected = 0;
    for (int i = 0; i < CLIENTS; i++) {
      try (var connection = new LightmqConnectionFactory(uri).createConnection()) {
        connection.start();
        connected++;
      } catch (JMSException e) {
        events.note("refused beside bare connections: %s", e);
      }
    }
    attacker.join();
    findings.require(
        connected >= KEPT_RATE * CLIENTS,
        "%d of %d clients could connect beside it",
        connected,
        CLIENTS);
  }

  /** Enough for checkpoints, which need files. */
  private void sendMuch(String uri) throws JMSException, InterruptedException, HarnessException {
    SendLog log = new SendLog(2, "much", 1);
    try (var connection = new LightmqConnectionFactory(uri).createConnection()) {
      connection.start();
      Bulk.send(connection, log, MUCH, 900_000);
    }
    findings.require(
        log.confirmedCount() == MUCH, "%d messages of 0.9 MB were taken", log.confirmedCount());
  }

  private void victim(BrokerSetup here, UUID link, long epoch) throws IOException {
    try (Stranger victim = new Stranger(here.port())) {
      long last = victim.attach(link, epoch);
      int code = victim.publish(victim.queue(VICTIM), 1, "order".getBytes(StandardCharsets.UTF_8));
      findings.note(
          "the victim's link had the number %d, its message 1 was answered with %d", last, code);
      victim.reset();
    }
  }

  private void stored(BrokerSetup here) {
    try (JMSContext context = new LightmqConnectionFactory(here.uri()).createContext();
        var consumer = context.createConsumer(context.createQueue(VICTIM))) {
      int copies = 0;
      while (consumer.receive(1_000) != null) {
        copies++;
      }
      findings.require(copies == 1, "the victim's message is there %d times", copies);
    }
  }

  private void command(BrokerProcess broker, String... words)
      throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(List.of(setup.home().resolve("bin/lightmq").toString()));
    line.addAll(List.of(words));
    line.addAll(List.of("--port", String.valueOf(broker.setup().port()), "--user", "admin"));
    ProcessBuilder builder =
        new ProcessBuilder(line)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().putAll(Map.of("LIGHTMQ_PASSWORD", broker.adminPassword()));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    findings.require(
        output.chars().noneMatch(c -> c < ' ' && c != '\n' && c != '\t'),
        "lightmq %s ended with %d and no control characters: %s",
        String.join(" ", words),
        code,
        output.lines().findFirst().orElse(""));
  }

  /** The same server with few file handles. */
  private static Path limited(Path folder, Path home) throws IOException {
    Path limited = folder.resolve("limited");
    Path script = Files.createDirectories(limited.resolve("bin")).resolve("lightmq");
    Files.writeString(
        script,
        """
        #!/bin/sh
        ulimit -n %d
        exec "%s" "$@"
        """
            .formatted(HANDLES, home.resolve("bin/lightmq")));
    if (!script.toFile().setExecutable(true)) {
      throw new IOException("cannot make " + script + " executable");
    }
    return limited;
  }
}
