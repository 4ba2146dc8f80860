package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.tck.hostile.HostileClients;
import io.lightmq.tck.hostile.HostileTrial;
import io.lightmq.tck.hostile.Recording;
import jakarta.jms.JMSException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Hostile frames against a broker, with an honest client beside them and restarts in between,
 * orderly and by SIGKILL; then hostile frames of a broker against real clients. A finding is a
 * broken promise: a broker or client that dies, a connection that hangs, an error in the log,
 * memory or handles that do not come back.
 */
final class Fuzz {

  private static final long ROUND_FRAMES = 100_000;

  /** So that a short run has orderly ends and kills as well. */
  private static final long ROUNDS = 2;

  /** At the least; a short run has fewer than the third that a long one has. */
  private static final double CHANGED = 0.1;

  private static final int ATTACKERS = 24;
  private static final long CANARY_PAUSE_MILLIS = 3;
  private static final double TO_CLIENTS = 0.03;
  private static final long IDLE_LIMIT_SECONDS = 20;
  private static final long ROUND_LIMIT_SECONDS = 240;
  private static final long LOOK_MILLIS = 50;
  private static final long HEAP_MIB = 256;
  private static final long HEAP_LIMIT_MIB = HEAP_MIB / 2;
  private static final long NETWORK_LIMIT_KIB = 8 << 10;
  private static final long HANDLES_MORE = 60;
  private static final long LOG_BYTES_A_FRAME = 30;
  private static final long LOG_BYTES_FREE = 1 << 20;
  private static final long WORST_MILLIS = 10_000;

  private final BrokerSetup setup;
  private final EventLog events;
  private final long frames;
  private final long seed;
  private final Findings findings = new Findings();
  private long rounds;
  private long restarts;

  Fuzz(BrokerSetup setup, EventLog events, long frames, long seed) {
    this.setup = setup.withJavaOptions("-Xmx" + HEAP_MIB + "m");
    this.events = events;
    this.frames = frames;
    this.seed = seed;
  }

  Verdict run() throws HarnessException, IOException, JMSException, InterruptedException {
    long toClients = Math.max(1, (long) (frames * TO_CLIENTS));
    Path recorded = setup.work().resolve("recorded.frames");
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      Recording recording = Recording.of(setup.port());
      recording.write(recorded);
      long confirmed;
      long sent;
      try (Canary canary = new Canary(setup.uri(), CANARY_PAUSE_MILLIS, events);
          HostileClients attackers = new HostileClients(setup.port(), recording, seed)) {
        long handles = handles(broker);
        attackers.start(ATTACKERS);
        long left = frames - toClients;
        while (left > 0 && findings.broken() == 0) {
          long now = Math.min(left, roundFrames());
          left -= now;
          broker = round(broker, canary, attackers, now, handles);
        }
        attackers.close();
        sent = attackers.frames();
        findings.note(
            "%,d frames in %,d connections, %,d of them changed ones; %,d ended by the broker, %,d"
                + " refused",
            sent,
            attackers.connections(),
            attackers.mutated(),
            attackers.goodbyes(),
            attackers.refusals());
        if (findings.broken() == 0 && attackers.mutated() < CHANGED * sent) {
          throw new HarnessException(
              "only %,d of %,d frames were changed ones".formatted(attackers.mutated(), sent));
        }
        findings.require(canary.finish());
        findings.require(
            canary.worstMillis() <= WORST_MILLIS,
            "the worst round trip of the honest client took %,d ms",
            canary.worstMillis());
        confirmed = canary.confirmed();
      }
      long toThem = againstClients(recorded, toClients);
      if (findings.broken() == 0 && toThem < toClients) {
        throw new HarnessException(
            "only %,d of %,d frames went to clients".formatted(toThem, toClients));
      }
      sent += toThem;
      return findings.verdict(rounds, sent + restarts, confirmed);
    } finally {
      broker.close();
    }
  }

  private long roundFrames() {
    return Math.max(1, Math.min(ROUND_FRAMES, frames / ROUNDS));
  }

  private BrokerProcess round(
      BrokerProcess broker, Canary canary, HostileClients attackers, long now, long handlesBefore)
      throws HarnessException, IOException, JMSException, InterruptedException {
    rounds++;
    long began = System.nanoTime();
    long logged = Files.size(setup.log());
    attackers.allow(now);
    boolean kill = rounds % 2 == 0;
    // Half of the kills come while frames are under way, as do no orderly ends: those would only
    // show that a broker that stops lets go of its clients.
    while (!attackers.isIdle()
        && broker.isAlive()
        && System.nanoTime() - began < ROUND_LIMIT_SECONDS * 1_000_000_000) {
      Thread.sleep(LOOK_MILLIS);
    }
    long seconds = Math.max(1, (System.nanoTime() - began) / 1_000_000_000);
    findings.require(broker.isAlive(), "round %d: the broker lives", rounds);
    attackers.findings().forEach(text -> findings.require(false, "%s", text));
    if (findings.broken() > 0) {
      return broker;
    }
    if (!attackers.isIdle()) {
      throw new HarnessException(
          "%,d frames took more than %d s".formatted(now, ROUND_LIMIT_SECONDS));
    }
    memory(broker, handlesBefore);
    attackers.brokerChanges();
    canary.brokerChanges();
    if (kill) {
      attackers.allow(1_000);
      Thread.sleep(LOOK_MILLIS);
      broker.kill();
    } else {
      broker.close();
    }
    restarts++;
    BrokerProcess next = BrokerProcess.start(setup);
    attackers.brokerChanges();
    canary.brokerChanges();
    LogScan log = LogScan.of(setup.log(), logged);
    findings.require(
        log.findings().isEmpty(),
        "the log has %d lines that it must not have",
        log.findings().size());
    log.findings().forEach(line -> findings.note("  %s", line));
    findings.require(
        log.bytes() < LOG_BYTES_FREE + LOG_BYTES_A_FRAME * now, "%,d bytes of log", log.bytes());
    findings.note(
        "round %d: %,d frames in %,d s, then %s, ready after %,d ms; canary %,d",
        rounds, now, seconds, kill ? "SIGKILL" : "SIGTERM", next.startMillis(), canary.confirmed());
    return next;
  }

  /** What the attackers had is back once the broker has noticed that they are gone. */
  private void memory(BrokerProcess broker, long handlesBefore)
      throws HarnessException, IOException, InterruptedException {
    long latest = System.nanoTime() + IDLE_LIMIT_SECONDS * 1_000_000_000;
    BrokerMetrics metrics = BrokerMetrics.of(setup);
    while (metrics.sum("lightmq_connections", "") > 2 && System.nanoTime() < latest) {
      Thread.sleep(LOOK_MILLIS);
      metrics = BrokerMetrics.of(setup);
    }
    ProcessFigures figures = ProcessFigures.afterCollection(broker);
    long network = (long) metrics.sum("lightmq_direct_network_bytes", "");
    long handles = handles(broker);
    findings.require(
        metrics.sum("lightmq_connections", "") <= 2
            && figures.heapBytes() < HEAP_LIMIT_MIB << 20
            && network < NETWORK_LIMIT_KIB << 10
            && handles < handlesBefore + HANDLES_MORE,
        "%.0f connections, %s, of the connections %,d KiB; %d handles, %d before",
        metrics.sum("lightmq_connections", ""),
        figures,
        network >> 10,
        handles,
        handlesBefore);
  }

  static long handles(BrokerProcess broker) throws IOException {
    try (var open = Files.list(Path.of("/proc/" + broker.pid() + "/fd"))) {
      return open.count();
    }
  }

  /** Real clients in a process of little memory; returns the frames that they got. */
  private long againstClients(Path recorded, long wanted)
      throws IOException, HarnessException, InterruptedException {
    long seconds = Math.max(30, wanted / 50);
    Path log = setup.work().resolve("clients.log");
    Process clients =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:MaxDirectMemorySize=64m",
                "-XX:+ExitOnOutOfMemoryError",
                "-Dlogback.configurationFile="
                    + System.getProperty("logback.configurationFile", ""),
                "-cp",
                System.getProperty("java.class.path"),
                HostileTrial.class.getName(),
                recorded.toString(),
                String.valueOf(wanted),
                String.valueOf(seconds),
                String.valueOf(seed))
            .redirectError(log.toFile())
            .start();
    String done = "";
    try (BufferedReader lines = clients.inputReader(StandardCharsets.UTF_8)) {
      String line = lines.readLine();
      while (line != null) {
        if (line.startsWith(HostileTrial.FINDING)) {
          findings.require(false, "%s", line);
        }
        done = line.startsWith(HostileTrial.DONE) ? line : done;
        line = lines.readLine();
      }
      if (!clients.waitFor(IDLE_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new HarnessException("the process of the clients does not end");
      }
    } finally {
      clients.destroyForcibly();
    }
    findings.require(
        clients.exitValue() == 0 && !done.isEmpty(),
        "the clients' process ended with %d, see %s",
        clients.exitValue(),
        log);
    if (done.isEmpty()) {
      return 0;
    }
    String[] figures = done.substring(HostileTrial.DONE.length()).split(" ", -1);
    findings.note(
        "%s frames of a hostile broker against %s clients, %s calls refused",
        figures[0], figures[1], figures[2]);
    return Long.parseLong(figures[0]);
  }
}
