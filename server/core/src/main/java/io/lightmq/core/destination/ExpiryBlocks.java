package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * When the first message of each block of 4096 of a lane expires, or earlier: a block is in it only
 * if something in it does. What says so costs memory per block, not per message.
 */
@OwnedBy("shard")
final class ExpiryBlocks {
  private final TreeMap<Long, Long> earliest = new TreeMap<>();

  void add(long sequence, long expiryMillis) {
    earliest.merge(Cursor.key(sequence), expiryMillis, Math::min);
  }

  /**
   * A block in which something expires up to a time, the lowest from one on; -1 if there is none.
   */
  long due(long from, long nowMillis) {
    for (Map.Entry<Long, Long> block : earliest.tailMap(from).entrySet()) {
      if (block.getValue() <= nowMillis) {
        return block.getKey();
      }
    }
    return -1;
  }

  /**
   * A block was looked at: nothing in it expires before a time, {@code Long.MAX_VALUE} for ever.
   */
  void looked(long block, long expiryMillis) {
    if (expiryMillis == Long.MAX_VALUE) {
      earliest.remove(block);
    } else {
      earliest.put(block, expiryMillis);
    }
  }

  /** When the first message expires, or earlier; {@code Long.MAX_VALUE} if none does. */
  long earliestMillis() {
    long first = Long.MAX_VALUE;
    for (long millis : earliest.values()) {
      first = Math.min(first, millis);
    }
    return first;
  }

  void trim(long belowSequence) {
    earliest.headMap(Cursor.key(belowSequence)).clear();
  }

  boolean isEmpty() {
    return earliest.isEmpty();
  }

  /** Varint blocks, each: long key, long earliest expiry. */
  void encode(DataOutput out) throws IOException {
    Formats.writeVarint(out, earliest.size());
    for (Map.Entry<Long, Long> block : earliest.entrySet()) {
      out.writeLong(block.getKey());
      out.writeLong(block.getValue());
    }
  }

  void decode(DataInput in) throws IOException {
    long blocks = Formats.readVarint(in);
    for (long i = 0; i < blocks; i++) {
      earliest.put(in.readLong(), in.readLong());
    }
  }
}
