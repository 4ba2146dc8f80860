package io.lightmq.samples.bench;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Queue;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/**
 * The speed floor: three kinds of senders beside what the machine itself can force in the same run.
 *
 * <p>With {@code --paired} this build beside another one, see {@link Paired}.
 *
 * <p>Exit code 0: every ratio is above its floor. 1: one is below. 2: the benchmark failed.
 */
public final class Bench {

  private static final int KEPT = 0;
  private static final int BELOW = 1;
  private static final int FAILED = 2;
  private static final long SECONDS = 5;
  private static final long PAIRED_SECONDS = 2;
  private static final Usage USAGE =
      new Usage(
          "usage: samples/bench.sh [--seconds N] [--disk DIR] [--jndi FILE]\n"
              + "       samples/bench.sh --paired OTHER_HOME [--paired-clients CLASSPATH]"
              + " [--rounds N] [--seconds N] [--disk DIR]",
          0,
          List.of("--seconds", "--disk", "--jndi", "--paired", "--paired-clients", "--rounds"));

  private final Path disk;
  private final long millis;
  private boolean below;

  private Bench(Path disk, long millis) {
    this.disk = disk;
    this.millis = millis;
  }

  public static void main(String[] arguments) {
    String[] given = USAGE.check(arguments);
    Locale.setDefault(Locale.ROOT);
    int code = FAILED;
    try {
      code = run(given);
    } catch (IOException | JMSException | NamingException | RuntimeException e) {
      System.err.println("the benchmark failed: " + e);
      e.printStackTrace();
    } catch (InterruptedException e) {
      System.err.println("the benchmark was interrupted");
    }
    System.out.flush();
    System.exit(code);
  }

  private static int run(String[] arguments)
      throws IOException, JMSException, NamingException, InterruptedException {
    long seconds = 0;
    Path disk = Path.of(System.getProperty("java.io.tmpdir"));
    Path jndi = null;
    Path paired = null;
    String pairedClients = "";
    int rounds = 10;
    if (arguments.length % 2 != 0) {
      System.err.println("every option needs a value" + System.lineSeparator() + USAGE.text());
      return FAILED;
    }
    for (int i = 0; i + 1 < arguments.length; i += 2) {
      switch (arguments[i]) {
        case "--seconds" -> seconds = Long.parseLong(arguments[i + 1]);
        case "--disk" -> disk = Path.of(arguments[i + 1]);
        case "--jndi" -> jndi = Path.of(arguments[i + 1]);
        case "--paired" -> paired = Path.of(arguments[i + 1]);
        case "--paired-clients" -> pairedClients = arguments[i + 1];
        case "--rounds" -> rounds = Integer.parseInt(arguments[i + 1]);
        default ->
            throw new IllegalArgumentException(arguments[i] + " is no option; " + USAGE.text());
      }
    }
    Path work = Files.createTempDirectory(disk, "lightmq-bench-");
    if (paired != null) {
      long each = (seconds == 0 ? PAIRED_SECONDS : seconds) * 1_000;
      return new Paired(work, paired, pairedClients, each).run(rounds) ? KEPT : BELOW;
    }
    Bench bench = new Bench(work, (seconds == 0 ? SECONDS : seconds) * 1_000);
    if (jndi != null) {
      bench.measureNamed(jndi);
    } else {
      bench.measureOwn(BrokerSetup.in(work));
    }
    return bench.below ? BELOW : KEPT;
  }

  private void measureOwn(BrokerSetup setup)
      throws IOException, JMSException, InterruptedException {
    try (BrokerProcess broker = BrokerProcess.start(setup)) {
      ConnectionFactory factory = new LightmqConnectionFactory(setup.uri());
      try (JMSContext context = factory.createContext()) {
        measure("LightMQ, process " + broker.pid(), factory, context.createQueue("bench"));
      }
    }
  }

  // Reads a file that the caller names on the command line.
  @SuppressWarnings("BanJNDI")
  private void measureNamed(Path jndi)
      throws IOException, NamingException, JMSException, InterruptedException {
    Properties environment = new Properties();
    try (InputStream in = Files.newInputStream(jndi)) {
      environment.load(in);
    }
    InitialContext names = new InitialContext(environment);
    ConnectionFactory factory = (ConnectionFactory) names.lookup("ConnectionFactory");
    measure(jndi.toString(), factory, (Queue) names.lookup("bench"));
  }

  private void measure(String provider, ConnectionFactory factory, Queue queue)
      throws IOException, JMSException, InterruptedException {
    System.out.printf(
        "%s; 1 KiB persistent messages, %d s each; machine = forced appends in %s%n",
        provider, millis / 1_000, disk);
    // Each kind warms up its own paths: on two cores a compiler that is still at work costs the
    // lone
    // sender, all of whose time is hand-offs, a third.
    new Throughput(factory, queue, millis).asynchronous();
    new Throughput(factory, queue, millis).synchronous(16);
    new Throughput(factory, queue, 2 * millis).synchronous(1);
    row("1 synchronous sender", 1, new Throughput(factory, queue, millis).synchronous(1), 0.3);
    row("16 synchronous senders", 16, new Throughput(factory, queue, millis).synchronous(16), 0.25);
    row("1,000 in flight", 256, new Throughput(factory, queue, millis).asynchronous(), 0.3);
  }

  private void row(String what, int waiters, double messages, double floor)
      throws IOException, InterruptedException {
    double machine = GroupCommit.perSecond(disk, waiters, millis);
    double ratio = messages / machine;
    below |= ratio < floor;
    System.out.printf(
        "%-24s %,10.0f msg/s   machine with %3d waiters %,10.0f /s   ratio %.2f (floor %.2f) %s%n",
        what, messages, waiters, machine, ratio, floor, ratio < floor ? "BELOW" : "ok");
  }
}
