package io.lightmq.tck.faults;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the consumers of one subscription got and settled. It notes at once what only the moment
 * shows: missing flags, wrong order, a delivery after a confirmed acknowledgement.
 */
final class DeliveryLog {

  private static final int KEPT_FACTS = 20;

  private final String target;
  private final boolean competing;
  private final Map<Integer, BitSet> seen = new HashMap<>();
  private final Map<Integer, BitSet> settled = new HashMap<>();
  private final Map<Integer, BitSet> owed = new HashMap<>();
  private final Map<String, Map<Integer, BitSet>> held = new HashMap<>();
  private final Map<Integer, long[]> stored = new HashMap<>();
  private final Map<String, Integer> newest = new HashMap<>();
  private final List<String> facts = new ArrayList<>();
  private int factCount;
  private long deliveries;
  private long repeated;
  private long flaggedFirst;
  private long overtaken;
  private volatile long lastDeliveryNanos = System.nanoTime();

  private DeliveryLog(String target, boolean competing) {
    this.target = target;
    this.competing = competing;
  }

  /** The log of a subscription with one consumer, which gets everything in order. */
  static DeliveryLog single(String target) {
    return new DeliveryLog(target, false);
  }

  /**
   * The log of a queue with competing consumers: what one gives back without having looked at it
   * comes to another one late and unflagged, so that order is only counted.
   */
  static DeliveryLog competing(String target) {
    return new DeliveryLog(target, true);
  }

  String target() {
    return target;
  }

  /** A message whose content does not belong to any stamp. */
  synchronized void foreign(String consumer, int bytes) {
    fact("%s got %,d bytes that nobody sent".formatted(consumer, bytes));
  }

  /**
   * One delivery.
   *
   * @param storedMillis when the broker stored it, which tells one that is stored twice from one
   *     that is given out twice
   */
  synchronized void delivered(String consumer, Stamp stamp, boolean flagged, long storedMillis) {
    deliveries++;
    lastDeliveryNanos = System.nanoTime();
    BitSet ofStream = seen.computeIfAbsent(stamp.stream(), stream -> new BitSet());
    boolean again = ofStream.get(stamp.number());
    ofStream.set(stamp.number());
    owed.getOrDefault(stamp.stream(), new BitSet(0)).clear(stamp.number());
    hold(consumer, stamp);
    long[] times = timesOf(stamp);
    if (again) {
      repeated++;
      if (!flagged) {
        fact("%s came again to %s without JMSRedelivered".formatted(stamp, consumer));
      }
      if (times[stamp.number()] != storedMillis) {
        fact(
            "%s was stored twice, %,d ms apart"
                .formatted(stamp, storedMillis - times[stamp.number()]));
      }
    } else if (flagged) {
      flaggedFirst++;
    }
    times[stamp.number()] = storedMillis;
    if (has(settled, stamp)) {
      fact("%s came to %s after its acknowledgement was confirmed".formatted(stamp, consumer));
    }
    if (!again && !flagged) {
      order(consumer, stamp);
    }
  }

  /** Makes the consumer the only holder of the message. */
  private void hold(String consumer, Stamp stamp) {
    for (Map<Integer, BitSet> other : held.values()) {
      other.getOrDefault(stamp.stream(), new BitSet(0)).clear(stamp.number());
    }
    held.computeIfAbsent(consumer, name -> new HashMap<>())
        .computeIfAbsent(stamp.stream(), stream -> new BitSet())
        .set(stamp.number());
  }

  private long[] timesOf(Stamp stamp) {
    long[] times = stored.getOrDefault(stamp.stream(), new long[1 << 10]);
    if (stamp.number() >= times.length) {
      times = Arrays.copyOf(times, Math.max(stamp.number() + 1, 2 * times.length));
    }
    stored.put(stamp.stream(), times);
    return times;
  }

  private void order(String consumer, Stamp stamp) {
    int before = newest.getOrDefault(consumer + stamp.stream(), 0);
    if (stamp.number() < before && competing) {
      overtaken++;
    } else if (stamp.number() < before) {
      fact("%s came to %s after %d/%d".formatted(stamp, consumer, stamp.stream(), before));
    } else {
      newest.put(consumer + stamp.stream(), stamp.number());
    }
  }

  /** The broker has confirmed the acknowledgement or commit that covers these messages. */
  synchronized void settled(List<Stamp> stamps) {
    for (Stamp stamp : stamps) {
      settled.computeIfAbsent(stamp.stream(), stream -> new BitSet()).set(stamp.number());
    }
  }

  /**
   * The consumer was told that these messages are not settled: each of them must come again, unless
   * it came to another consumer before this one could say so.
   */
  synchronized void returned(String consumer, List<Stamp> stamps) {
    Map<Integer, BitSet> ofConsumer = held.getOrDefault(consumer, Map.of());
    for (Stamp stamp : stamps) {
      if (has(ofConsumer, stamp) && !has(settled, stamp)) {
        owed.computeIfAbsent(stamp.stream(), stream -> new BitSet()).set(stamp.number());
      }
    }
  }

  private static boolean has(Map<Integer, BitSet> numbers, Stamp stamp) {
    return numbers.getOrDefault(stamp.stream(), new BitSet(0)).get(stamp.number());
  }

  private void fact(String text) {
    factCount++;
    if (facts.size() < KEPT_FACTS) {
      facts.add(target + ": " + text);
    }
  }

  synchronized boolean hasSeen(int stream, int number) {
    return seen.getOrDefault(stream, new BitSet(0)).get(number);
  }

  /** A copy of the set of numbers of that stream that came. */
  synchronized BitSet seenNumbers(int stream) {
    return (BitSet) seen.getOrDefault(stream, new BitSet(0)).clone();
  }

  /** A copy of the set of numbers of that stream that were given back and have not come again. */
  synchronized BitSet owedNumbers(int stream) {
    return (BitSet) owed.getOrDefault(stream, new BitSet(0)).clone();
  }

  /** The highest number of that stream that came. */
  synchronized int highest(int stream) {
    return seen.getOrDefault(stream, new BitSet(0)).length() - 1;
  }

  synchronized long deliveries() {
    return deliveries;
  }

  synchronized long repeated() {
    return repeated;
  }

  /** First deliveries that were flagged: allowed, but worth a look when there are many. */
  synchronized long flaggedFirst() {
    return flaggedFirst;
  }

  /** First deliveries that came after a later message of their producer. */
  synchronized long overtaken() {
    return overtaken;
  }

  synchronized int factCount() {
    return factCount;
  }

  synchronized List<String> facts() {
    return List.copyOf(facts);
  }

  long lastDeliveryNanos() {
    return lastDeliveryNanos;
  }
}
