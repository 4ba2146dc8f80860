package io.lightmq.wire.entry;

import org.jspecify.annotations.Nullable;

/**
 * The one way to show text that somebody else chose, in log lines, answers, tables and labels: a
 * client's id, a broker's refusal, a property of a message. What could move a terminal's cursor,
 * begin a line of its own or turn the direction of writing is shown as {@code \n} or as a backslash
 * and the code. What was shown once may be shown again: escapes are plain text.
 */
public final class Printable {
  /** The longest piece of foreign text that is quoted, in characters. */
  public static final int MAX_CHARS = 200;

  /** The longest text as a whole that quotes such pieces. */
  public static final int MAX_LINE_CHARS = 1_200;

  /** Room in a whole text for the end that says how long it was. */
  private static final int COUNT_CHARS = 32;

  private Printable() {}

  /**
   * A piece of foreign text: escaped, and of a long one the first 200 characters and how many it
   * has.
   */
  public static String of(@Nullable String text) {
    return text == null ? "null" : shown(text, MAX_CHARS, MAX_CHARS);
  }

  /** A whole text that quotes foreign pieces: escaped, and never longer than its bound. */
  public static String line(String text) {
    return shown(text, MAX_LINE_CHARS, MAX_LINE_CHARS - COUNT_CHARS);
  }

  /** All of it, escaped; for text that is bounded elsewhere and must stay distinct, as labels. */
  public static String escaped(String text) {
    return shown(text, Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  /** Whether all of it is shown as it is. */
  public static boolean isPlain(String text) {
    return text.codePoints().allMatch(Printable::isPlain);
  }

  private static String shown(String text, int maxChars, int keptChars) {
    if (text.length() <= maxChars && isPlain(text)) {
      return text;
    }
    StringBuilder out = new StringBuilder(Math.min(text.length(), maxChars) + COUNT_CHARS);
    int kept = 0;
    for (int i = 0; i < text.length(); ) {
      int point = text.codePointAt(i);
      append(point, out);
      i += Character.charCount(point);
      if (out.length() <= keptChars) {
        kept = out.length();
      }
      if (out.length() > maxChars) {
        out.setLength(kept);
        return out.append("... (").append(text.length()).append(" characters)").toString();
      }
    }
    return out.toString();
  }

  private static void append(int point, StringBuilder out) {
    if (isPlain(point)) {
      out.appendCodePoint(point);
      return;
    }
    switch (point) {
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        for (char unit : Character.toChars(point)) {
          out.append(String.format("\\u%04x", (int) unit));
        }
      }
    }
  }

  /** Not plain are controls, formats (such as marks of direction), separators of lines, halves. */
  private static boolean isPlain(int point) {
    if (point >= ' ' && point < 0x7F) {
      return true;
    }
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
