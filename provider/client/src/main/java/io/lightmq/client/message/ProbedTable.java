package io.lightmq.client.message;

import java.util.Arrays;

/**
 * What it costs to fill a table of {@code Set.of} or {@code Map.of}: each key goes to its hash
 * modulo twice as many places as there are keys, or to the next free one. Whoever chooses the keys
 * chooses how far that is. A text's hash is in its bytes; nobody has to make the text to know it.
 */
final class ProbedTable {
  private final int[] hashes;
  private int known;
  private int others;

  /** For at most so many keys. */
  ProbedTable(int keys) {
    hashes = new int[keys];
  }

  /**
   * A key that is a text, in the modified UTF-8 of a serialised object, which may be any bytes.
   *
   * @param at where it begins
   */
  void text(byte[] bytes, int at, int length) {
    int hash = 0;
    int end = at + length;
    for (int i = at; i < end; i++) {
      int first = bytes[i] & 0xFF;
      int unit = first;
      if (first >= 0xE0 && i + 2 < end) {
        unit = (first & 0x0F) << 12 | (bytes[i + 1] & 0x3F) << 6 | (bytes[i + 2] & 0x3F);
        i += 2;
      } else if (first >= 0xC0 && i + 1 < end) {
        unit = (first & 0x1F) << 6 | (bytes[i + 1] & 0x3F);
        i++;
      }
      hash = 31 * hash + unit;
    }
    hashes[known++] = hash;
  }

  /** A key whose hash is not known and may be any. */
  void other() {
    others++;
  }

  /** How many there are. */
  int keys() {
    return known + others;
  }

  /** The places that are looked at in vain, at most. */
  long steps() {
    long places = 2L * keys();
    int[] at = new int[known];
    for (int i = 0; i < known; i++) {
      at[i] = (int) Math.floorMod((long) hashes[i], places);
    }
    Arrays.sort(at);
    long steps = 0;
    long free = 0;
    // Who goes where is another matter, but all together go as far as in the order of the places.
    for (int round = 0; round < 2; round++) {
      steps = 0;
      free = round == 0 ? 0 : Math.max(0, free - places);
      for (int each : at) {
        free = Math.max(free, each);
        steps += free - each;
        free++;
      }
    }
    return steps + (long) others * keys();
  }
}
