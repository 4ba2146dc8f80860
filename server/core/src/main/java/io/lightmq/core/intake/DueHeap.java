package io.lightmq.core.intake;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Arrays;

/**
 * Sequences by due time, earliest first, at one time by sequence: 12 bytes of heap each, in two
 * arrays that grow and shrink with what is in them.
 */
@OwnedBy("shard")
public final class DueHeap {
  private static final int FEW = 16;

  /** Milliseconds since the hour began, shifted by 8, and the lane's code. */
  private int[] keys = new int[FEW];

  private long[] sequences = new long[FEW];
  private int size;

  int size() {
    return size;
  }

  /** Adds a message that is due so long after the hour's beginning. */
  void add(int dueMillis, int lane, long sequence) {
    if (size == keys.length) {
      resize(size * 2);
    }
    keys[size] = (dueMillis << 8) | lane;
    sequences[size] = sequence;
    int at = size++;
    while (at > 0 && isBefore(at, (at - 1) / 2)) {
      swap(at, (at - 1) / 2);
      at = (at - 1) / 2;
    }
  }

  /** When the first is due, in milliseconds since the hour began. */
  int dueMillis() {
    return keys[0] >>> 8;
  }

  /** The lane of the first. */
  public int lane() {
    return keys[0] & 0xFF;
  }

  /** The sequence of the first. */
  public long sequence() {
    return sequences[0];
  }

  /** Takes the first away. */
  public void remove() {
    size--;
    keys[0] = keys[size];
    sequences[0] = sequences[size];
    int at = 0;
    while (true) {
      int first = at;
      for (int child = 2 * at + 1; child <= 2 * at + 2 && child < size; child++) {
        first = isBefore(child, first) ? child : first;
      }
      if (first == at) {
        break;
      }
      swap(at, first);
      at = first;
    }
    if (size > FEW && size < keys.length / 4) {
      resize(keys.length / 2);
    }
  }

  private boolean isBefore(int one, int other) {
    int byTime = Integer.compare(keys[one] >>> 8, keys[other] >>> 8);
    return byTime != 0 ? byTime < 0 : sequences[one] < sequences[other];
  }

  private void swap(int one, int other) {
    int key = keys[one];
    long sequence = sequences[one];
    keys[one] = keys[other];
    sequences[one] = sequences[other];
    keys[other] = key;
    sequences[other] = sequence;
  }

  private void resize(int capacity) {
    keys = Arrays.copyOf(keys, capacity);
    sequences = Arrays.copyOf(sequences, capacity);
  }
}
