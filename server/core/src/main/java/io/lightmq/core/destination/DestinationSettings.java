package io.lightmq.core.destination;

import io.lightmq.spi.Durability;
import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What can be set per destination. Configuration, admin verbs, records and snapshots know the
 * settings by the same {@link #KEYS} and texts.
 *
 * @param tier the mark that a persistent send waits for
 * @param redelivery how long a message waits after a failed attempt
 * @param order whether others wait with it
 * @param maxAttempts after so many failed attempts a message is a dead letter; 0 for never
 * @param deadLetter the queue of the dead letters, null to drop them
 * @param expiry the queue of what has expired, null to drop it
 * @param suppression which messages are suppressed as duplicates, null for none
 */
public record DestinationSettings(
    Durability tier,
    RedeliverySchedule redelivery,
    RedeliveryOrder order,
    int maxAttempts,
    @Nullable String deadLetter,
    @Nullable String expiry,
    @Nullable Suppression suppression) {

  /** What happens to the other messages while one waits for its next attempt. */
  public enum RedeliveryOrder {
    /** They wait too, so the order stays. */
    PRESERVING,
    /** They go on. */
    NON_BLOCKING
  }

  /** The most attempts that are counted. */
  public static final int MAX_ATTEMPTS = 250;

  /** What a destination has that no rule and no verb speaks of. */
  public static final DestinationSettings DEFAULT = new DestinationSettings(Durability.HIGH);

  /** The names of the settings. */
  public static final List<String> KEYS = List.copyOf(DEFAULT.texts().keySet());

  private static final String NONE = "none";
  private static final int MAX_NAME_CHARS = 512;
  private static final int MAX_CHAR_BYTES = 3;
  private static final int VERSION = 2;

  public DestinationSettings {
    if (maxAttempts < 0 || maxAttempts > MAX_ATTEMPTS) {
      throw new IllegalArgumentException(
          "max-attempts is "
              + maxAttempts
              + " but must be 1 to "
              + MAX_ATTEMPTS
              + ", or 0 for no limit");
    }
    checkName("dead-letter", deadLetter);
    checkName("expiry", expiry);
  }

  private static void checkName(String key, @Nullable String name) {
    if (name != null && (name.isBlank() || name.length() > MAX_NAME_CHARS)) {
      throw new IllegalArgumentException(
          key
              + " is \""
              + Printable.of(name)
              + "\" but must be the name of a queue, at most "
              + MAX_NAME_CHARS
              + " characters, or none");
    }
  }

  /** A tier, and for the rest at once, in order, ten attempts, and the queue DLQ. */
  public DestinationSettings(Durability tier) {
    this(tier, RedeliverySchedule.NONE, RedeliveryOrder.PRESERVING, 10, "DLQ", null, null);
  }

  /** Every setting as text, by its key. */
  public Map<String, String> texts() {
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("tier", lower(tier));
    texts.put("redelivery-delay", redelivery.toString());
    texts.put("redelivery-order", lower(order));
    texts.put("max-attempts", Integer.toString(maxAttempts));
    texts.put("dead-letter", deadLetter == null ? NONE : deadLetter);
    texts.put("expiry", expiry == null ? NONE : expiry);
    texts.put("suppress-duplicates", suppression == null ? NONE : suppression.toString());
    return texts;
  }

  /** The settings whose {@link #texts} these are. */
  private static DestinationSettings parse(Map<String, String> texts) {
    String suppression = text("suppress-duplicates", texts);
    return new DestinationSettings(
        choice("tier", texts, Durability.values()),
        RedeliverySchedule.parse(text("redelivery-delay", texts)),
        choice("redelivery-order", texts, RedeliveryOrder.values()),
        number("max-attempts", texts),
        name("dead-letter", texts),
        name("expiry", texts),
        suppression.trim().equals(NONE) ? null : Suppression.parse(suppression));
  }

  /**
   * These settings, but for what the texts say.
   *
   * @throws IllegalArgumentException for an unknown key or a wrong text; says what would be right
   */
  public DestinationSettings with(Map<String, String> changes) {
    Map<String, String> texts = texts();
    changes.forEach(
        (key, text) -> {
          if (texts.replace(key, text) == null) {
            throw new IllegalArgumentException(
                "setting "
                    + Printable.of(key)
                    + " is unknown; known are "
                    + String.join(", ", KEYS));
          }
        });
    return parse(texts);
  }

  private static String text(String key, Map<String, String> texts) {
    return texts.getOrDefault(key, NONE);
  }

  private static @Nullable String name(String key, Map<String, String> texts) {
    String text = text(key, texts).trim();
    return text.equals(NONE) ? null : text;
  }

  private static int number(String key, Map<String, String> texts) {
    String text = text(key, texts);
    if (text.trim().equals("unlimited")) {
      return 0;
    }
    try {
      return Integer.parseInt(text.trim());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          key
              + " is \""
              + Printable.of(text)
              + "\" but must be 0 to "
              + MAX_ATTEMPTS
              + ", 0 for no limit",
          e);
    }
  }

  private static <E extends Enum<E>> E choice(String key, Map<String, String> texts, E[] choices) {
    String text = text(key, texts);
    for (E each : choices) {
      if (lower(each).equals(text.trim())) {
        return each;
      }
    }
    List<String> known = Arrays.stream(choices).map(DestinationSettings::lower).toList();
    List<String> near = NearNames.of(text.trim(), known, 1);
    throw new IllegalArgumentException(
        key
            + " is \""
            + Printable.of(text)
            + "\" but must be one of "
            + String.join(", ", known)
            + (near.isEmpty() ? "" : "; the nearest is '" + near.get(0) + "'"));
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Writes byte version 2, byte count, and that many pairs of UTF key and UTF text. */
  public void encode(DataOutput out) throws IOException {
    out.writeByte(VERSION);
    Map<String, String> texts = texts();
    out.writeByte(texts.size());
    for (Map.Entry<String, String> text : texts.entrySet()) {
      out.writeUTF(text.getKey());
      out.writeUTF(text.getValue());
    }
  }

  /** What {@link #encode} writes, at most. */
  public int encodedBytes() {
    int bytes = 2;
    for (Map.Entry<String, String> text : texts().entrySet()) {
      bytes += 4 + text.getKey().length() + MAX_CHAR_BYTES * text.getValue().length();
    }
    return bytes;
  }

  /** Reads what {@link #encode} wrote. */
  public static DestinationSettings decode(DataInput in) throws IOException {
    Formats.version("destination settings", in.readUnsignedByte(), VERSION);
    int count = in.readUnsignedByte();
    Map<String, String> texts = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      texts.put(in.readUTF(), in.readUTF());
    }
    try {
      return DEFAULT.with(texts);
    } catch (IllegalArgumentException e) {
      throw new IOException("destination settings: " + e.getMessage(), e);
    }
  }
}
