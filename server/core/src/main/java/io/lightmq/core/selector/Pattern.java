package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A pattern of LIKE: characters, {@code _} for any one and {@code %} for any number of them. A
 * character is a code point, as users count. Matching looks at each place of the text at most once
 * per element of the pattern, never more.
 */
final class Pattern {
  /** The longest pattern in characters: it bounds the time that a long text can take. */
  static final int MAX_ELEMENTS = 1_024;

  private static final int ONE = -1;
  private static final int ANY = -2;

  private final int[] elements;

  private Pattern(int[] elements) {
    this.elements = elements;
  }

  /**
   * Parses a pattern.
   *
   * @param escape the code point that takes the meaning from the next one, -1 for none
   * @throws IllegalArgumentException if the last character is the escape character
   */
  static Pattern parse(String text, int escape) {
    int[] points = text.codePoints().toArray();
    int[] elements = new int[points.length];
    int count = 0;
    for (int i = 0; i < points.length; i++) {
      if (points[i] == escape) {
        i++;
        if (i == points.length) {
          throw new IllegalArgumentException("the pattern ends with its escape character");
        }
        elements[count++] = points[i];
      } else if (points[i] != '%') {
        elements[count++] = points[i] == '_' ? ONE : points[i];
      } else if (count == 0 || elements[count - 1] != ANY) {
        elements[count++] = ANY;
      }
    }
    return new Pattern(Arrays.copyOf(elements, count));
  }

  int length() {
    return elements.length;
  }

  /**
   * Whether a text fits. Greedy with one place to go back to: a later {@code %} makes all earlier
   * ones settled, so that the time is at most length times length.
   */
  boolean matches(ByteBuffer text, int from, int bytes) {
    int end = from + bytes;
    int at = from;
    int element = 0;
    int backElement = -1;
    int backAt = 0;
    while (at < end) {
      int wanted = element < elements.length ? elements[element] : 0;
      if (element < elements.length && wanted == ANY) {
        element++;
        backElement = element;
        backAt = at;
        continue;
      }
      int width = width(text, at, end);
      if (element < elements.length && (wanted == ONE || wanted == point(text, at, width))) {
        element++;
        at += width;
      } else if (backElement >= 0) {
        backAt += width(text, backAt, end);
        at = backAt;
        element = backElement;
      } else {
        return false;
      }
    }
    while (element < elements.length && elements[element] == ANY) {
      element++;
    }
    return element == elements.length;
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

  @Override
  public boolean equals(Object other) {
    return other instanceof Pattern pattern && Arrays.equals(elements, pattern.elements);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(elements);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int element : elements) {
      if (element == ONE) {
        text.append('_');
      } else if (element == ANY) {
        text.append('%');
      } else {
        text.append('[').appendCodePoint(element).append(']');
      }
    }
    return text.toString();
  }
}
