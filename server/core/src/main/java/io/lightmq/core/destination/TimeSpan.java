package io.lightmq.core.destination;

import io.lightmq.wire.entry.Printable;
import java.util.Locale;

/** A time as people write it: a whole number with ms, s, m, h or d behind it. */
public final class TimeSpan {
  private TimeSpan() {}

  /**
   * Reads one.
   *
   * @return milliseconds
   * @throws IllegalArgumentException that says what the text is not
   */
  public static long millis(String text) {
    String lower = text.trim().toLowerCase(Locale.ROOT);
    int digits = 0;
    while (digits < lower.length() && lower.charAt(digits) >= '0' && lower.charAt(digits) <= '9') {
      digits++;
    }
    long unit =
        switch (lower.substring(digits).trim()) {
          case "ms" -> 1;
          case "s" -> 1_000;
          case "m" -> 60_000;
          case "h" -> 3_600_000;
          case "d" -> 86_400_000;
          default -> 0;
        };
    if (digits == 0 || unit == 0) {
      throw new IllegalArgumentException(
          "\"" + Printable.of(text) + "\" is no number with ms, s, m, h or d");
    }
    try {
      return Math.multiplyExact(Long.parseLong(lower.substring(0, digits)), unit);
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(
          "\"" + Printable.of(text) + "\" is longer than a clock can count", e);
    }
  }
}
