package io.lightmq.samples.bench;

import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * This build beside another one on the same machine. Each build has a broker and a client process,
 * new ones every few rounds, because no two Java processes compile the same code in the same way.
 * They are warmed up with all loads first: in its first half minute a Java process works mostly for
 * its compilers, and a measurement there compares how much code the builds have. In a round each
 * load runs on both, in the order ABBA, because a machine is not the same a minute later.
 */
final class Paired {

  private static final long WARM_UP_MILLIS = 20_000;
  private static final int ROUNDS_OF_A_PROCESS = 5;

  private final Path work;
  private final Path otherHome;
  private final String otherClients;
  private final long millis;

  /**
   * A comparison.
   *
   * @param otherHome the other build's server, with {@code bin/lightmq}
   * @param otherClients class path of the other build's client; empty for this build's
   */
  Paired(Path work, Path otherHome, String otherClients, long millis) {
    this.work = work;
    this.otherHome = otherHome;
    this.otherClients = otherClients;
    this.millis = millis;
  }

  /** Prints the ratios; false if this build is slower in a load than it may be. */
  boolean run(int rounds) throws IOException, InterruptedException {
    if (rounds < MedianRatio.MIN_PAIRS) {
      throw new IllegalArgumentException(
          "%d rounds are too few, at least %d give an interval"
              .formatted(rounds, MedianRatio.MIN_PAIRS));
    }
    Map<PairedLoad, List<Double>> ratios = new EnumMap<>(PairedLoad.class);
    for (int first = 1; first <= rounds; first += ROUNDS_OF_A_PROCESS) {
      rounds(first, Math.min(rounds, first + ROUNDS_OF_A_PROCESS - 1), ratios);
    }
    boolean kept = true;
    for (PairedLoad load : PairedLoad.values()) {
      MedianRatio ratio = MedianRatio.of(of(load, ratios));
      kept &= ratio.verdict() != MedianRatio.Verdict.FAILED;
      System.out.printf(
          "%-24s this/other %.3f, in 95 of 100 cases %.3f to %.3f   %s%n",
          load.title(),
          ratio.median(),
          ratio.low(),
          ratio.high(),
          switch (ratio.verdict()) {
            case AS_BEFORE -> "as before";
            case SLOWER -> "slower";
            case FAILED -> "TOO SLOW";
          });
    }
    return kept;
  }

  private static List<Double> of(PairedLoad load, Map<PairedLoad, List<Double>> ratios) {
    return ratios.computeIfAbsent(load, any -> new ArrayList<>());
  }

  private void rounds(int first, int last, Map<PairedLoad, List<Double>> ratios)
      throws IOException, InterruptedException {
    Path folder = work.resolve("rounds-from-" + first);
    BrokerSetup mine = BrokerSetup.in(folder.resolve("this"));
    BrokerSetup others = BrokerSetup.in(folder.resolve("other")).withHome(otherHome);
    String classPath = System.getProperty("java.class.path");
    try (BrokerProcess broker = BrokerProcess.start(mine);
        BrokerProcess other = BrokerProcess.start(others);
        LoadClient client = LoadClient.start(broker.setup().uri(), classPath);
        LoadClient otherClient = LoadClient.start(other.setup().uri(), otherClassPath(classPath))) {
      warmUp(client, otherClient);
      for (int round = first; round <= last; round++) {
        for (PairedLoad load : PairedLoad.values()) {
          of(load, ratios).add(ratio(round, load, client, otherClient));
        }
      }
    }
    delete(folder);
  }

  @SuppressWarnings("EnumOrdinal") // any number of its own will do
  private double ratio(int round, PairedLoad load, LoadClient client, LoadClient otherClient)
      throws IOException {
    boolean first = (round + load.ordinal()) % 2 == 0; // neither is always outside
    LoadClient a = first ? client : otherClient;
    LoadClient b = first ? otherClient : client;
    double outer = a.perSecond(load, millis / 2);
    double inner = b.perSecond(load, millis / 2) + b.perSecond(load, millis / 2);
    outer += a.perSecond(load, millis / 2);
    double here = (first ? outer : inner) / 2;
    double there = (first ? inner : outer) / 2;
    System.out.printf(
        "round %2d  %-24s this %,10.0f /s   other %,10.0f /s   ratio %.3f%n",
        round, load.title(), here, there, here / there);
    return here / there;
  }

  private static void warmUp(LoadClient client, LoadClient otherClient) throws IOException {
    for (PairedLoad load : PairedLoad.values()) {
      client.perSecond(load, WARM_UP_MILLIS);
      otherClient.perSecond(load, WARM_UP_MILLIS);
    }
  }

  private String otherClassPath(String classPath) throws IOException {
    if (otherClients.isEmpty()) {
      return classPath;
    }
    try {
      Path loads =
          Path.of(Paired.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return loads + File.pathSeparator + otherClients;
    } catch (URISyntaxException e) {
      throw new IOException("cannot tell where the loads' classes are", e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
