package io.lightmq.core.destination;

import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Finds the group bucket of a message: one of 64, by a hash of its JMSXGroupID (Jakarta Messaging
 * 3.1, section 3.5.9). A message without one costs a look at its flags. For one thread at a time.
 *
 * <p>The hash is 64-bit FNV-1a over the UTF-8 bytes, h ^= h >>> 32, h *= 0x9E3779B97F4A7C15, h ^= h
 * >>> 29; its upper 6 bits are the number.
 */
public final class GroupScan {
  /** How many group buckets there are. */
  static final int BUCKETS = 64;

  /** The code of a message without a key. */
  static final int LOOSE = 0;

  /** Bit of a code: the message is the last of its group, for its JMSXGroupSeq is -1. */
  private static final int LAST = 0x80;

  private static final byte[] GROUP_ID = "JMSXGroupID".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] GROUP_SEQUENCE = "JMSXGroupSeq".getBytes(StandardCharsets.US_ASCII);

  private final MessageScan scan = new MessageScan();

  /**
   * The code of an encoded message: 0 without a key, else its group bucket + 1 and perhaps a bit.
   */
  public int codeOf(ByteBuffer buffer, int messageAt, int messageBytes) {
    if (!MessageReader.isGrouped(buffer, messageAt)) {
      return LOOSE;
    }
    int code = LOOSE;
    boolean last = false;
    int left = 2;
    try {
      scan.open(buffer, messageAt, messageBytes);
      while (left > 0 && scan.nextProperty()) {
        if (scan.isNamed(GROUP_ID)) {
          left--;
          if (scan.kind() == MessageScan.Kind.STRING && scan.textBytes() > 0) {
            code = 1 + (int) (IdScan.hashOf(buffer, scan.textAt(), scan.textBytes()) >>> 58);
          }
        } else if (scan.isNamed(GROUP_SEQUENCE)) {
          left--;
          last = scan.kind() == MessageScan.Kind.INT && scan.exact() == -1;
        }
      }
    } catch (MalformedMessageException e) {
      return LOOSE; // the client that gets it finds out
    }
    return code != LOOSE && last ? code | LAST : code;
  }

  /** The group bucket of a code that has one. */
  static int keyOf(int code) {
    return (code & ~LAST) - 1;
  }

  /** Whether a code is that of a group's last message. */
  static boolean isLast(int code) {
    return (code & LAST) != 0;
  }
}
