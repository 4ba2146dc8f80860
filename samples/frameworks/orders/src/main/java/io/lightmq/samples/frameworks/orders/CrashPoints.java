package io.lightmq.samples.frameworks.orders;

import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One order at a time, each with a crash at one place of its transaction, and what the transaction
 * manager's own recovery makes of it: a row and a message, or neither and the order is there again.
 */
final class CrashPoints {
  private static final int LIMIT_SECONDS = 90;
  private static final Pattern BRANCH = Pattern.compile("\"branch\":\"([^\"]+)\"");

  private final String main;
  private final Path work;
  private final Database database;
  private final BrokerSetup setup;
  private final Books books;
  private final ApplicationProcess.Confirmed confirmed = new ApplicationProcess.Confirmed();
  private BrokerProcess broker;
  private int order;
  private int faults;
  private final List<String> violations = new ArrayList<>();

  private CrashPoints(String main, Path work, Database database, BrokerSetup setup) {
    this.main = main;
    this.work = work;
    this.database = database;
    this.setup = setup;
    this.books = new Books(setup.uri(), database);
  }

  /** Runs all with these databases; the exit code. */
  static int run(String main, List<String> names, boolean all) throws Exception {
    int rounds = 0;
    int faults = 0;
    int confirmed = 0;
    int violations = 0;
    for (String name : names) {
      Path work = Orders.newFolder();
      Optional<Database> found =
          Database.named(name, work.resolve("database"), BrokerSetup.freePort());
      if (found.isEmpty()) {
        System.out.println(name + " is not installed here, so it is left out");
        if (all) {
          return Orders.NOT_POSSIBLE;
        }
        continue;
      }
      try (Database database = found.get()) {
        database.start();
        CrashPoints points = new CrashPoints(main, work, database, BrokerSetup.in(work));
        points.runAll(name);
        rounds += points.order;
        faults += points.faults;
        confirmed += points.confirmed.count();
        violations += points.violations.size();
      }
    }
    System.out.printf(
        "rounds %d, faults fired %d, confirmed %d, violations %d%n",
        rounds, faults, confirmed, violations);
    return violations == 0 && faults > 0 ? 0 : 1;
  }

  private void runAll(String name) throws Exception {
    broker = BrokerProcess.start(setup);
    try {
      books.makeTable();
      crash(
          name,
          "between the commits, the database first",
          "halt before messages commit",
          "database");
      crash(
          name, "between the commits, the broker first", "halt before database commit", "messages");
      crash(name, "prepared by the broker alone", "halt before database prepare", "messages");
      crash(name, "prepared by the database alone", "halt before messages prepare", "database");
      brokerDiesBetweenPrepareAndCommit(name);
      decidedByHand(name);
    } finally {
      broker.kill();
    }
  }

  private void report(String name, String what, long beganNanos, String wrong) {
    System.out.printf(
        "%s, %s: %s, %.1f s%n",
        name, what, wrong == null ? "well" : wrong, (System.nanoTime() - beganNanos) / 1e9);
    if (wrong != null) {
      violations.add(wrong);
    }
  }

  private ApplicationProcess start(String... properties) throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of(
                "uri=" + setup.uri("initialReconnectAttempts=100", "prefetchMessages=1"),
                "database=" + database.url()));
    all.addAll(List.of(properties));
    return ApplicationProcess.start(main, work, confirmed, all);
  }

  /** The process ends at a place, and another one recovers and goes on. */
  private void crash(String name, String what, String stop, String first) throws Exception {
    long began = System.nanoTime();
    books.order(order, order + 1);
    ApplicationProcess crashing = start("stop=" + stop, "first=" + first);
    int code = crashing.awaitEnd();
    faults++;
    String wrong = null;
    if (code != StopPoint.HALTED) {
      wrong = "the application ended with " + code + " before its stop point";
    } else if (books.inDoubtAtBroker() + books.inDoubtAtDatabase() == 0) {
      wrong = "nothing was in doubt after the crash";
    }
    ApplicationProcess next = start();
    try {
      String after = end();
      report(name, what, began, wrong == null ? after : wrong);
    } finally {
      next.kill();
    }
  }

  /** Waits for the end of the order, and looks at it; null if it is as it should be. */
  private String end() throws Exception {
    int rows = order + 1;
    boolean done =
        Books.await(
            LIMIT_SECONDS,
            () ->
                books.rows() >= rows
                    && books.inDoubtAtBroker() == 0
                    && books.inDoubtAtDatabase() == 0);
    int number = order++;
    int row = books.numbersOfRows().getOrDefault(number, 0);
    var messages = books.numbersOfMessages(OrderApplication.OUT);
    if (done
        && row == 1
        && messages.equals(java.util.Map.of(number, 1))
        && books.isEmpty(OrderApplication.IN)) {
      return null;
    }
    return "order %d has %d rows, messages are %s, in doubt are %d and %d"
        .formatted(number, row, messages, books.inDoubtAtBroker(), books.inDoubtAtDatabase());
  }

  private void brokerDiesBetweenPrepareAndCommit(String name) throws Exception {
    long began = System.nanoTime();
    books.order(order, order + 1);
    ApplicationProcess waiting = start("stop=wait before messages commit", "first=database");
    try {
      waiting.awaitStop();
      broker.kill();
      faults++;
      waiting.goOn();
      broker = BrokerProcess.start(setup);
      report(name, "the broker dies between prepare and commit", began, end());
    } finally {
      waiting.kill();
    }
  }

  /**
   * An administrator rolls back what the database commits; the manager and the application are
   * told.
   */
  private void decidedByHand(String name) throws Exception {
    long began = System.nanoTime();
    books.order(order, order + 1);
    ApplicationProcess waiting = start("stop=wait before messages commit", "first=database");
    try {
      waiting.awaitStop();
      Matcher shown = BRANCH.matcher(onCommandLine("xa", "list", "--json"));
      String branch = shown.find() ? shown.group(1) : "";
      try {
        onCommandLine("xa", "rollback", branch);
      } catch (IllegalStateException e) {
        if (books.inDoubtAtBroker() > 0) {
          throw e;
        }
        // On a slow machine the manager's recovery, which runs beside, comes before the
        // administrator.
        waiting.goOn();
        report(name, "decided by recovery before an administrator could", began, end());
        return;
      }
      faults++;
      waiting.goOn();
      boolean told = Books.await(LIMIT_SECONDS, () -> waiting.hasSaid("Heuristic"));
      boolean kept = books.inDoubtAtBroker() == 1;
      if (kept) {
        onCommandLine("xa", "forget", branch); // which a transaction manager may have done itself
      }
      boolean done =
          Books.await(
              LIMIT_SECONDS, () -> books.inDoubtAtBroker() == 0 && books.inDoubtAtDatabase() == 0);
      int row = books.numbersOfRows().getOrDefault(order, 0);
      order++;
      report(
          name,
          "rolled back by an administrator between prepare and commit",
          began,
          told && done && row >= 1
              ? null
              : "told " + told + ", kept " + kept + ", rows " + row + ", branch " + branch);
    } finally {
      waiting.kill();
    }
    books.numbersOfMessages(OrderApplication.IN);
    books.numbersOfMessages(OrderApplication.OUT);
  }

  private String onCommandLine(String... words) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(setup.home().resolve("bin/lightmq").toString());
    command.addAll(List.of(words));
    command.addAll(List.of("--port", String.valueOf(setup.port()), "--user", "admin"));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(work.resolve("commands.log").toFile());
    builder.environment().put("LIGHTMQ_PASSWORD", broker.adminPassword());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command + " ended with " + process.exitValue());
    }
    return output;
  }
}
