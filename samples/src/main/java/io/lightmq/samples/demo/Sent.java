package io.lightmq.samples.demo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * What was handed to one destination: a hash per line number, which of them are confirmed, and
 * which failed. The sender and the client's callback threads write to it.
 */
final class Sent {

  private static final int KEPT_FAILURES = 20;

  private final List<String> failures = new ArrayList<>();
  private final BitSet confirmedLines = new BitSet();
  private long[] hashes = new long[1 << 10];
  private int count;
  private long failed;

  /** The number of the line about to be sent, from 1. */
  synchronized int add(long hash) {
    count++;
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * hashes.length);
    }
    hashes[count] = hash;
    return count;
  }

  synchronized void confirm(int number) {
    confirmedLines.set(number);
  }

  synchronized void fail(int number, String why) {
    failed++;
    if (failures.size() < KEPT_FAILURES) {
      failures.add("sending line %,d failed: %s".formatted(number, why));
    }
  }

  synchronized int count() {
    return count;
  }

  synchronized int confirmed() {
    return confirmedLines.cardinality();
  }

  synchronized boolean isConfirmed(int number) {
    return confirmedLines.get(number);
  }

  synchronized long hash(int number) {
    return hashes[number];
  }

  synchronized long failed() {
    return failed;
  }

  /** Sends whose end is not known yet. */
  synchronized long open() {
    return count - confirmedLines.cardinality() - failed;
  }

  synchronized List<String> failures() {
    return List.copyOf(failures);
  }
}
