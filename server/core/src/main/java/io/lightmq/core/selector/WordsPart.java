package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A part of more than 64 characters with {@code _} among them: the places that fit are several
 * words. A character that has places in less than half of the words keeps these words only, so that
 * the heap is bounded by the length of the part, however many characters it has that differ.
 */
final class WordsPart extends Part {
  private static final int ASCII = 128;

  private final int[] elements;

  /** The characters, rising. */
  private final int[] points;

  /** For each of the first 128 characters its number among the points, or -1. */
  private final short[] ascii = new short[ASCII];

  /** The places of {@code _}, where any character fits. */
  private final long[] anyPlaces;

  /** For each of the points all places where it fits, as bits; {@link #anyPlaces} if it has few. */
  private final long[][] rows;

  /** For each of the points where its few places begin, and behind the last where they end. */
  private final short[] starts;

  /** Few places: the number of a word, and the bits in it. */
  private final byte[] fewWords;

  private final long[] fewPlaces;

  WordsPart(int[] elements) {
    this.elements = elements;
    points = points(elements);
    Arrays.fill(ascii, (short) -1);
    for (int p = 0; p < points.length && points[p] < ASCII; p++) {
      ascii[points[p]] = (short) p;
    }
    int words = (elements.length + WORD - 1) / WORD;
    anyPlaces = new long[words];
    rows = new long[points.length][];
    starts = new short[points.length + 1];
    byte[] numbers = new byte[elements.length];
    long[] bits = new long[elements.length];
    int used = 0;
    int[] next = new int[elements.length];
    int[] firsts = chain(next);
    for (int p = 0; p < points.length; p++) {
      starts[p] = (short) used;
      int behind = used;
      for (int i = firsts[p]; i >= 0; i = next[i]) {
        if (behind == used || numbers[behind - 1] != i / WORD) {
          numbers[behind] = (byte) (i / WORD);
          bits[behind++] = 0;
        }
        bits[behind - 1] |= 1L << i;
      }
      rows[p] = anyPlaces;
      if (2 * (behind - used) >= words) {
        rows[p] = anyPlaces.clone();
        for (int i = used; i < behind; i++) {
          rows[p][numbers[i]] |= bits[i];
        }
      } else {
        used = behind;
      }
    }
    starts[points.length] = (short) used;
    fewWords = Arrays.copyOf(numbers, used);
    fewPlaces = Arrays.copyOf(bits, used);
  }

  /** Fills the places of {@code _}; the first place of each point, each leading to its next. */
  private int[] chain(int[] next) {
    int[] firsts = new int[points.length];
    Arrays.fill(firsts, -1);
    for (int i = elements.length - 1; i >= 0; i--) {
      if (elements[i] == Pattern.ONE) {
        anyPlaces[i / WORD] |= 1L << i;
      } else {
        int p = Arrays.binarySearch(points, elements[i]);
        next[i] = firsts[p];
        firsts[p] = i;
      }
    }
    return firsts;
  }

  @Override
  int steps() {
    return anyPlaces.length;
  }

  @Override
  int begins(ByteBuffer text, int from, int end) {
    return begins(elements, text, from, end);
  }

  @Override
  boolean ends(ByteBuffer text, int from, int end) {
    return ends(elements, text, from, end);
  }

  /** Bit {@code i} says that the elements up to the one of number {@code i} fit here. */
  @Override
  int find(ByteBuffer text, int from, int end) {
    long[] fit = new long[anyPlaces.length];
    long[] shifted = new long[anyPlaces.length];
    int last = fit.length - 1;
    long whole = 1L << (elements.length - 1);
    for (int at = from; at < end; ) {
      int width = width(text, at, end);
      int point = point(text, at, width);
      at += width;
      int p = point < ASCII ? ascii[point] : Arrays.binarySearch(points, point);
      if (p < 0 || starts[p] == starts[p + 1]) {
        step(fit, p < 0 ? anyPlaces : rows[p]);
      } else {
        stepFew(fit, shifted, p);
      }
      if ((fit[last] & whole) != 0) {
        return at;
      }
    }
    return -1;
  }

  private static void step(long[] fit, long[] row) {
    long carry = 1;
    for (int i = 0; i < fit.length; i++) {
      long above = fit[i] >>> (WORD - 1);
      fit[i] = ((fit[i] << 1) | carry) & row[i];
      carry = above;
    }
  }

  private void stepFew(long[] fit, long[] shifted, int p) {
    long carry = 1;
    for (int i = 0; i < fit.length; i++) {
      long above = fit[i] >>> (WORD - 1);
      shifted[i] = (fit[i] << 1) | carry;
      fit[i] = shifted[i] & anyPlaces[i];
      carry = above;
    }
    for (int i = starts[p]; i < starts[p + 1]; i++) {
      fit[fewWords[i]] |= shifted[fewWords[i]] & fewPlaces[i];
    }
  }
}
