package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The characters of a pattern between two {@code %}, some of which may be {@code _}. No text makes
 * looking for it go back. What lies before the first {@code %} and behind the last is compared at
 * its place, so that it reads no more of the text than it is long.
 */
abstract class Part {
  static final int WORD = 64;

  static Part of(int[] elements) {
    boolean literal = Arrays.stream(elements).noneMatch(each -> each == Pattern.ONE);
    if (literal) {
      return new LiteralPart(elements);
    }
    return elements.length <= WORD ? new WordPart(elements) : new WordsPart(elements);
  }

  /** Steps that {@link #find} takes for a character of the text, about. */
  abstract int steps();

  /** Where it ends if it begins at a place of the text, or -1. */
  abstract int begins(ByteBuffer text, int from, int end);

  /** Where it first ends if it may begin at a place of the text or behind, or -1. */
  abstract int find(ByteBuffer text, int from, int end);

  /** Whether the text ends with it, if it may begin at a place or behind. */
  abstract boolean ends(ByteBuffer text, int from, int end);

  // ---- with _ among them ----

  /** The characters other than {@code _}, each once, rising. */
  static int[] points(int[] elements) {
    return Arrays.stream(elements)
        .filter(each -> each != Pattern.ONE)
        .distinct()
        .sorted()
        .toArray();
  }

  static int begins(int[] elements, ByteBuffer text, int from, int end) {
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

  static boolean ends(int[] elements, ByteBuffer text, int from, int end) {
    int at = end;
    for (int i = 0; i < elements.length; i++) {
      if (at == from) {
        return false;
      }
      at = before(text, from, at);
    }
    return begins(elements, text, at, end) == end;
  }

  // ---- characters ----

  /** Bytes of the code point at a place; what is not UTF-8 counts one by one. */
  static int width(ByteBuffer text, int at, int end) {
    int lead = text.get(at) & 0xFF;
    int width = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return at + width <= end ? width : 1;
  }

  static int point(ByteBuffer text, int at, int width) {
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

  /** Where the code point begins that ends before a place. */
  private static int before(ByteBuffer text, int from, int end) {
    int at = end - 1;
    while (at > from && end - at < 4 && (text.get(at) & 0xC0) == 0x80) {
      at--;
    }
    return at;
  }
}
