package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Runs one fault scenario. Exit code 0: every promise was kept. 1: one was broken. 2: the harness
 * itself failed, which says nothing about the broker.
 */
public final class Faults {

  private static final String USAGE =
      """
      usage: faults.sh SCENARIO
        --kill ROUNDS [SEED]                SIGKILL under load
        --powercut ext4|xfs ROUNDS [SEED]   the file system loses its power (root, loop devices)
        --stop-client [SECONDS]             SIGSTOP of a client with messages in hand (60)
        --memory [MESSAGES]                 a backlog far above -Xmx128m (1,000,000)
        --memory --non-persistent [MESSAGES]  the same of messages that no disk keeps (1,000,000)
        --duplicates [MESSAGES] [SEED]      each tenth sent twice, consumer and broker killed (1,000,000)
        --at-most-once ROUNDS [SEED]        consumers that may lose but not repeat; client and broker killed
        --at-most-once ext4|xfs ROUNDS [SEED]  the same with power cuts
        --groups [MESSAGES] [SEED]          10,000 groups, eight consumers that come and go (1,000,000)
        --half-acked [MESSAGES]             every second, then all but 1 % acknowledged (1,000,000)
        --checkpoint-gap [SECONDS]          what 17 senders notice of checkpoints (30)
        --flood [CONNECTIONS] [SECONDS]     connections that send and never consume (200, 10)
      """;

  private final List<String> arguments;
  private final BrokerSetup setup;
  private final EventLog events;

  private Faults(List<String> arguments, BrokerSetup setup, EventLog events) {
    this.arguments = arguments;
    this.setup = setup;
    this.events = events;
  }

  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT);
    int code = 2;
    try {
      Path work = Files.createTempDirectory("lightmq-faults-");
      System.out.println("logs are in " + work);
      try (EventLog events = new EventLog(work.resolve("events.log"))) {
        int broken = new Faults(List.of(arguments), BrokerSetup.in(work), events).run();
        System.out.println(broken == 0 ? "all promises kept" : broken + " promises broken");
        code = broken == 0 ? 0 : 1;
      }
    } catch (HarnessException e) {
      System.out.println("HARNESS: " + e.getMessage());
    } catch (IOException | JMSException | RuntimeException e) {
      System.out.println("HARNESS: " + e);
      e.printStackTrace();
    } catch (InterruptedException e) {
      System.out.println("HARNESS: interrupted");
    }
    System.out.flush();
    System.exit(code);
  }

  private int run() throws HarnessException, IOException, JMSException, InterruptedException {
    return switch (argument(0, "")) {
      case "--kill" -> new KillRounds(setup, events, seed(2)).run(number(1, 10));
      case "--powercut" -> powerCuts(argument(1, ""));
      case "--stop-client" -> new StoppedClient(setup, number(1, 60)).run();
      case "--memory" ->
          argument(1, "").equals("--non-persistent")
              ? new VolatileBacklog(setup, number(2, 1_000_000)).run()
              : new MemoryLimit(setup, number(1, 1_000_000)).run();
      case "--duplicates" -> new DuplicateRounds(setup, number(1, 1_000_000), seed(2)).run();
      case "--at-most-once" -> atMostOnce(argument(1, ""));
      case "--groups" -> new GroupRounds(setup, number(1, 1_000_000), seed(2)).run();
      case "--half-acked" -> new HalfAcknowledged(setup, number(1, 1_000_000)).run();
      case "--checkpoint-gap" -> new CheckpointGap(setup, number(1, 30)).run();
      case "--flood" -> new Flood(setup, number(1, 200), number(2, 10)).run();
      default -> throw new HarnessException(USAGE);
    };
  }

  private static boolean isFileSystem(String word) {
    return word.equals("ext4") || word.equals("xfs");
  }

  private int atMostOnce(String type)
      throws HarnessException, IOException, JMSException, InterruptedException {
    if (!isFileSystem(type)) {
      return new AtMostOnce(setup, events, null, seed(2)).run(number(1, 10));
    }
    try (LoopDisk disk = LoopDisk.create(type, setup.work())) {
      BrokerSetup onDisk = setup.withData(disk.mountPoint().resolve("data"));
      return new AtMostOnce(onDisk, events, disk, seed(3)).run(number(2, 10));
    }
  }

  private int powerCuts(String type)
      throws HarnessException, IOException, JMSException, InterruptedException {
    if (!isFileSystem(type)) {
      throw new HarnessException("expected ext4 or xfs, found '" + type + "'\n" + USAGE);
    }
    try (LoopDisk disk = LoopDisk.create(type, setup.work())) {
      BrokerSetup onDisk = setup.withData(disk.mountPoint().resolve("data"));
      return new PowerCuts(onDisk, disk, events, seed(3)).run(number(2, 10));
    }
  }

  private String argument(int index, String otherwise) {
    return index < arguments.size() ? arguments.get(index) : otherwise;
  }

  private int number(int index, int otherwise) throws HarnessException {
    String text = argument(index, String.valueOf(otherwise));
    try {
      return Integer.parseInt(text.replace(",", ""));
    } catch (NumberFormatException e) {
      throw new HarnessException("expected a number, found '" + text + "'\n" + USAGE, e);
    }
  }

  /** The moments of the faults follow from the seed; what the machine does in between does not. */
  private long seed(int index) {
    long seed = index < arguments.size() ? Long.parseLong(arguments.get(index)) : System.nanoTime();
    System.out.println("seed " + seed);
    return seed;
  }
}
