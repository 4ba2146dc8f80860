package io.lightmq.samples.demo;

/**
 * A histogram of milliseconds: exact below 1,024, then 64 steps for each doubling, which is within
 * 2 percent.
 */
final class Latencies {

  private static final int EXACT = 1024;
  private static final int STEPS = 64;
  private static final int DOUBLINGS = 20;

  private final long[] counts = new long[EXACT + STEPS * DOUBLINGS];
  private long total;

  void add(long millis) {
    counts[slot(Math.max(0, millis))]++;
    total++;
  }

  /** The smallest time that so many percent of all do not exceed; 0 when there are none. */
  long percentileMillis(int percent) {
    long wanted = (total * percent + 99) / 100;
    long passed = 0;
    for (int slot = 0; slot < counts.length && wanted > 0; slot++) {
      passed += counts[slot];
      if (passed >= wanted) {
        return millis(slot);
      }
    }
    return 0;
  }

  private static int slot(long millis) {
    if (millis < EXACT) {
      return (int) millis;
    }
    int doubling = 63 - Long.numberOfLeadingZeros(millis / EXACT);
    if (doubling >= DOUBLINGS) {
      return EXACT + STEPS * DOUBLINGS - 1;
    }
    long base = (long) EXACT << doubling;
    return EXACT + doubling * STEPS + (int) ((millis - base) * STEPS / base);
  }

  private static long millis(int slot) {
    if (slot < EXACT) {
      return slot;
    }
    int doubling = (slot - EXACT) / STEPS;
    long base = (long) EXACT << doubling;
    return base + base * ((slot - EXACT) % STEPS) / STEPS;
  }
}
