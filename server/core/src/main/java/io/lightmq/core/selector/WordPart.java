package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A part of at most 64 characters with {@code _} among them: all places that fit are one word. */
final class WordPart extends Part {
  private final int[] elements;

  /** The characters, rising, and the places where each fits, as bits. */
  private final int[] points;

  private final long[] places;

  /** The places of {@code _}, where any character fits. */
  private final long anyPlaces;

  WordPart(int[] elements) {
    this.elements = elements;
    points = points(elements);
    places = new long[points.length];
    long any = 0;
    for (int i = 0; i < elements.length; i++) {
      any |= elements[i] == Pattern.ONE ? 1L << i : 0;
    }
    anyPlaces = any;
    Arrays.fill(places, any);
    for (int i = 0; i < elements.length; i++) {
      if (elements[i] != Pattern.ONE) {
        places[Arrays.binarySearch(points, elements[i])] |= 1L << i;
      }
    }
  }

  @Override
  int steps() {
    return 1;
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
    long whole = 1L << (elements.length - 1);
    long fit = 0;
    for (int at = from; at < end; ) {
      int width = width(text, at, end);
      int place = place(point(text, at, width));
      fit = ((fit << 1) | 1) & (place < 0 ? anyPlaces : places[place]);
      at += width;
      if ((fit & whole) != 0) {
        return at;
      }
    }
    return -1;
  }

  /** The number of a character among the points or less than 0, in steps that need no guess. */
  private int place(int point) {
    int base = 0;
    for (int left = points.length; left > 1; ) {
      int half = left >>> 1;
      base = points[base + half] <= point ? base + half : base;
      left -= half;
    }
    return points.length > 0 && points[base] == point ? base : -1;
  }
}
