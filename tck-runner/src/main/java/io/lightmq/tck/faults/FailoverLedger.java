package io.lightmq.tck.faults;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What went into a pipeline and what came out of it, by key: each input has one output, and those
 * of a key come in order. Safe for many threads.
 */
final class FailoverLedger {
  private static final int MOST_TEXTS = 20;

  private final int[] sent;
  private final int[] confirmed;
  private final int[] outputs;
  private final List<Set<Integer>> passedOver = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private int broken;

  FailoverLedger(int keys) {
    sent = new int[keys];
    confirmed = new int[keys];
    outputs = new int[keys];
    for (int key = 0; key < keys; key++) {
      passedOver.add(new HashSet<>());
    }
  }

  int keys() {
    return sent.length;
  }

  /** The number of the key's next input, counted from 1; it may be sent any number of times. */
  synchronized int next(int key) {
    return ++sent[key];
  }

  /** The broker has promised to keep it. */
  synchronized void confirmed(int key, int number) {
    if (number > sent[key] || number != confirmed[key] + 1) {
      throw new IllegalStateException(
          number + " of key " + key + " is confirmed behind " + confirmed[key]);
    }
    confirmed[key] = number;
  }

  synchronized long confirmed() {
    long all = 0;
    for (int each : confirmed) {
      all += each;
    }
    return all;
  }

  /** An output lies in the last queue. */
  synchronized void output(int key, int number) {
    if (number < 1 || number > sent[key]) {
      broken("%d of key %d comes out and never went in", number, key);
    } else if (passedOver.get(key).remove(number)) {
      broken("%d of key %d comes out behind %d", number, key, outputs[key]);
    } else if (number <= outputs[key]) {
      broken("%d of key %d comes out twice", number, key);
    } else {
      for (int missing = outputs[key] + 1; missing < number; missing++) {
        passedOver.get(key).add(missing);
      }
      outputs[key] = number;
    }
  }

  synchronized long outputs() {
    long all = 0;
    for (int key = 0; key < outputs.length; key++) {
      all += outputs[key] - passedOver.get(key).size();
    }
    return all;
  }

  /** Whether all that was confirmed has come out. */
  synchronized boolean isComplete() {
    for (int key = 0; key < outputs.length; key++) {
      if (outputs[key] < confirmed[key] || !passedOver.get(key).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Nothing comes any more: what was confirmed and has not come out is lost. */
  synchronized void finish() {
    for (int key = 0; key < outputs.length; key++) {
      for (int missing : passedOver.get(key)) {
        broken("%d of key %d never came out", missing, key);
      }
      for (int missing = outputs[key] + 1; missing <= confirmed[key]; missing++) {
        broken("%d of key %d never came out", missing, key);
      }
    }
  }

  /** Another promise of the run is broken. */
  synchronized void broken(String format, Object... arguments) {
    String text = format.formatted(arguments);
    broken++;
    if (violations.size() < MOST_TEXTS) {
      violations.add(text);
      System.out.println("  BROKEN  " + text);
    }
  }

  synchronized int brokenCount() {
    return broken;
  }

  /** The first of them. */
  synchronized List<String> violations() {
    return List.copyOf(violations);
  }
}
