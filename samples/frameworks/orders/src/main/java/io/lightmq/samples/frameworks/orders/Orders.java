package io.lightmq.samples.frameworks.orders;

import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Orders under kills: each is taken from a queue, becomes a row of a database and a message, in one
 * distributed transaction. Meanwhile the application's process, the broker's and the database's are
 * killed. In the end there is one row and one message for each order, and nothing is in doubt.
 */
public final class Orders {
  static final int NOT_POSSIBLE = 2;
  private static final int THREADS = 4;

  /** As long as the database is away each transaction is rolled back, which is a failed attempt. */
  private static final String WITHOUT_DEAD_LETTERS = "[destination.\"orders.*\"]\nmax-attempts = 0";

  private static final int MOST_LATER_MILLIS = 400;
  private static final int LIMIT_SECONDS = 240;

  private final String main;
  private final Path work;
  private final Database database;
  private final BrokerSetup setup;
  private final Books books;
  private final ApplicationProcess.Confirmed confirmed = new ApplicationProcess.Confirmed();
  private BrokerProcess broker;
  private ApplicationProcess application;

  private Orders(String main, Path work, Database database, BrokerSetup setup) {
    this.main = main;
    this.work = work;
    this.database = database;
    this.setup = setup;
    this.books = new Books(setup.uri(), database);
  }

  /**
   * The main method of a stack's program.
   *
   * @param main its class, which is started again as the application
   */
  public static void main(Class<?> main, String[] arguments, Stack.Maker maker) throws Exception {
    List<String> words = List.of(arguments);
    if (words.equals(List.of("application"))) {
      OrderApplication.run(maker);
      return;
    }
    if (!words.isEmpty() && words.get(0).equals("soak")) {
      String name = words.size() > 1 ? words.get(1) : "h2";
      int orders = words.size() > 2 ? Integer.parseInt(words.get(2)) : 10_000;
      int kills = words.size() > 3 ? Integer.parseInt(words.get(3)) : 50;
      System.exit(soak(main.getName(), name, orders, kills));
    }
    if (words.size() > 1 || words.contains("-h") || words.contains("--help")) {
      System.err.println("arguments: [h2|postgresql], or soak [h2|postgresql [ORDERS [KILLS]]]");
      System.exit(NOT_POSSIBLE);
    }
    List<String> names = words.isEmpty() ? List.of("h2", "postgresql") : words;
    System.exit(CrashPoints.run(main.getName(), names, !words.isEmpty()));
  }

  /** A folder that another user may look into. */
  static Path newFolder() throws java.io.IOException {
    Path work = Files.createTempDirectory("lightmq-orders-");
    Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));
    System.out.println("logs are in " + work);
    return work;
  }

  private static int soak(String main, String name, int orders, int kills) throws Exception {
    Path work = newFolder();
    Optional<Database> found =
        Database.named(name, work.resolve("database"), BrokerSetup.freePort());
    if (found.isEmpty()) {
      System.err.println(name + " is not installed here");
      return NOT_POSSIBLE;
    }
    try (Database database = found.get()) {
      database.start();
      BrokerSetup setup = BrokerSetup.in(work).withConfiguration(WITHOUT_DEAD_LETTERS);
      return new Orders(main, work, database, setup).run(orders, kills) ? 0 : 1;
    }
  }

  private boolean run(int orders, int kills) throws Exception {
    broker = BrokerProcess.start(setup);
    try {
      books.makeTable();
      books.order(0, orders);
      startApplication();
      int fired = 0;
      Random random = new Random();
      for (int kill = 1; kill <= kills; kill++) {
        if (!awaitConfirmed((int) ((long) orders * kill / (kills + 1)))) {
          break;
        }
        Thread.sleep(random.nextInt(MOST_LATER_MILLIS));
        kill(kill);
        fired++;
      }
      boolean done = awaitConfirmedEnd(orders);
      application.kill();
      int violations = violations(orders) + (done ? 0 : 1);
      System.out.printf(
          "rounds %d, faults fired %d, confirmed %d, violations %d%n",
          kills, fired, confirmed.count(), violations);
      return violations == 0 && fired > 0;
    } finally {
      application.kill();
      broker.kill();
    }
  }

  private void startApplication() throws Exception {
    application =
        ApplicationProcess.start(
            main,
            work,
            confirmed,
            List.of(
                "uri=" + setup.uri("prefetchMessages=10", "initialReconnectAttempts=100"),
                "database=" + database.url(),
                "threads=" + THREADS));
  }

  private boolean awaitConfirmed(int count) throws InterruptedException {
    boolean there = Books.await(LIMIT_SECONDS, () -> confirmed.count() >= count);
    if (!there) {
      System.out.printf(
          "only %d of %d orders were confirmed in %d s%n", confirmed.count(), count, LIMIT_SECONDS);
    }
    return there;
  }

  private void kill(int kill) throws Exception {
    boolean killsApplication = kill % 3 != 2;
    boolean killsBroker = kill % 3 != 1;
    boolean killsDatabase = kill % 4 == 0;
    if (killsApplication) {
      application.kill();
    }
    if (killsBroker) {
      broker.kill();
    }
    if (killsDatabase) {
      database.kill();
      database.start();
    }
    if (killsBroker) {
      broker = BrokerProcess.start(setup);
    }
    if (killsApplication) {
      startApplication();
    }
    System.out.printf(
        "kill %d:%s%s%s; %,d orders confirmed%n",
        kill,
        killsApplication ? " application" : "",
        killsBroker ? " broker" : "",
        killsDatabase ? " database" : "",
        confirmed.count());
  }

  /** Waits until each order has its row, no order is left and nothing is in doubt. */
  private boolean awaitConfirmedEnd(int orders) throws Exception {
    return Books.await(
        LIMIT_SECONDS,
        () ->
            books.rows() >= orders
                && books.inDoubtAtBroker() == 0
                && books.inDoubtAtDatabase() == 0
                && books.isEmpty(OrderApplication.IN));
  }

  private int violations(int orders) throws Exception {
    Map<Integer, Integer> rows = books.numbersOfRows();
    Map<Integer, Integer> messages = books.numbersOfMessages(OrderApplication.OUT);
    Map<Integer, Integer> left = books.numbersOfMessages(OrderApplication.IN);
    Map<Integer, Integer> dead = books.numbersOfMessages("DLQ");
    int wrong = 0;
    for (int number = 0; number < orders; number++) {
      int row = rows.getOrDefault(number, 0);
      int message = messages.getOrDefault(number, 0);
      if (row != 1 || message != 1 || left.containsKey(number) || dead.containsKey(number)) {
        wrong++;
        System.out.printf(
            "order %d: %d rows, %d messages, %s, left %s, dead %s%n",
            number,
            row,
            message,
            confirmed.numbers().get(number) ? "confirmed" : "not confirmed",
            left.get(number),
            dead.get(number));
      }
    }
    int doubt = books.inDoubtAtBroker() + books.inDoubtAtDatabase();
    System.out.printf(
        "%d orders: %d rows, %d messages, %d left, %d dead, %d in doubt%n",
        orders, rows.size(), messages.size(), left.size(), dead.size(), doubt);
    return wrong + doubt;
  }
}
