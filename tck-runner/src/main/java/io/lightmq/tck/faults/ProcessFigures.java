package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a broker process occupies.
 *
 * @param heapBytes live heap after a full collection
 * @param directBytes direct memory, as the broker's metrics tell it
 * @param residentBytes resident set of the process
 */
record ProcessFigures(long heapBytes, long directBytes, long residentBytes) {

  private static final String DIRECT_METRIC = "lightmq_direct_total_bytes";
  private static final Pattern USED = Pattern.compile("total (\\d+)K, used (\\d+)K");
  private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");

  /** Measures after a full collection. */
  static ProcessFigures afterCollection(BrokerProcess broker)
      throws HarnessException, IOException, InterruptedException {
    return new ProcessFigures(liveHeap(broker.pid()), directBytes(broker), residentBytes(broker));
  }

  /** Live heap of any Java process after a full collection, in bytes. */
  static long liveHeap(long pid) throws HarnessException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    Shell.run(jcmd, String.valueOf(pid), "GC.run");
    return usedHeap(Shell.run(jcmd, String.valueOf(pid), "GC.heap_info"));
  }

  /** The sum of the heap's generations in the words of {@code jcmd GC.heap_info}. */
  static long usedHeap(String heapInfo) {
    int metaspace = heapInfo.indexOf("Metaspace");
    String heap = metaspace < 0 ? heapInfo : heapInfo.substring(0, metaspace);
    Matcher matcher = USED.matcher(heap);
    long kibibytes = 0;
    while (matcher.find()) {
      kibibytes += Long.parseLong(matcher.group(2));
    }
    return kibibytes << 10;
  }

  /** Direct memory of the broker in bytes. */
  static long directBytes(BrokerProcess broker)
      throws HarnessException, IOException, InterruptedException {
    BrokerMetrics metrics = BrokerMetrics.of(broker.setup());
    if (!metrics.has(DIRECT_METRIC)) {
      throw new HarnessException("/metrics has no " + DIRECT_METRIC);
    }
    return (long) metrics.sum(DIRECT_METRIC, "");
  }

  /** Resident set of the broker in bytes. */
  static long residentBytes(BrokerProcess broker) throws HarnessException, IOException {
    Matcher matcher =
        RESIDENT.matcher(Files.readString(Path.of("/proc/" + broker.pid() + "/status")));
    if (!matcher.find()) {
      throw new HarnessException("no VmRSS of process " + broker.pid());
    }
    return Long.parseLong(matcher.group(1)) << 10;
  }

  @Override
  public String toString() {
    return "heap after GC %,d KiB, direct %,d KiB, RSS %,d KiB"
        .formatted(heapBytes >> 10, directBytes >> 10, residentBytes >> 10);
  }
}
