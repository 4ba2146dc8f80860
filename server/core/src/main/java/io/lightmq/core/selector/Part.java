package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The characters of a pattern between two {@code %}, some of which may be {@code _}. Looking for it
 * takes, for each character of the text, a constant number of steps; with {@code _} among them, one
 * step for each 64 characters of the part. So no text makes it go back.
 */
final class Part {
  private static final int WORD = 64;

  private final int[] elements;

  /**
   * Without {@code _}: how many of the first elements still fit if the one behind {@code i} of them
   * does not (Knuth, Morris, Pratt). Empty with one.
   */
  private final int[] fallbacks;

  /** With {@code _}: the characters, rising, and for each the places where it fits, as bits. */
  private final int[] points;

  private final long[][] places;

  /** The places of {@code _}, where any character fits. */
  private final long[] anyPlaces;

  Part(int[] elements) {
    this.elements = elements;
    boolean literal = Arrays.stream(elements).noneMatch(each -> each == Pattern.ONE);
    this.fallbacks = literal ? fallbacks(elements) : new int[0];
    this.points =
        literal
            ? new int[0]
            : Arrays.stream(elements)
                .filter(each -> each != Pattern.ONE)
                .distinct()
                .sorted()
                .toArray();
    this.anyPlaces = new long[literal ? 0 : (elements.length + WORD - 1) / WORD];
    this.places = new long[points.length][];
    if (!literal) {
      place();
    }
  }

  private static int[] fallbacks(int[] elements) {
    int[] fallbacks = new int[elements.length + 1];
    int fit = 0;
    for (int i = 1; i < elements.length; i++) {
      while (fit > 0 && elements[i] != elements[fit]) {
        fit = fallbacks[fit];
      }
      fit += elements[i] == elements[fit] ? 1 : 0;
      fallbacks[i + 1] = fit;
    }
    return fallbacks;
  }

  private void place() {
    for (int i = 0; i < elements.length; i++) {
      if (elements[i] == Pattern.ONE) {
        anyPlaces[i / WORD] |= 1L << i;
      }
    }
    for (int p = 0; p < points.length; p++) {
      places[p] = anyPlaces.clone();
    }
    for (int i = 0; i < elements.length; i++) {
      if (elements[i] != Pattern.ONE) {
        places[Arrays.binarySearch(points, elements[i])][i / WORD] |= 1L << i;
      }
    }
  }

  /** Where it ends if it begins at a place of the text, or -1. */
  int begins(ByteBuffer text, int from, int end) {
    int at = from;
    for (int element : elements) {
      if (at == end) {
        return -1;
      }
      int width = width(text, at, end);
      if (element != Pattern.ONE && element != point(text, at, width)) {
        return -1;
      }
      at += width;
    }
    return at;
  }

  /** Where it first ends if it may begin at a place of the text or behind, or -1. */
  int find(ByteBuffer text, int from, int end) {
    return search(text, from, end, false);
  }

  /** Whether the text ends with it, if it may begin at a place or behind. */
  boolean ends(ByteBuffer text, int from, int end) {
    return search(text, from, end, true) >= 0;
  }

  private int search(ByteBuffer text, int from, int end, boolean atEnd) {
    if (elements.length == 0) {
      return from;
    }
    if (fallbacks.length > 0) {
      return searchLiteral(text, from, end, atEnd);
    }
    return anyPlaces.length == 1
        ? searchWord(text, from, end, atEnd)
        : searchWords(text, from, end, atEnd);
  }

  private int searchLiteral(ByteBuffer text, int from, int end, boolean atEnd) {
    int fit = 0;
    for (int at = from; at < end; ) {
      int width = width(text, at, end);
      int point = point(text, at, width);
      at += width;
      if (fit == elements.length) {
        fit = fallbacks[fit];
      }
      while (fit > 0 && elements[fit] != point) {
        fit = fallbacks[fit];
      }
      fit += elements[fit] == point ? 1 : 0;
      if (fit == elements.length && !atEnd) {
        return at;
      }
    }
    return atEnd && fit == elements.length ? end : -1;
  }

  /** Bit {@code i} says that the elements up to the one of number {@code i} fit here. */
  private int searchWord(ByteBuffer text, int from, int end, boolean atEnd) {
    long whole = 1L << (elements.length - 1);
    long fit = 0;
    for (int at = from; at < end; ) {
      int width = width(text, at, end);
      fit = ((fit << 1) | 1) & places(point(text, at, width))[0];
      at += width;
      if ((fit & whole) != 0 && !atEnd) {
        return at;
      }
    }
    return atEnd && (fit & whole) != 0 ? end : -1;
  }

  private int searchWords(ByteBuffer text, int from, int end, boolean atEnd) {
    long[] fit = new long[anyPlaces.length];
    int last = fit.length - 1;
    long whole = 1L << (elements.length - 1);
    for (int at = from; at < end; ) {
      int width = width(text, at, end);
      long[] here = places(point(text, at, width));
      at += width;
      long carry = 1;
      for (int i = 0; i <= last; i++) {
        long above = fit[i] >>> (WORD - 1);
        fit[i] = ((fit[i] << 1) | carry) & here[i];
        carry = above;
      }
      if ((fit[last] & whole) != 0 && !atEnd) {
        return at;
      }
    }
    return atEnd && (fit[last] & whole) != 0 ? end : -1;
  }

  private long[] places(int point) {
    int at = Arrays.binarySearch(points, point);
    return at < 0 ? anyPlaces : places[at];
  }

  /** Bytes of the code point at a place; what is not UTF-8 counts one by one. */
  private static int width(ByteBuffer text, int at, int end) {
    int lead = text.get(at) & 0xFF;
    int width = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return at + width <= end ? width : 1;
  }

  private static int point(ByteBuffer text, int at, int width) {
    int lead = text.get(at) & 0xFF;
    if (width == 1) {
      return lead < 0x80 ? lead : Integer.MAX_VALUE;
    }
    int point = lead & (0x7F >> width);
    for (int i = 1; i < width; i++) {
      point = (point << 6) | (text.get(at + i) & 0x3F);
    }
    return point;
  }
}
