package io.lightmq.core.destination;

import io.lightmq.core.storage.segment.Wanted;
import java.util.Arrays;
import java.util.Collection;

/**
 * An immutable picture of the sequences of a lane that somebody needs: blocks of 4096, each whole
 * or with a bitmap. It takes 16 bytes of heap a block and 520 more for a bitmap, for the range that
 * a checkpoint looks at.
 */
final class NeededSet implements Wanted {
  private static final int WORDS = SequenceSet.BLOCK / 64;

  private long[] keys = new long[4];

  /** Null for a block that is needed as a whole. */
  private long[][] bitmaps = new long[4][];

  private int blocks;
  private long size;

  /**
   * What the subscriptions need of {@code from} to {@code to} - 1 of a lane, as far as it exists.
   */
  NeededSet(Lane lane, Collection<Subscription> subscriptions, long from, long to) {
    Extents extents = lane.extents;
    Cursor[] cursors = subscriptions.stream().map(each -> each.cursor(lane)).toArray(Cursor[]::new);
    long at = extents.ceiling(from);
    while (at < to && extents.exists(at)) {
      long key = SequenceSet.key(at);
      long blockEnd = (key + 1) << SequenceSet.BLOCK_BITS;
      long end = Math.min(Math.min(to, blockEnd), extents.extentEnd(at));
      add(key, at, end, cursors);
      at = extents.ceiling(end);
    }
  }

  private void add(long key, long from, long to, Cursor[] cursors) {
    boolean allDone = true;
    for (Cursor cursor : cursors) {
      allDone &= cursor.start() >= to || cursor.acknowledged.isFull(key);
    }
    if (allDone) {
      return;
    }
    long[] bitmap = new long[WORDS];
    int count = 0;
    for (long at = from & ~63L; at < to; at += 64) {
      long word = 0;
      for (Cursor cursor : cursors) {
        word |= ~cursor.acknowledged.wordAt(at) & mask(at, Math.max(from, cursor.start()), to);
      }
      bitmap[(int) ((at & (SequenceSet.BLOCK - 1)) >>> 6)] = word;
      count += Long.bitCount(word);
    }
    if (count == 0) {
      return;
    }
    if (blocks == keys.length) {
      keys = Arrays.copyOf(keys, blocks * 2);
      bitmaps = Arrays.copyOf(bitmaps, blocks * 2);
    }
    keys[blocks] = key;
    bitmaps[blocks] = count == SequenceSet.BLOCK ? null : bitmap;
    blocks++;
    size += count;
  }

  private static long mask(long word, long from, long to) {
    if (from >= word + 64) {
      return 0;
    }
    long mask = from > word ? -1L << from : -1L;
    return to < word + 64 ? mask & ~(-1L << to) : mask;
  }

  /** How many sequences are needed. */
  long size() {
    return size;
  }

  @Override
  public boolean wants(long sequence) {
    int at = Arrays.binarySearch(keys, 0, blocks, SequenceSet.key(sequence));
    return at >= 0
        && (bitmaps[at] == null
            || (bitmaps[at][(int) ((sequence & (SequenceSet.BLOCK - 1)) >>> 6)] & (1L << sequence))
                != 0);
  }

  @Override
  public long next(long from) {
    int at = Arrays.binarySearch(keys, 0, blocks, SequenceSet.key(from));
    long sequence = from;
    if (at < 0) {
      at = -at - 1;
      if (at == blocks) {
        return Long.MAX_VALUE;
      }
      sequence = keys[at] << SequenceSet.BLOCK_BITS;
    }
    long[] bitmap = bitmaps[at];
    if (bitmap == null) {
      return sequence;
    }
    int word = (int) ((sequence & (SequenceSet.BLOCK - 1)) >>> 6);
    long rest = bitmap[word] & (-1L << sequence);
    while (rest == 0 && ++word < WORDS) {
      rest = bitmap[word];
    }
    long start = keys[at] << SequenceSet.BLOCK_BITS;
    return rest == 0
        ? start + SequenceSet.BLOCK
        : start + word * 64L + Long.numberOfTrailingZeros(rest);
  }
}
