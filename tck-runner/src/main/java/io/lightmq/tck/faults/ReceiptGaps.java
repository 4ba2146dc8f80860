package io.lightmq.tck.faults;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The times between consecutive receipts, split by whether a checkpoint ran: p99 and longest of
 * those outside, and the longest that touches a checkpoint.
 *
 * @param outside how many gaps touch no checkpoint
 * @param during how many touch one
 */
record ReceiptGaps(
    int outside,
    int during,
    long outsideP99Nanos,
    long outsideLongestNanos,
    long duringLongestNanos) {

  /** A stretch of time in which a checkpoint ran, or may have. */
  record Stretch(long fromNanos, long toNanos) {}

  /**
   * Splits the gaps of streams that are each ascending.
   *
   * @param streams times of receipts; gaps never reach from one stream into another
   */
  static ReceiptGaps of(List<long[]> streams, List<Stretch> checkpoints) {
    LongStream.Builder outside = LongStream.builder();
    int during = 0;
    long longestDuring = 0;
    for (long[] times : streams) {
      for (int i = 1; i < times.length; i++) {
        long from = times[i - 1];
        long to = times[i];
        boolean touches =
            checkpoints.stream().anyMatch(each -> from <= each.toNanos && to >= each.fromNanos);
        if (touches) {
          during++;
          longestDuring = Math.max(longestDuring, to - from);
        } else {
          outside.add(to - from);
        }
      }
    }
    long[] sorted = outside.build().sorted().toArray();
    int last = sorted.length - 1;
    return new ReceiptGaps(
        sorted.length,
        during,
        last < 0 ? 0 : sorted[(int) Math.min(last, sorted.length * 99L / 100)],
        last < 0 ? 0 : sorted[last],
        longestDuring);
  }

  /** All streams as one. */
  static long[] merge(List<long[]> streams) {
    long[] all = streams.stream().flatMapToLong(Arrays::stream).toArray();
    Arrays.sort(all);
    return all;
  }

  /** How many times the p99 outside the longest gap during a checkpoint is. */
  double ratio() {
    return (double) duringLongestNanos / Math.max(1, outsideP99Nanos);
  }

  @Override
  public String toString() {
    return "outside p99 %.2f ms (longest %.2f, %,d gaps), during checkpoints longest %.2f ms (%,d gaps), ratio %.1f"
        .formatted(
            outsideP99Nanos / 1e6,
            outsideLongestNanos / 1e6,
            outside,
            duringLongestNanos / 1e6,
            during,
            ratio());
  }
}
