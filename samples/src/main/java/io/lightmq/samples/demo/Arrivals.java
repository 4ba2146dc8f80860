package io.lightmq.samples.demo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What came out of one subscription, as its listeners saw it.
 *
 * <p>It judges at once what only the moment shows (order, flags, gaps) and keeps a hash per line
 * for the comparison at the end.
 */
final class Arrivals {

  private static final int KEPT_FACTS = 20;

  /**
   * Lines that were jumped over: {@code after} was the last one before them, {@code at} the next.
   */
  record Gap(int after, int at, boolean afterKill) {
    int lines() {
      return at - after - 1;
    }
  }

  private final String name;
  private final BitSet seen = new BitSet();
  private final Map<String, Integer> newestOfListener = new HashMap<>();
  private final List<Gap> gaps = new ArrayList<>();
  private final List<String> facts = new ArrayList<>();
  private final Latencies latencies = new Latencies();
  private long[] hashes = new long[1 << 10];
  private int newest;
  private boolean killed;
  private boolean restarted;
  private boolean seenSinceRestart;
  private long deliveries;
  private long redelivered;
  private long unflagged;
  private long changed;
  private long disordered;
  private long unnumbered;

  Arrivals(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }

  /** From now on the broker is dead, so that a gap may be its absence. */
  synchronized void killed() {
    killed = true;
  }

  /** The broker is there again; what comes now, it has sent. */
  synchronized void restarted() {
    restarted = true;
  }

  /** One delivery to one listener; a number below 1 stands for a message that we never sent. */
  synchronized void arrived(
      String listener, int number, long hash, boolean flagged, long latencyMillis) {
    deliveries++;
    seenSinceRestart |= restarted;
    if (number < 1) {
      unnumbered++;
      fact("a message without a line number came to " + listener);
      return;
    }
    latencies.add(latencyMillis);
    if (flagged) {
      redelivered++;
    }
    if (seen.get(number)) {
      repeated(listener, number, hash, flagged);
    } else {
      first(listener, number, hash, flagged);
    }
  }

  private void repeated(String listener, int number, long hash, boolean flagged) {
    if (!flagged) {
      unflagged++;
      fact("line %,d came again to %s without JMSRedelivered".formatted(number, listener));
    }
    if (hashes[number] != hash) {
      changed++;
      fact("line %,d came twice with different content".formatted(number));
    }
  }

  private void first(String listener, int number, long hash, boolean flagged) {
    seen.set(number);
    if (number >= hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.max(number + 1, 2 * hashes.length));
    }
    hashes[number] = hash;
    if (flagged) {
      return;
    }
    int before = newestOfListener.getOrDefault(listener, 0);
    if (number < before) {
      disordered++;
      fact("line %,d came to %s after line %,d".formatted(number, listener, before));
    } else {
      newestOfListener.put(listener, number);
    }
    if (number > newest + 1) {
      gaps.add(new Gap(newest, number, killed));
    }
    newest = Math.max(newest, number);
  }

  private void fact(String text) {
    if (facts.size() < KEPT_FACTS) {
      facts.add(name + ": " + text);
    }
  }

  /** Different lines that came. */
  synchronized int processed() {
    return seen.cardinality();
  }

  synchronized boolean seenSinceRestart() {
    return seenSinceRestart;
  }

  synchronized boolean hasSeen(int number) {
    return seen.get(number);
  }

  synchronized long hash(int number) {
    return hashes[number];
  }

  synchronized long deliveries() {
    return deliveries;
  }

  synchronized long redelivered() {
    return redelivered;
  }

  synchronized long unflagged() {
    return unflagged;
  }

  synchronized long changed() {
    return changed;
  }

  synchronized long disordered() {
    return disordered;
  }

  synchronized long unnumbered() {
    return unnumbered;
  }

  /** The highest line number that came first and unflagged. */
  synchronized int newest() {
    return newest;
  }

  /** The highest line number that came at all. */
  synchronized int highest() {
    return seen.length() - 1;
  }

  /** Only meaningful for a subscription with one listener. */
  synchronized List<Gap> gaps() {
    return List.copyOf(gaps);
  }

  synchronized List<String> facts() {
    return List.copyOf(facts);
  }

  synchronized long percentileMillis(int percent) {
    return latencies.percentileMillis(percent);
  }
}
