package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A pattern of LIKE: characters, {@code _} for any one and {@code %} for any number of them. A
 * character is a code point, as users count. Each {@link Part} between two {@code %} is looked for
 * from where the one before it ended, so that matching reads a text once, however often parts of it
 * almost fit.
 */
final class Pattern {
  /** The longest pattern in characters: it bounds time and heap. */
  static final int MAX_ELEMENTS = 1_024;

  static final int ONE = -1;
  private static final int ANY = -2;

  private final int[] elements;

  /** What lies before, between and behind the {@code %}; a single one if there are none. */
  private final Part[] parts;

  private Pattern(int[] elements) {
    this.elements = elements;
    List<Part> cut = new ArrayList<>();
    int from = 0;
    for (int i = 0; i <= elements.length; i++) {
      if (i == elements.length || elements[i] == ANY) {
        cut.add(Part.of(Arrays.copyOfRange(elements, from, i)));
        from = i + 1;
      }
    }
    this.parts = cut.toArray(Part[]::new);
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
   * How many steps a character of a text takes at most: 0 if no more of it is read than the pattern
   * is long, since nothing lies between two {@code %}; else 1, or with {@code _} there one for each
   * 64 characters of the longest part.
   */
  int steps() {
    int steps = 0;
    for (int i = 1; i < parts.length - 1; i++) {
      steps = Math.max(steps, parts[i].steps());
    }
    return steps;
  }

  /** Whether a text fits. */
  boolean matches(ByteBuffer text, int from, int bytes) {
    int end = from + bytes;
    int at = parts[0].begins(text, from, end);
    int last = parts.length - 1;
    if (last == 0) {
      return at == end;
    }
    for (int i = 1; i < last && at >= 0; i++) {
      at = parts[i].find(text, at, end);
    }
    return at >= 0 && parts[last].ends(text, at, end);
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
