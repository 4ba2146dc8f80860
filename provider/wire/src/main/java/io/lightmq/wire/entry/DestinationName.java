package io.lightmq.wire.entry;

import java.nio.charset.StandardCharsets;

/**
 * A destination by kind and name. Names are resolved to destination ids once, on attach.
 *
 * @param name 1 to 512 bytes in UTF-8, without control characters
 */
public record DestinationName(DestinationKind kind, String name) {
  /** The longest name in bytes of UTF-8. */
  public static final int MAX_NAME_BYTES = 512;

  public DestinationName {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a destination name has 1 to " + MAX_NAME_BYTES + " bytes, this one has " + bytes);
    }
    if (name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "a destination name has no control characters: " + Printable.of(name));
    }
  }

  /** The name as it is shown in texts for people. */
  public String shown() {
    return Printable.of(name);
  }
}
