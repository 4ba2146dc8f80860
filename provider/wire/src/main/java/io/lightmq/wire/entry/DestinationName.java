package io.lightmq.wire.entry;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A destination by kind and name. Names are resolved to destination ids once, on attach.
 *
 * @param name 1 to 512 bytes in UTF-8, without control characters
 */
public record DestinationName(DestinationKind kind, String name) {
  /** The longest name in bytes of UTF-8. */
  public static final int MAX_NAME_BYTES = 512;

  public DestinationName {
    String wrong = unreadable(name);
    if (wrong != null) {
      throw new IllegalArgumentException(wrong);
    }
  }

  /**
   * What is wrong with a text as the name of a new destination, in printable characters; null if
   * nothing is. Names that are in messages and stores may have halves of surrogate pairs.
   */
  public static @Nullable String problem(String name) {
    String wrong = unreadable(name);
    for (int at = 0; wrong == null && at < name.length(); at = name.offsetByCodePoints(at, 1)) {
      int c = name.codePointAt(at);
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        return "a destination name is well-formed, character "
            + (at + 1)
            + String.format(Locale.ROOT, " of this one is half of a pair, U+%04X", c);
      }
    }
    return wrong;
  }

  private static @Nullable String unreadable(String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      return "a destination name has 1 to " + MAX_NAME_BYTES + " bytes, this one has " + bytes;
    }
    for (int at = 0; at < name.length(); at = name.offsetByCodePoints(at, 1)) {
      int c = name.codePointAt(at);
      if (Character.isISOControl(c)) {
        return "a destination name has no control characters, character "
            + (at + 1)
            + String.format(Locale.ROOT, " of this one is U+%04X", c);
      }
    }
    return null;
  }

  /** The name as it is shown in texts for people. */
  public String shown() {
    return Printable.of(name);
  }
}
