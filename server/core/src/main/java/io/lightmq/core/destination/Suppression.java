package io.lightmq.core.destination;

import io.lightmq.wire.entry.Printable;
import org.jspecify.annotations.Nullable;

/**
 * Which messages of a destination count as the same, and how many a subscription remembers.
 *
 * @param property the property whose text is the key, null for the JMSMessageID
 * @param windowKeys at most so many keys; the oldest go first
 * @param windowMillis a key is remembered for so long after its message was acknowledged
 */
public record Suppression(@Nullable String property, int windowKeys, long windowMillis) {
  /** The most keys that a subscription can be told to remember. */
  public static final int MAX_KEYS = 10_000_000;

  private static final int DEFAULT_KEYS = 100_000;
  private static final long DEFAULT_MILLIS = 3_600_000;
  private static final long MAX_MILLIS = 365L * 86_400_000;
  private static final int MAX_NAME_CHARS = 250;
  private static final String MESSAGE_ID = "message-id";
  private static final String PROPERTY = "property:";
  private static final String KEYS = "keys=";
  private static final String TIME = "time=";

  public Suppression {
    if (property != null
        && (property.isBlank() || property.length() > MAX_NAME_CHARS || property.contains(","))) {
      throw wrong("names the property \"" + property + "\"");
    }
    if (windowKeys < 1 || windowKeys > MAX_KEYS) {
      throw wrong("has keys=" + windowKeys + ", but 1 to " + MAX_KEYS + " are possible");
    }
    if (windowMillis < 1 || windowMillis > MAX_MILLIS) {
      throw wrong("has time=" + windowMillis + " ms, but 1 ms to 365 days are possible");
    }
  }

  /**
   * Reads {@code message-id} or {@code property:NAME}, with {@code ,keys=100000} and {@code
   * ,time=1h} behind it or not.
   *
   * @throws IllegalArgumentException if it is something else; says what would be right
   */
  public static Suppression parse(String text) {
    String[] parts = text.trim().split(",", -1);
    String key = parts[0].trim();
    boolean byId = key.equals(MESSAGE_ID);
    if (!byId && !key.startsWith(PROPERTY)) {
      throw wrong("is \"" + Printable.of(text) + "\"");
    }
    int keys = DEFAULT_KEYS;
    long millis = DEFAULT_MILLIS;
    for (int i = 1; i < parts.length; i++) {
      String part = parts[i].trim();
      if (part.startsWith(KEYS)) {
        keys = (int) Math.min(Integer.MAX_VALUE, number(part, part.substring(KEYS.length())));
      } else if (part.startsWith(TIME)) {
        millis = millis(part, part.substring(TIME.length()));
      } else {
        throw wrong("has \"" + Printable.of(part) + "\"");
      }
    }
    return new Suppression(byId ? null : key.substring(PROPERTY.length()), keys, millis);
  }

  private static long millis(String part, String text) {
    try {
      return TimeSpan.millis(text);
    } catch (IllegalArgumentException e) {
      throw wrong("has \"" + Printable.of(part) + "\"");
    }
  }

  private static long number(String part, String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      throw wrong("has \"" + Printable.of(part) + "\"");
    }
  }

  private static IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException(
        "suppress-duplicates "
            + what
            + " but must be none, message-id or property:NAME, then if wanted ,keys=N and ,time=T"
            + " with T such as 30s, 5m or 1h");
  }

  /** Whether both count the same messages as the same. */
  boolean hasKeyOf(Suppression other) {
    return property == null ? other.property == null : property.equals(other.property);
  }

  @Override
  public String toString() {
    return (property == null ? MESSAGE_ID : PROPERTY + property)
        + ","
        + KEYS
        + windowKeys
        + ","
        + TIME
        + windowMillis
        + "ms";
  }
}
