package io.lightmq.core.destination;

import io.lightmq.wire.entry.Printable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long a message waits before each further attempt. Text: {@code none} for at once; {@code
 * 1s,10s,1m} for the first, the second, the third and every later wait; {@code 1s*2..5m} for 1 s,
 * then each twice the one before, at most 5 min. Units are ms, s, m, h and d.
 */
public final class RedeliverySchedule {
  /** No wait at all. */
  public static final RedeliverySchedule NONE = new RedeliverySchedule(List.of(), 1, 0);

  private static final int MAX_STEPS = 64;
  private static final long MAX_MILLIS = 366L * 24 * 3_600_000;
  private static final int MAX_FACTOR = 100;

  private final List<Long> stepsMillis;
  private final int factor;
  private final long mostMillis;

  private RedeliverySchedule(List<Long> stepsMillis, int factor, long mostMillis) {
    this.stepsMillis = List.copyOf(stepsMillis);
    this.factor = factor;
    this.mostMillis = mostMillis;
  }

  /**
   * Reads a schedule.
   *
   * @throws IllegalArgumentException that says what is wrong and what would be right
   */
  public static RedeliverySchedule parse(String text) {
    String trimmed = text.trim();
    if (trimmed.equals("none") || trimmed.equals("0")) {
      return NONE;
    }
    int star = trimmed.indexOf('*');
    int dots = trimmed.indexOf("..", Math.max(star, 0));
    if (star >= 0 && dots > star) {
      long first = millis(text, trimmed.substring(0, star));
      int factor = number(text, trimmed.substring(star + 1, dots).trim());
      long most = millis(text, trimmed.substring(dots + 2));
      if (factor < 2 || factor > MAX_FACTOR || first < 1 || most < first) {
        throw wrong(
            text, "the factor must be 2 to " + MAX_FACTOR + ", the maximum not below the first");
      }
      return new RedeliverySchedule(List.of(first), factor, most);
    }
    List<Long> steps = new ArrayList<>();
    for (String part : trimmed.split(",", -1)) {
      steps.add(millis(text, part));
    }
    if (steps.size() > MAX_STEPS) {
      throw wrong(text, "it has " + steps.size() + " steps, at most " + MAX_STEPS + " are allowed");
    }
    return new RedeliverySchedule(steps, 1, 0);
  }

  private static long millis(String whole, String part) {
    long millis;
    try {
      millis = TimeSpan.millis(part);
    } catch (IllegalArgumentException e) {
      throw wrong(whole, e.getMessage());
    }
    if (millis > MAX_MILLIS) {
      throw wrong(whole, "\"" + Printable.of(part) + "\" is longer than 366 days");
    }
    return millis;
  }

  private static int number(String whole, String digits) {
    try {
      return Integer.parseInt(digits);
    } catch (NumberFormatException e) {
      throw wrong(
          whole, "\"" + Printable.of(digits) + "\" is no number up to " + Integer.MAX_VALUE);
    }
  }

  private static IllegalArgumentException wrong(String text, @Nullable String why) {
    return new IllegalArgumentException(
        "redelivery-delay is \""
            + Printable.of(text)
            + "\", but "
            + why
            + "; write none, steps such as 1s,10s,1m, or a first wait, a factor and a maximum such"
            + " as 1s*2..5m");
  }

  /** How long a message waits after so many attempts, 1 or more. */
  public long delayMillis(int attempts) {
    if (stepsMillis.isEmpty()) {
      return 0;
    }
    if (factor == 1) {
      return stepsMillis.get(Math.min(Math.max(attempts, 1), stepsMillis.size()) - 1);
    }
    long delay = stepsMillis.get(0);
    for (int i = 1; i < attempts && delay < mostMillis; i++) {
      delay *= factor;
    }
    return Math.min(delay, mostMillis);
  }

  /** The schedule as {@link #parse} reads it. */
  @Override
  public String toString() {
    if (stepsMillis.isEmpty()) {
      return "none";
    }
    if (factor > 1) {
      return text(stepsMillis.get(0)) + "*" + factor + ".." + text(mostMillis);
    }
    return String.join(",", stepsMillis.stream().map(RedeliverySchedule::text).toList());
  }

  private static String text(long millis) {
    if (millis % 1_000 != 0 || millis == 0) {
      return millis + "ms";
    }
    if (millis % 86_400_000 == 0) {
      return millis / 86_400_000 + "d";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    return millis % 60_000 == 0 ? millis / 60_000 + "m" : millis / 1_000 + "s";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RedeliverySchedule schedule
        && factor == schedule.factor
        && mostMillis == schedule.mostMillis
        && stepsMillis.equals(schedule.stepsMillis);
  }

  @Override
  public int hashCode() {
    return stepsMillis.hashCode() * 31 + factor;
  }
}
