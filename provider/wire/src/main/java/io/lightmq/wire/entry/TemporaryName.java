package io.lightmq.wire.entry;

import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The form of the names of temporary destinations: {@code temp.} and 32 hexadecimal digits, which
 * nobody can guess. No other destination has such a name, so that one which is handed on as text
 * still names what it did: {@code createQueue(temporary.getQueueName())} is that queue.
 */
public final class TemporaryName {
  /** The bytes that a name is made of. */
  public static final int BYTES = 16;

  private static final String PREFIX = "temp.";
  private static final Pattern FORM = Pattern.compile("temp\\.[0-9a-f]{32}");

  private TemporaryName() {}

  /** Whether a name is that of a temporary destination. */
  public static boolean is(String name) {
    return name.startsWith(PREFIX) && FORM.matcher(name).matches();
  }

  /** The name of these bytes. */
  public static DestinationName of(DestinationKind kind, byte[] bytes) {
    if (bytes.length != BYTES || !kind.isTemporary()) {
      throw new IllegalArgumentException(bytes.length + " bytes for a " + kind);
    }
    return new DestinationName(kind, PREFIX + HexFormat.of().formatHex(bytes));
  }

  /** What is meant: a queue or topic with such a name is a temporary one. */
  public static DestinationName meant(DestinationName name) {
    if (name.kind().isTemporary() || !is(name.name())) {
      return name;
    }
    return new DestinationName(
        name.kind().isQueue() ? DestinationKind.TEMPORARY_QUEUE : DestinationKind.TEMPORARY_TOPIC,
        name.name());
  }
}
