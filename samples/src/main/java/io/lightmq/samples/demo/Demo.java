package io.lightmq.samples.demo;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sends a file line by line through a broker that is killed on the way, and checks every line.
 *
 * <p>Exit code 0: the promise was kept. 1: it was broken. 2: the demo itself could not do its work.
 */
public final class Demo {

  private static final int KEPT = 0;
  private static final int BROKEN = 1;
  private static final int NO_RESULT = 2;
  private static final long PROGRESS_MILLIS = 1_000;
  private static final String USAGE =
      "usage: samples/demo.sh [FILE]   (without FILE a text of 120,000 lines is generated)";

  private final Path file;
  private final long lines;
  private final Arrivals queue = new Arrivals("queue");
  private final Arrivals durable = new Arrivals("durable");
  private final Arrivals plain = new Arrivals("plain");
  private final List<Arrivals> subscriptions = List.of(queue, durable, plain);

  private Demo(Path file, long lines) {
    this.file = file;
    this.lines = lines;
  }

  public static void main(String[] arguments) {
    String[] given = Usage.of(USAGE, 0).check(arguments);
    Locale.setDefault(Locale.ROOT);
    String wrong = wrongArguments(given);
    if (wrong != null) {
      System.err.println(wrong + System.lineSeparator() + USAGE);
      System.exit(NO_RESULT);
    }
    int code = NO_RESULT;
    try {
      Path work = Files.createTempDirectory("lightmq-demo-");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> nameIfKept(work), "name-folder"));
      code = run(given, work);
      if (code == KEPT) {
        delete(work);
      }
    } catch (IOException | JMSException | RuntimeException e) {
      System.err.println("the demo could not finish: " + e.getMessage());
      e.printStackTrace();
    } catch (InterruptedException e) {
      System.err.println("the demo was interrupted");
    }
    System.out.flush();
    System.exit(code);
  }

  /** What keeps the demo from starting with these arguments, or null if nothing does. */
  static @Nullable String wrongArguments(String[] arguments) {
    if (arguments.length == 0) {
      return null;
    }
    if (arguments.length > 1) {
      return "The demo takes one file, not " + arguments.length + " arguments.";
    }
    if (arguments[0].equals("--help") || arguments[0].equals("-h")) {
      return "The demo sends a file through a broker that is killed on the way.";
    }
    Path file = Path.of(arguments[0]);
    if (!Files.exists(file)) {
      return "There is no file " + file.toAbsolutePath() + ".";
    }
    if (Files.isDirectory(file)) {
      return file.toAbsolutePath() + " is a directory, a file is needed.";
    }
    if (!Files.isReadable(file)) {
      return file.toAbsolutePath() + " cannot be read by this user.";
    }
    return file.toFile().length() == 0
        ? file.toAbsolutePath() + " is empty; name a file with at least one line."
        : null;
  }

  private static void nameIfKept(Path work) {
    if (Files.exists(work)) {
      System.out.println("the broker's data and log are kept in " + work);
    }
  }

  private static int run(String[] arguments, Path work)
      throws IOException, JMSException, InterruptedException {
    Path file = arguments.length > 0 ? Path.of(arguments[0]) : defaultFile(work);
    long lines = countLines(file);
    System.out.printf("file %s: %,d lines, %,d bytes%n", file, lines, Files.size(file));
    return new Demo(file, lines).run(BrokerSetup.in(work));
  }

  private static Path defaultFile(Path work) throws IOException {
    Path file = work.resolve("orders.txt");
    SampleText.write(file, SampleText.LINES);
    return file;
  }

  private static long countLines(Path file) throws IOException {
    long count = 0;
    try (LineReader reader = LineReader.open(file)) {
      while (reader.next() != null) {
        count++;
      }
    }
    return count;
  }

  private int run(BrokerSetup setup) throws IOException, JMSException, InterruptedException {
    BrokerProcess broker = BrokerProcess.start(setup);
    System.out.printf(
        "broker process %d is ready, %,d ms after its start%n", broker.pid(), broker.startMillis());
    var factory = new LightmqConnectionFactory(setup.uri());
    List<AutoCloseable> open = new ArrayList<>();
    Killer killer = null;
    try {
      Sender sender = new Sender(factory);
      open.add(sender);
      killer = new Killer(setup, broker, sender.toQueue(), subscriptions, killAfter());
      open.add(Receiver.onQueue(factory, "listener-1", queue));
      open.add(Receiver.onQueue(factory, "listener-2", queue));
      open.add(Receiver.durable(factory, "durable", durable));
      open.add(Receiver.plain(factory, "plain", plain));
      killer.start();
      long elapsedMillis = sendAndDrain(sender, killer);
      return judge(sender, killer, elapsedMillis);
    } catch (JMSException | IOException e) {
      System.err.println("the end of the broker's log:\n" + broker.tail());
      throw e;
    } finally {
      closeAll(open);
      if (killer == null) {
        broker.close();
      } else {
        killer.close();
      }
    }
  }

  /** Somewhere in the first half of the file; a small file is repeated until it gets there. */
  private int killAfter() {
    return (int) Math.max(1, Math.min(lines * 2 / 5, Integer.MAX_VALUE / 4));
  }

  private long sendAndDrain(Sender sender, Killer killer)
      throws IOException, JMSException, InterruptedException {
    long beganNanos = System.nanoTime();
    AtomicBoolean done = new AtomicBoolean();
    Thread progress = new Thread(() -> report(sender.toQueue(), beganNanos, done), "progress");
    progress.start();
    try {
      List<IOException> failures = new ArrayList<>();
      sender.sendUntil(file, () -> isProven(killer, failures));
      if (!failures.isEmpty()) {
        throw failures.get(0);
      }
      awaitAll(sender);
      long elapsedMillis = (System.nanoTime() - beganNanos) / 1_000_000;
      Thread.sleep(DemoLimits.QUIET_MILLIS);
      return elapsedMillis;
    } finally {
      done.set(true);
      progress.join();
    }
  }

  private boolean isProven(Killer killer, List<IOException> failures) {
    try {
      return killer.isBetweenReceipts() && plain.seenSinceRestart();
    } catch (IOException e) {
      failures.add(e);
      return true;
    }
  }

  /** Waits until everything is confirmed and has come, or nothing moves any more. */
  private void awaitAll(Sender sender) throws InterruptedException {
    long lastSeen = -1;
    long lastMoveNanos = System.nanoTime();
    while (!isComplete(sender)) {
      long seen = sender.toQueue().confirmed();
      seen += sender.toTopic().confirmed();
      seen += queue.deliveries() + durable.deliveries() + plain.deliveries();
      if (seen != lastSeen) {
        lastSeen = seen;
        lastMoveNanos = System.nanoTime();
      }
      if (System.nanoTime() - lastMoveNanos > DemoLimits.PATIENCE_MILLIS * 1_000_000 / 3) {
        return;
      }
      Thread.sleep(20);
    }
  }

  private boolean isComplete(Sender sender) {
    int sent = sender.toQueue().count();
    return sender.toQueue().open() == 0
        && sender.toTopic().open() == 0
        && queue.processed() >= sent
        && durable.processed() >= sent
        && plain.highest() >= sent;
  }

  private void report(Sent sent, long beganNanos, AtomicBoolean done) {
    try {
      while (!done.get()) {
        Report.progress((System.nanoTime() - beganNanos) / 1_000_000, sent, subscriptions);
        for (int slice = 0; slice < 20 && !done.get(); slice++) {
          Thread.sleep(PROGRESS_MILLIS / 20);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int judge(Sender sender, Killer killer, long elapsedMillis) {
    Verdict ofQueue = Verdict.complete(sender.toQueue(), queue);
    Verdict ofDurable = Verdict.complete(sender.toTopic(), durable);
    Verdict ofPlain = Verdict.plain(sender.toTopic(), plain);
    System.out.printf(
        "%n%,d lines sent to the queue and to the topic, killed after %,d receipts, back in %,d"
            + " ms%n%n",
        sender.toQueue().count(), killer.receiptsAtKill(), killer.restartMillis());
    Report.heading();
    Report.row(sender.toQueue(), queue, ofQueue, elapsedMillis);
    Report.row(sender.toTopic(), durable, ofDurable, elapsedMillis);
    Report.row(sender.toTopic(), plain, ofPlain, elapsedMillis);
    System.out.println();
    Report.gaps(plain);
    List<String> violations =
        Stream.of(ofQueue, ofDurable, ofPlain)
            .flatMap(verdict -> verdict.violations().stream())
            .distinct()
            .toList();
    violations.forEach(violation -> System.out.println("BROKEN: " + violation));
    System.out.println(
        violations.isEmpty()
            ? "The promise was kept: nothing confirmed is missing, no duplicate came without its"
                + " flag."
            : "The promise was broken.");
    return violations.isEmpty() ? KEPT : BROKEN;
  }

  private static void closeAll(List<AutoCloseable> open) {
    for (AutoCloseable one : open) {
      try {
        one.close();
      } catch (Exception e) {
        System.err.println("closing failed: " + e);
      }
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
