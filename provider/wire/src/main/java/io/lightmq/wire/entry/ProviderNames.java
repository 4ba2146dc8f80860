package io.lightmq.wire.entry;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The property names that only the provider may set: those that begin with JMSX, but for the three
 * that senders set, and those that the broker writes on messages that it moves. What a client sends
 * under such a name is dropped, by its library and by the broker.
 */
public final class ProviderNames {
  private static final String JMSX = "JMSX";

  /** Section 3.5.9 of the specification: set by the application, or by the sender's library. */
  private static final String[] OF_SENDERS = {
    MessageLayout.GROUP_ID, "JMSXGroupSeq", "JMSXProducerTXID"
  };

  private static final byte[] MOVED = ascii(MessageEdit.PREFIX);
  private static final byte[][] SENT = {
    ascii(OF_SENDERS[0]), ascii(OF_SENDERS[1]), ascii(OF_SENDERS[2])
  };

  private ProviderNames() {}

  private static byte[] ascii(String name) {
    return name.getBytes(StandardCharsets.US_ASCII);
  }

  /** Whether only the provider may set a property. */
  public static boolean isOwned(String name) {
    if (!name.startsWith(JMSX)) {
      return name.startsWith(MessageEdit.PREFIX);
    }
    for (String sent : OF_SENDERS) {
      if (name.equals(sent)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether an encoded message has such a property, or cannot be understood, which {@link
   * MessageReader} decides. Makes no object; costs a few comparisons for each property.
   */
  public static boolean mayBeIn(ByteBuffer buffer, int at, int messageBytes) {
    int end = at + messageBytes;
    long read = varint(buffer, at + MessageLayout.HEADERS, end);
    if (read >= 0) {
      read = varint(buffer, next(read) + value(read), end);
    }
    if (read < 0 || value(read) > end - next(read)) {
      return true;
    }
    if (value(read) == 0) {
      return false;
    }
    int limit = next(read) + value(read);
    read = varint(buffer, next(read), limit);
    if (read < 0) {
      return true;
    }
    int place = next(read);
    for (int left = value(read); left > 0; left--) {
      read = varint(buffer, place, limit);
      if (read < 0 || value(read) > limit - next(read)) {
        return true;
      }
      if (isOwned(buffer, next(read), value(read))) {
        return true;
      }
      place = behindValue(buffer, next(read) + value(read), limit);
      if (place < 0) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOwned(ByteBuffer buffer, int at, int bytes) {
    if (bytes < JMSX.length()
        || buffer.get(at) != 'J'
        || buffer.get(at + 1) != 'M'
        || buffer.get(at + 2) != 'S') {
      return false;
    }
    if (buffer.get(at + 3) != 'X') {
      return bytes >= MOVED.length && begins(buffer, at, MOVED);
    }
    for (byte[] sent : SENT) {
      if (bytes == sent.length && begins(buffer, at, sent)) {
        return false;
      }
    }
    return true;
  }

  private static boolean begins(ByteBuffer buffer, int at, byte[] with) {
    for (int i = 0; i < with.length; i++) {
      if (buffer.get(at + i) != with[i]) {
        return false;
      }
    }
    return true;
  }

  /** Where the value at a place ends, -1 if it does not make sense. */
  private static int behindValue(ByteBuffer buffer, int at, int end) {
    if (at >= end) {
      return -1;
    }
    int begin = at + 1;
    int bytes =
        switch (buffer.get(at)) {
          case MessageLayout.VALUE_NULL, MessageLayout.VALUE_FALSE, MessageLayout.VALUE_TRUE -> 0;
          case MessageLayout.VALUE_BYTE -> 1;
          case MessageLayout.VALUE_SHORT, MessageLayout.VALUE_CHAR -> 2;
          case MessageLayout.VALUE_INT, MessageLayout.VALUE_FLOAT -> 4;
          case MessageLayout.VALUE_LONG, MessageLayout.VALUE_DOUBLE -> 8;
          case MessageLayout.VALUE_STRING, MessageLayout.VALUE_BYTES -> {
            long read = varint(buffer, begin, end);
            begin = next(read);
            yield read < 0 ? -1 : value(read);
          }
          default -> -1;
        };
    return bytes < 0 || bytes > end - begin ? -1 : begin + bytes;
  }

  // A varint that was read: its value in the upper half, where it ends in the lower one.

  private static long varint(ByteBuffer buffer, int at, int end) {
    int value = 0;
    int place = at;
    for (int shift = 0; shift < 35; shift += 7) {
      if (place < 0 || place >= end) {
        return -1;
      }
      int next = buffer.get(place++);
      if (shift == 28 && (next & 0xFF) > 0x07) {
        return -1;
      }
      value |= (next & 0x7F) << shift;
      if (next >= 0) {
        return ((long) value << 32) | place;
      }
    }
    return -1;
  }

  private static int value(long read) {
    return (int) (read >>> 32);
  }

  private static int next(long read) {
    return (int) read;
  }
}
