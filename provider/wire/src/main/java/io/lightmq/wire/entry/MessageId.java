package io.lightmq.wire.entry;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A message id: who sent it and its number there.
 *
 * @param most the upper half of the producer's UUID
 * @param least the lower half
 * @param number unique with that UUID
 */
public record MessageId(long most, long least, long number) {
  /** The longest text form. */
  public static final int MAX_TEXT_CHARS = 56;

  private static final Pattern FORM = Pattern.compile("ID:([0-9a-f]{32}):(\\d{1,19})");

  public MessageId {
    if (number < 0) {
      throw new IllegalArgumentException("a message number is at least 0, not " + number);
    }
  }

  /** The id with a number under a UUID. */
  public MessageId(UUID producer, long number) {
    this(producer.getMostSignificantBits(), producer.getLeastSignificantBits(), number);
  }

  /** Parses the text form; null for any other text, such as another provider's id. */
  public static @Nullable MessageId parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    try {
      return new MessageId(
          Long.parseUnsignedLong(matcher.group(1), 0, 16, 16),
          Long.parseUnsignedLong(matcher.group(1), 16, 32, 16),
          Long.parseLong(matcher.group(2)));
    } catch (NumberFormatException e) {
      return null; // more than 63 bits
    }
  }

  /** The text form: {@code ID:}, 32 hex digits, a colon and the number. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(56).append("ID:");
    hex(text, most);
    hex(text, least);
    return text.append(':').append(number).toString();
  }

  /** Writes the text form as ASCII at the start of a buffer, without garbage; its length. */
  static int put(long most, long least, long number, ByteBuffer into) {
    into.put(0, (byte) 'I').put(1, (byte) 'D').put(2, (byte) ':');
    for (int i = 0; i < 16; i++) {
      into.put(3 + i, (byte) Character.forDigit((int) (most >>> (60 - 4 * i)) & 0xF, 16));
      into.put(19 + i, (byte) Character.forDigit((int) (least >>> (60 - 4 * i)) & 0xF, 16));
    }
    into.put(35, (byte) ':');
    long left = Math.max(0, number); // readers refuse a negative one
    int digits = 1;
    for (long more = left / 10; more > 0; more /= 10) {
      digits++;
    }
    for (int i = 35 + digits; i > 35; i--) {
      into.put(i, (byte) ('0' + left % 10));
      left /= 10;
    }
    return 36 + digits;
  }

  private static void hex(StringBuilder text, long value) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text.append(Character.forDigit((int) (value >>> shift) & 0xF, 16));
    }
  }
}
