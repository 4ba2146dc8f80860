package io.lightmq.core.record;

import java.nio.ByteBuffer;

/**
 * The bytes of the batch whose records are being applied: of the one that grows, or of one that the
 * journal gives back. Whoever applies a {@link ShardRecord.Published} reads here what its entries
 * say, so that it comes from the same bytes in live work and in replay.
 */
public interface BatchBytes {
  /** For records that hold no entries: there is nothing to read. */
  BatchBytes NONE =
      offset -> {
        throw new IllegalStateException("a record without bytes is asked for those at " + offset);
      };

  /** Eight bytes, big-endian. */
  long getLong(long journalOffset);

  /** Bytes of which the first, at the buffer's place 0, lies at an offset of the journal. */
  static BatchBytes of(long firstOffset, ByteBuffer bytes) {
    return offset -> bytes.getLong((int) (offset - firstOffset));
  }
}
