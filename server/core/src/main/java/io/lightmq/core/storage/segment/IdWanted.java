package io.lightmq.core.storage.segment;

import io.lightmq.wire.entry.Crc;
import io.lightmq.wire.entry.MessageId;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A correlation or message id that entries must have: spans whose hashes lack it are passed over
 * unread. What is shown may have other ids.
 */
public final class IdWanted {
  private final boolean correlation;
  private final int hash;

  private IdWanted(boolean correlation, int hash) {
    this.correlation = correlation;
    this.hash = hash;
  }

  /** Entries with a correlation id. */
  public static IdWanted correlationId(String id) {
    return new IdWanted(true, IdHashes.upper(IdHashes.hash(id)));
  }

  /** Entries with a message id; null for a text that no message of this product has. */
  public static @Nullable IdWanted messageId(String id) {
    MessageId parsed = MessageId.parse(id);
    return parsed == null ? null : new IdWanted(false, IdHashes.upper(IdHashes.hash(parsed)));
  }

  /** Whether a span may have it: unless intact hashes deny it. */
  boolean mayBeIn(SegmentFiles.Reference segment, Span span) throws IOException {
    int count = correlation ? span.correlationHashes() : span.messageIdHashes();
    if (count == IdHashes.NOT_COLLECTED) {
      return true;
    }
    if (count == 0) {
      return false;
    }
    ByteBuffer hashes = ByteBuffer.allocate(span.hashBytes());
    segment.read(span.hashAddress(), hashes);
    if (Crc.of(hashes, 0, hashes.capacity()) != span.hashCrc()) {
      return true; // what the hashes are made from is there
    }
    int from = correlation ? 0 : Math.max(0, span.correlationHashes());
    int low = from;
    int high = from + count - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int found = hashes.getInt(middle * Integer.BYTES);
      if (found == hash) {
        return true;
      } else if (found < hash) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }
}
