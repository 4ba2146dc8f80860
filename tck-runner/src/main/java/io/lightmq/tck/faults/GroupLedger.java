package io.lightmq.tck.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What consumers did with messages that have a key and count up for each key: nobody may work on a
 * key of which another one has something in hand, each count follows the one before it, but for
 * what comes again, flagged, and what was confirmed never comes again. Any thread.
 */
final class GroupLedger {
  private static final int MOST_VIOLATIONS = 20;

  private final int[] holders;
  private final int[] current;
  private final int[] highest;
  private final int[] confirmed;
  private final List<String> violations = new ArrayList<>();
  private int processed;
  private int again;

  GroupLedger(int keys) {
    holders = new int[keys];
    current = new int[keys];
    highest = new int[keys];
    confirmed = new int[keys];
  }

  /**
   * A consumer begins with a message; until {@link #released} the key is its own.
   *
   * @param consumer above 0, never the same twice
   * @param count from 1 for each key
   */
  synchronized void begun(int consumer, int key, int count, boolean redelivered) {
    if (holders[key] != 0 && holders[key] != consumer) {
      violated(
          "consumer %d gets %d of key %d, which is in the hands of consumer %d",
          consumer, count, key, holders[key]);
    }
    holders[key] = consumer;
    int before = current[key];
    current[key] = count;
    if (count > before + 1) {
      violated("consumer %d gets %d of key %d after %d", consumer, count, key, before);
    } else if (count <= before && !redelivered) {
      violated("consumer %d gets %d of key %d again, without flag", consumer, count, key);
    }
    if (count <= confirmed[key]) {
      violated("consumer %d gets %d of key %d, which was confirmed", consumer, count, key);
    }
    if (count > highest[key]) {
      highest[key] = count;
      processed++;
    } else {
      again++;
    }
  }

  /** The consumer's next call may let others have these keys. */
  synchronized void released(int consumer, Map<Integer, Integer> held) {
    for (int key : held.keySet()) {
      holders[key] = holders[key] == consumer ? 0 : holders[key];
    }
  }

  /**
   * Messages were given back for sure: of each key all from a count on, which come again in order.
   * To be called before the broker may give them out again.
   */
  synchronized void givenBack(Map<Integer, Integer> lowest) {
    lowest.forEach((key, count) -> current[key] = count - 1);
  }

  /** Messages are acknowledged for sure: of each key all up to a count. */
  synchronized void confirmed(Map<Integer, Integer> held) {
    held.forEach((key, count) -> confirmed[key] = Math.max(confirmed[key], count));
  }

  private void violated(String format, Object... facts) {
    if (violations.size() < MOST_VIOLATIONS) {
      violations.add(format.formatted(facts));
    }
  }

  /** How many different messages were processed. */
  synchronized int processed() {
    return processed;
  }

  /** How many came again. */
  synchronized int again() {
    return again;
  }

  /** How far a key has come. */
  synchronized int highest(int key) {
    return highest[key];
  }

  synchronized List<String> violations() {
    return List.copyOf(violations);
  }
}
