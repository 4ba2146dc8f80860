package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/**
 * When the first message of each block of 4096 of a lane expires: a block is in it only if
 * something in it does. What says so costs memory per block, not per message.
 *
 * <p>What the messages say is state, and comes by them alone; of blocks that nobody needs any more
 * nothing is in a snapshot, whether they are forgotten already or not. When a block is looked at
 * next depends on who has looked and when; that is beside it, in no snapshot, and begins anew with
 * each start.
 */
@OwnedBy("shard")
final class ExpiryBlocks {
  private static final long NONE = -1;

  private final TreeMap<Long, Long> earliest = new TreeMap<>();

  /** When each of these blocks is looked at next; those in which nothing is left are not here. */
  private final TreeMap<Long, Long> looks = new TreeMap<>();

  /** The block to which was added last, and the times above which nothing changes for it. */
  private long newest = NONE;

  private long enough;

  void add(long sequence, long expiryMillis) {
    long block = SequenceSet.key(sequence);
    if (block == newest && expiryMillis >= enough) {
      return;
    }
    long first = earliest.merge(block, expiryMillis, Math::min);
    long look = looks.merge(block, expiryMillis, Math::min);
    newest = block;
    enough = Math.max(first, look);
  }

  /**
   * A block in which something expires up to a time, the lowest from one on; -1 if there is none.
   */
  long due(long from, long nowMillis) {
    for (Map.Entry<Long, Long> block : looks.tailMap(from).entrySet()) {
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
    newest = NONE;
    if (expiryMillis == Long.MAX_VALUE) {
      looks.remove(block);
    } else {
      looks.put(block, expiryMillis);
    }
  }

  /** When something is looked at next; {@code Long.MAX_VALUE} if nothing is. */
  long earliestMillis() {
    long first = Long.MAX_VALUE;
    for (long millis : looks.values()) {
      first = Math.min(first, millis);
    }
    return first;
  }

  /**
   * Forgets blocks in which nobody needs anything any more, so that there are no more of them than
   * blocks in cursors, however old the oldest message is.
   */
  void trim(long belowSequence, LongPredicate needed) {
    newest = NONE;
    earliest.headMap(SequenceSet.key(belowSequence)).clear();
    earliest.keySet().removeIf(block -> !needed.test(block));
    looks.keySet().retainAll(earliest.keySet());
  }

  /** Whether nothing is looked at any more. */
  boolean isEmpty() {
    return looks.isEmpty();
  }

  /** When the first message of each needed block expires, from that of a sequence on. */
  Map<Long, Long> earliest(long fromSequence, LongPredicate needed) {
    Map<Long, Long> kept = new TreeMap<>();
    earliest
        .tailMap(SequenceSet.key(fromSequence))
        .forEach(
            (block, millis) -> {
              if (needed.test(block)) {
                kept.put(block, millis);
              }
            });
    return kept;
  }

  /** Varint needed blocks from that of a sequence on, each: long key, long earliest expiry. */
  void encode(DataOutput out, long fromSequence, LongPredicate needed) throws IOException {
    Map<Long, Long> kept = earliest(fromSequence, needed);
    Formats.writeVarint(out, kept.size());
    for (Map.Entry<Long, Long> block : kept.entrySet()) {
      out.writeLong(block.getKey());
      out.writeLong(block.getValue());
    }
  }

  void decode(DataInput in) throws IOException {
    long blocks = Formats.readVarint(in);
    for (long i = 0; i < blocks; i++) {
      earliest.put(in.readLong(), in.readLong());
    }
    looks.putAll(earliest);
  }
}
