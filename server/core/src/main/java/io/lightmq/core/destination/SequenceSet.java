package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A set of sequences of one lane. It knows nothing of which sequences exist.
 *
 * <p>Sequences are kept in blocks of 4096, named by key = sequence >>> 12. A block is empty (not
 * there), full, or a bitmap outside the heap; neighbouring full blocks are one row. Rows rise by
 * key. So a row costs 20 bytes of heap, a bitmap 512 bytes outside of it, and a million sequences
 * need between 20 bytes and 130 KiB.
 */
@OwnedBy("shard")
final class SequenceSet {
  static final int BLOCK_BITS = 12;
  static final int BLOCK = 1 << BLOCK_BITS;
  static final int BITMAP_BYTES = BLOCK / 8;

  private static final int FULL = -1;
  private static final int VERSION = 1;

  /** An empty set keeps arrays up to this length, since many sets are filled again at once. */
  private static final int KEPT_ROWS = 16;

  private static final long[] NO_KEYS = {};
  private static final int[] NO_INTS = {};

  private final Slabs bitmaps;
  private long[] keys = NO_KEYS;

  /** Blocks of a row: 1 for a bitmap, any number for full ones. */
  private int[] blocks = NO_INTS;

  /** {@link #FULL} or the bitmap's handle. */
  private int[] handles = NO_INTS;

  /** Members in a bitmap. */
  private int[] members = NO_INTS;

  private int rows;
  private int lastRow;
  private long size;

  SequenceSet(OffHeap memory) {
    this.bitmaps = memory.bitmaps;
  }

  /** The number of the block that a sequence lies in. */
  static long key(long sequence) {
    return sequence >>> BLOCK_BITS;
  }

  /** Members. */
  long size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  boolean contains(long sequence) {
    int row = rowOf(sequence >>> BLOCK_BITS);
    return row >= 0 && (handles[row] == FULL || (word(row, sequence) & (1L << sequence)) != 0);
  }

  /** Whether the whole block of a key is in the set. */
  boolean isFull(long key) {
    int row = rowOf(key);
    return row >= 0 && handles[row] == FULL;
  }

  /** The 64 sequences from {@code sequence & ~63} on, lowest bit first. */
  long wordAt(long sequence) {
    int row = rowOf(sequence >>> BLOCK_BITS);
    if (row < 0) {
      return 0;
    }
    return handles[row] == FULL ? -1L : word(row, sequence);
  }

  /**
   * The end, exclusive, of the full blocks that the sequence lies in; the sequence itself if its
   * block is not full.
   */
  long fullUntil(long sequence) {
    int row = rowOf(sequence >>> BLOCK_BITS);
    if (row < 0 || handles[row] != FULL) {
      return sequence;
    }
    return (keys[row] + blocks[row]) << BLOCK_BITS;
  }

  /** The lowest sequence that is at least {@code from} and not in the set. */
  long nextAbsent(long from) {
    long at = from;
    while (true) {
      long full = fullUntil(at);
      if (full != at) {
        at = full;
        continue;
      }
      long free = ~wordAt(at) & (-1L << at);
      if (free != 0) {
        return (at & ~63L) + Long.numberOfTrailingZeros(free);
      }
      at = (at & ~63L) + 64;
    }
  }

  /** The lowest member in {@code from} to {@code to} - 1, or {@code to}. */
  long nextPresent(long from, long to) {
    long at = from;
    while (at < to) {
      long key = at >>> BLOCK_BITS;
      int row = rowOf(key);
      if (row < 0) {
        row = -row - 1;
        if (row >= rows) {
          return to;
        }
        at = keys[row] << BLOCK_BITS;
        continue;
      }
      long found = wordAt(at) & (-1L << at);
      if (found != 0) {
        return Math.min(to, (at & ~63L) + Long.numberOfTrailingZeros(found));
      }
      at = (at & ~63L) + 64;
    }
    return to;
  }

  /** Whether the two sets have a member in common. */
  boolean meets(SequenceSet other) {
    SequenceSet few = rows <= other.rows ? this : other;
    SequenceSet many = few == this ? other : this;
    for (int i = 0; i < few.rows; i++) {
      long end = (few.keys[i] + few.blocks[i]) << BLOCK_BITS;
      long at = few.keys[i] << BLOCK_BITS;
      while (at < end) {
        at = many.nextPresent(at, end);
        if (at < end && (few.wordAt(at) & many.wordAt(at)) != 0) {
          return true;
        }
        at = (at & ~63L) + 64;
      }
    }
    return false;
  }

  /** Members in {@code from} to {@code to} - 1. */
  long cardinality(long from, long to) {
    if (from >= to || rows == 0) {
      return 0;
    }
    long count = 0;
    int row = rowOf(from >>> BLOCK_BITS);
    for (int r = row < 0 ? -row - 1 : row; r < rows; r++) {
      long start = keys[r] << BLOCK_BITS;
      if (start >= to) {
        break;
      }
      long end = start + ((long) blocks[r] << BLOCK_BITS);
      long low = Math.max(from, start);
      long high = Math.min(to, end);
      if (handles[r] == FULL) {
        count += high - low;
      } else if (low == start && high == end) {
        count += members[r];
      } else {
        for (long at = low & ~63L; at < high; at += 64) {
          count += Long.bitCount(word(r, at) & mask(at, low, high));
        }
      }
    }
    return count;
  }

  /** Adds a sequence; whether it is new. */
  boolean add(long sequence) {
    return add(sequence, 1) == 1;
  }

  /** Adds consecutive sequences and returns how many of them are new. */
  long add(long from, long count) {
    long added = 0;
    long to = from + count;
    for (long at = from; at < to; ) {
      long key = at >>> BLOCK_BITS;
      long end = Math.min(to, (key + 1) << BLOCK_BITS);
      if (end - at == BLOCK) {
        long whole = (to - at) >>> BLOCK_BITS;
        int row = rowOf(key);
        if (row < 0 && (-row - 1 == rows || keys[-row - 1] >= key + whole)) {
          insertFull(-row - 1, key, (int) Math.min(whole, Integer.MAX_VALUE / 2));
          long sequences = Math.min(whole, Integer.MAX_VALUE / 2) << BLOCK_BITS;
          added += sequences;
          at += sequences;
          continue;
        }
      }
      added += addInBlock(key, at, end);
      at = end;
    }
    size += added;
    return added;
  }

  /** Removes a sequence; whether it was there. */
  boolean remove(long sequence) {
    return remove(sequence, 1) == 1;
  }

  /** Removes consecutive sequences and returns how many of them were there. */
  long remove(long from, long count) {
    long removed = 0;
    long to = from + count;
    long at = from;
    while (at < to && rows > 0) {
      long key = at >>> BLOCK_BITS;
      int row = rowOf(key);
      if (row < 0) {
        row = -row - 1;
        if (row >= rows || keys[row] << BLOCK_BITS >= to) {
          break;
        }
        key = keys[row];
        at = key << BLOCK_BITS;
      }
      long end = Math.min(to, (key + 1) << BLOCK_BITS);
      if (handles[row] == FULL && end - at == BLOCK) {
        long rowEnd = (keys[row] + blocks[row]) << BLOCK_BITS;
        end = Math.min(to & ~(BLOCK - 1L), rowEnd);
        cutFull(row, key, (int) ((end - at) >>> BLOCK_BITS));
        removed += end - at;
      } else {
        removed += removeInBlock(row, key, at, end);
      }
      at = end;
    }
    size -= removed;
    return removed;
  }

  /** Forgets whole blocks below a sequence. */
  void dropBelow(long sequence) {
    long key = sequence >>> BLOCK_BITS;
    if (rows > 0 && keys[0] < key) {
      long from = keys[0] << BLOCK_BITS;
      remove(from, (key << BLOCK_BITS) - from);
    }
  }

  void clear() {
    for (int i = 0; i < rows; i++) {
      if (handles[i] != FULL) {
        bitmaps.free(handles[i]);
      }
    }
    keys = NO_KEYS;
    blocks = NO_INTS;
    handles = NO_INTS;
    members = NO_INTS;
    rows = 0;
    size = 0;
  }

  /** Adds all members of another set. */
  void addAll(SequenceSet other) {
    for (int i = 0; i < other.rows; i++) {
      long start = other.keys[i] << BLOCK_BITS;
      if (other.handles[i] == FULL) {
        add(start, (long) other.blocks[i] << BLOCK_BITS);
      } else {
        for (int w = 0; w < BLOCK; w += 64) {
          addWord(start + w, other.word(i, start + w));
        }
      }
    }
  }

  private void addWord(long start, long word) {
    for (long rest = word; rest != 0; ) {
      int low = Long.numberOfTrailingZeros(rest);
      int run = Long.numberOfTrailingZeros(~(rest >>> low));
      run = Math.min(run, 64 - low);
      add(start + low, run);
      rest = low + run == 64 ? 0 : rest & (-1L << (low + run));
    }
  }

  /** Bytes outside the heap. */
  long offHeapBytes() {
    long bytes = 0;
    for (int i = 0; i < rows; i++) {
      bytes += handles[i] == FULL ? 0 : BITMAP_BYTES;
    }
    return bytes;
  }

  /** No less than {@link #offHeapBytes}, at once. */
  long mostOffHeapBytes() {
    return (long) rows * BITMAP_BYTES;
  }

  /** Bytes of heap in the rows. */
  long heapBytes() {
    return keys.length * 20L;
  }

  // ---- on disk ----

  /**
   * Writes the set: byte version 1, varint rows; per row varint distance of its key from the end of
   * the row before, varint blocks × 2 (full), or 1 and 512 bytes of bitmap.
   */
  void encode(DataOutput out) throws IOException {
    encode(out, 0);
  }

  /** The same without whole blocks below a sequence. */
  void encode(DataOutput out, long below) throws IOException {
    out.writeByte(VERSION);
    long first = below >>> BLOCK_BITS;
    int drop = 0;
    while (drop < rows && keys[drop] + blocks[drop] <= first) {
      drop++;
    }
    Formats.writeVarint(out, rows - drop);
    long end = 0;
    for (int i = drop; i < rows; i++) {
      long key = Math.max(keys[i], first);
      Formats.writeVarint(out, key - end);
      end = keys[i] + blocks[i];
      if (handles[i] == FULL) {
        Formats.writeVarint(out, (end - key) * 2L);
      } else {
        Formats.writeVarint(out, 1);
        long start = keys[i] << BLOCK_BITS;
        for (int w = 0; w < BLOCK; w += 64) {
          out.writeLong(word(i, start + w));
        }
      }
    }
  }

  /** Adds what {@link #encode} wrote to this set, which is empty. */
  void decode(DataInput in) throws IOException {
    Formats.version("sequence sets", in.readUnsignedByte(), VERSION);
    long rowCount = Formats.readVarint(in);
    long end = 0;
    for (long i = 0; i < rowCount; i++) {
      long key = end + Formats.readVarint(in);
      long kind = Formats.readVarint(in);
      if (key >>> (63 - BLOCK_BITS) != 0) {
        throw new IOException("row " + i + " of a sequence set has key " + key);
      }
      if (kind == 1) {
        for (int w = 0; w < BLOCK; w += 64) {
          addWord((key << BLOCK_BITS) + w, in.readLong());
        }
        end = key + 1;
      } else if (kind > 0 && (kind & 1) == 0 && kind / 2 <= Integer.MAX_VALUE / 2) {
        add(key << BLOCK_BITS, (kind / 2) << BLOCK_BITS);
        end = key + kind / 2;
      } else {
        throw new IOException("row " + i + " of a sequence set has kind " + kind);
      }
    }
  }

  // ---- rows ----

  /** The row that holds a key, or minus (where it would go) minus 1. */
  private int rowOf(long key) {
    int guess = lastRow;
    if (guess < rows && keys[guess] <= key && key < keys[guess] + blocks[guess]) {
      return guess;
    }
    int at = Arrays.binarySearch(keys, 0, rows, key);
    if (at < 0) {
      int before = -at - 2;
      if (before < 0 || key >= keys[before] + blocks[before]) {
        return at;
      }
      at = before;
    }
    lastRow = at;
    return at;
  }

  private static long mask(long at, long low, long high) {
    long word = at & ~63L;
    long mask = -1L;
    if (low > word) {
      mask &= -1L << low;
    }
    if (high < word + 64) {
      mask &= ~(-1L << high);
    }
    return mask;
  }

  private long word(int row, long sequence) {
    return slabOf(row).getLong(wordAddress(row, sequence));
  }

  private ByteBuffer slabOf(int row) {
    return bitmaps.slab(handles[row]);
  }

  private int wordAddress(int row, long sequence) {
    return bitmaps.at(handles[row]) + (int) ((sequence & (BLOCK - 1)) >>> 6) * 8;
  }

  private int addInBlock(long key, long from, long to) {
    int row = rowOf(key);
    if (row < 0) {
      row = -row - 1;
      open(row, 1);
      keys[row] = key;
      blocks[row] = 1;
      handles[row] = bitmaps.allocate(0L);
      members[row] = 0;
    }
    if (handles[row] == FULL) {
      return 0;
    }
    ByteBuffer slab = slabOf(row);
    int added = 0;
    for (long at = from & ~63L; at < to; at += 64) {
      int place = wordAddress(row, at);
      long word = slab.getLong(place);
      long more = mask(at, from, to) & ~word;
      if (more != 0) {
        slab.putLong(place, word | more);
        added += Long.bitCount(more);
      }
    }
    members[row] += added;
    if (members[row] == BLOCK) {
      bitmaps.free(handles[row]);
      handles[row] = FULL;
      merge(row);
    }
    return added;
  }

  private int removeInBlock(int found, long key, long from, long to) {
    int row = found;
    if (handles[row] == FULL) {
      row = isolate(row, key);
      handles[row] = bitmaps.allocate(-1L);
      members[row] = BLOCK;
    }
    ByteBuffer slab = slabOf(row);
    int removed = 0;
    for (long at = from & ~63L; at < to; at += 64) {
      int place = wordAddress(row, at);
      long word = slab.getLong(place);
      long less = mask(at, from, to) & word;
      if (less != 0) {
        slab.putLong(place, word & ~less);
        removed += Long.bitCount(less);
      }
    }
    members[row] -= removed;
    if (members[row] == 0) {
      bitmaps.free(handles[row]);
      close(row, 1);
    }
    return removed;
  }

  private void insertFull(int row, long key, int count) {
    open(row, 1);
    keys[row] = key;
    blocks[row] = count;
    handles[row] = FULL;
    members[row] = 0;
    merge(row);
  }

  /** Joins a full row with its full neighbours. */
  private void merge(int row) {
    int at = row;
    if (at > 0 && handles[at - 1] == FULL && keys[at - 1] + blocks[at - 1] == keys[at]) {
      blocks[at - 1] += blocks[at];
      close(at, 1);
      at--;
    }
    if (at + 1 < rows && handles[at + 1] == FULL && keys[at] + blocks[at] == keys[at + 1]) {
      blocks[at] += blocks[at + 1];
      close(at + 1, 1);
    }
  }

  /** Cuts a full row so that the block of a key is a row of its own, and returns that row. */
  private int isolate(int row, long key) {
    int before = (int) (key - keys[row]);
    int after = blocks[row] - before - 1;
    int at = row;
    if (before > 0) {
      open(at + 1, 1);
      blocks[at] = before;
      at++;
    }
    keys[at] = key;
    blocks[at] = 1;
    handles[at] = FULL;
    if (after > 0) {
      open(at + 1, 1);
      keys[at + 1] = key + 1;
      blocks[at + 1] = after;
      handles[at + 1] = FULL;
    }
    return at;
  }

  /** Takes {@code count} blocks from a key on out of a full row. */
  private void cutFull(int row, long key, int count) {
    int before = (int) (key - keys[row]);
    int after = blocks[row] - before - count;
    if (before == 0 && after == 0) {
      close(row, 1);
    } else if (before == 0) {
      keys[row] = key + count;
      blocks[row] = after;
    } else {
      blocks[row] = before;
      if (after > 0) {
        open(row + 1, 1);
        keys[row + 1] = key + count;
        blocks[row + 1] = after;
        handles[row + 1] = FULL;
      }
    }
  }

  private void open(int row, int count) {
    if (rows + count > keys.length) {
      int length = Math.max(4, keys.length + Math.max(count, keys.length >> 1));
      keys = Arrays.copyOf(keys, length);
      blocks = Arrays.copyOf(blocks, length);
      handles = Arrays.copyOf(handles, length);
      members = Arrays.copyOf(members, length);
    }
    move(row, row + count, rows - row);
    rows += count;
  }

  private void close(int row, int count) {
    move(row + count, row, rows - row - count);
    rows -= count;
    if (rows == 0 && keys.length > KEPT_ROWS) {
      keys = NO_KEYS;
      blocks = NO_INTS;
      handles = NO_INTS;
      members = NO_INTS;
    }
  }

  private void move(int from, int to, int count) {
    if (count > 0) {
      System.arraycopy(keys, from, keys, to, count);
      System.arraycopy(blocks, from, blocks, to, count);
      System.arraycopy(handles, from, handles, to, count);
      System.arraycopy(members, from, members, to, count);
    }
  }
}
