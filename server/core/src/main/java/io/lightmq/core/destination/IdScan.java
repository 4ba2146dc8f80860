package io.lightmq.core.destination;

import io.lightmq.core.selector.Selector.IdHeader;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;

/** Finds the hash of a message's correlation or message id; for one thread at a time. */
public final class IdScan {
  /** The hash of a message without the id. */
  public static final long NONE = 0;

  private final IdHeader header;
  private final MessageScan scan = new MessageScan();
  private final ByteBuffer messageId = ByteBuffer.allocate(MessageId.MAX_TEXT_CHARS);

  /** Looks at one of the two headers. */
  public IdScan(IdHeader header) {
    this.header = header;
  }

  /** The hash of an id; never {@link #NONE}. */
  public static long hash(String id) {
    byte[] bytes = MessageScan.encode(id);
    return hashOf(ByteBuffer.wrap(bytes), 0, bytes.length);
  }

  /** The hash of the id of an encoded message, or {@link #NONE}. */
  public long hash(ByteBuffer buffer, int messageAt, int messageBytes) {
    try {
      scan.open(buffer, messageAt, messageBytes);
      if (header == IdHeader.MESSAGE_ID) {
        return scan.hasMessageId() ? hashOf(messageId, 0, scan.putMessageId(messageId)) : NONE;
      }
      return scan.findCorrelationId() ? hashOf(buffer, scan.textAt(), scan.textBytes()) : NONE;
    } catch (MalformedMessageException e) {
      return NONE;
    }
  }

  /** The hash of some bytes; fixed, and never {@link #NONE}. */
  static long hashOf(ByteBuffer buffer, int at, int length) {
    long hash = 0xCBF29CE484222325L;
    for (int i = 0; i < length; i++) {
      hash = (hash ^ (buffer.get(at + i) & 0xFF)) * 0x100000001B3L;
    }
    hash = (hash ^ (hash >>> 32)) * 0x9E3779B97F4A7C15L;
    hash ^= hash >>> 29;
    return hash == NONE ? 1 : hash;
  }
}
