package io.lightmq.samples.bench;

import java.util.List;

/**
 * The median of ratios that were measured in pairs, with the interval that holds the true one in at
 * least 95 of 100 cases.
 *
 * <p>The interval lies between two of the measured values, the lowest and highest that the sign
 * test leaves: whether a ratio is above the true median is the toss of a coin, whatever the machine
 * does to the figures. Nothing is assumed about their distribution.
 *
 * @param median of the ratios
 * @param low lower end of its interval
 * @param high upper end of its interval
 */
record MedianRatio(double median, double low, double high) {

  /** With fewer no two values enclose the median in 95 of 100 cases. */
  static final int MIN_PAIRS = 6;

  private static final double OUTSIDE = 0.05;
  private static final double AS_BEFORE = 0.98;
  private static final double FAILED = 0.95;

  /** What a ratio of speeds, this build's to the other's, says. */
  enum Verdict {
    /** Not slower as far as the figures tell. */
    AS_BEFORE,
    /** Slower, by less than what fails. */
    SLOWER,
    FAILED
  }

  /** From the ratios of all pairs, in any order. */
  static MedianRatio of(List<Double> ratios) {
    int count = ratios.size();
    if (count < MIN_PAIRS) {
      throw new IllegalArgumentException(
          "%d pairs are too few for an interval, it needs %d".formatted(count, MIN_PAIRS));
    }
    List<Double> sorted = ratios.stream().sorted().toList();
    double median = (sorted.get((count - 1) / 2) + sorted.get(count / 2)) / 2;
    int left = leftOut(count);
    return new MedianRatio(median, sorted.get(left), sorted.get(count - 1 - left));
  }

  /** How many values at each end lie outside: as many as so few heads in so many tosses allow. */
  static int leftOut(int count) {
    double chance = Math.pow(0.5, count);
    double below = 0;
    int left = 0;
    while (2 * (below + chance) <= OUTSIDE) {
      below += chance;
      chance = chance * (count - left) / (left + 1);
      left++;
    }
    // So many values or fewer below the median are too rare; the next one is the interval's end.
    return left - 1;
  }

  Verdict verdict() {
    if (median >= AS_BEFORE || (low <= 1 && 1 <= high)) {
      return Verdict.AS_BEFORE;
    }
    return median < FAILED ? Verdict.FAILED : Verdict.SLOWER;
  }
}
