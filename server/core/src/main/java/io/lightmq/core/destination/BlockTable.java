package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Cells for sequences of one lane, in blocks outside the heap that exist only where a cell is in
 * use: 4096 cells of one byte, or 1024 of four. Blocks rise by key; taking the oldest away costs
 * nothing.
 */
@OwnedBy("shard")
final class BlockTable {
  static final int BLOCK_BYTES = 4096;

  private final Slabs slabs;
  private final int cellShift;
  private final int blockBits;
  private long[] keys = new long[2];
  private int[] handles = new int[2];
  private int[] live = new int[2];
  private int head;
  private int end;

  /**
   * @param cellShift 0 for cells of one byte, 2 for cells of four
   */
  BlockTable(OffHeap memory, int cellShift) {
    this.slabs = memory.tables;
    this.cellShift = cellShift;
    this.blockBits = 12 - cellShift;
  }

  boolean isEmpty() {
    return head == end;
  }

  /** Bytes outside the heap. */
  long bytes() {
    return (long) (end - head) * BLOCK_BYTES;
  }

  /** The cell's value, 0 if it was never set or was cleared. */
  int get(long sequence) {
    int row = rowOf(sequence >>> blockBits);
    return row < 0 ? 0 : cell(row, sequence);
  }

  /** Sets the cell and returns what it was; 0 clears it. */
  int set(long sequence, int value) {
    long key = sequence >>> blockBits;
    int row = rowOf(key);
    if (row < 0) {
      if (value == 0) {
        return 0;
      }
      row = insert(-row - 1, key);
    }
    int before = cell(row, sequence);
    if (before == value) {
      return before;
    }
    int at = address(row, sequence);
    if (cellShift == 0) {
      slabs.slab(handles[row]).put(at, (byte) value);
    } else {
      slabs.slab(handles[row]).putInt(at, value);
    }
    if (before == 0) {
      live[row]++;
    } else if (value == 0 && --live[row] == 0) {
      drop(row);
    }
    return before;
  }

  /**
   * Adds one to each cell of {@code from} to {@code to} - 1 that is below a most; of bytes only.
   */
  void raise(long from, long to, int most) {
    for (long at = from; at < to; ) {
      long key = at >>> blockBits;
      long stop = Math.min(to, (key + 1) << blockBits);
      int row = rowOf(key);
      row = row < 0 ? insert(-row - 1, key) : row;
      ByteBuffer slab = slabs.slab(handles[row]);
      int place = address(row, at);
      int begun = 0;
      for (int end = place + (int) (stop - at); place < end; place++) {
        int before = slab.get(place) & 0xFF;
        if (before < most) {
          slab.put(place, (byte) (before + 1));
          begun += before == 0 ? 1 : 0;
        }
      }
      live[row] += begun;
      at = stop;
    }
  }

  /** The first from a cell on that differs from it, or a limit; of bytes only. */
  long runEnd(long from, long limit) {
    int value = get(from);
    long at = from;
    while (at < limit) {
      long key = at >>> blockBits;
      long stop = Math.min(limit, (key + 1) << blockBits);
      int row = rowOf(key);
      if (row < 0 && value != 0) {
        return at;
      }
      if (row >= 0) {
        ByteBuffer slab = slabs.slab(handles[row]);
        int place = address(row, at);
        for (; at < stop; at++, place++) {
          if ((slab.get(place) & 0xFF) != value) {
            return at;
          }
        }
      }
      at = stop;
    }
    return limit;
  }

  /** The lowest sequence that is at least {@code from} with a cell in use, or -1. */
  long next(long from) {
    long found = next(from, Long.MAX_VALUE);
    return found == Long.MAX_VALUE ? -1 : found;
  }

  /**
   * The lowest sequence in {@code from} to {@code to} - 1 with a cell in use, or {@code to}. No
   * cell outside of the range is looked at, but for those that share eight bytes with one inside.
   */
  long next(long from, long to) {
    int row = rowOf(from >>> blockBits);
    row = row < 0 ? -row - 1 : row;
    for (; row < end && keys[row] << blockBits < to; row++) {
      long start = keys[row] << blockBits;
      long found = nextInRow(row, Math.max(start, from), Math.min(to, start + (1L << blockBits)));
      if (found >= 0) {
        return found;
      }
    }
    return to;
  }

  private long nextInRow(int row, long from, long to) {
    ByteBuffer slab = slabs.slab(handles[row]);
    int perLong = 8 >> cellShift;
    long at = from;
    while (at < to) {
      if (at % perLong == 0 && slab.getLong(address(row, at)) == 0) {
        at += perLong;
      } else if (cell(row, at) != 0) {
        return at;
      } else {
        at++;
      }
    }
    return -1;
  }

  /** Whether any block in use lies in {@code from} to {@code to} - 1. */
  boolean anyBlock(long from, long to) {
    if (head == end) {
      return false;
    }
    int row = rowOf(from >>> blockBits);
    if (row >= 0) {
      return true;
    }
    row = -row - 1;
    return row < end && keys[row] <= (to - 1) >>> blockBits;
  }

  void clear() {
    while (head < end) {
      slabs.free(handles[head++]);
    }
    head = 0;
    end = 0;
  }

  /**
   * Clears the cells of {@code from} to {@code to} - 1; whole blocks cost nothing for each cell.
   */
  void clear(long from, long to) {
    for (long at = next(from, to); at < to; at = next(at, to)) {
      long key = at >>> blockBits;
      long start = key << blockBits;
      long stop = start + (1L << blockBits);
      if (from <= start && stop <= to) {
        drop(rowOf(key));
        at = stop;
      } else {
        set(at, 0);
        at++;
      }
    }
  }

  private int cell(int row, long sequence) {
    int at = address(row, sequence);
    return cellShift == 0
        ? slabs.slab(handles[row]).get(at) & 0xFF
        : slabs.slab(handles[row]).getInt(at);
  }

  private int address(int row, long sequence) {
    return slabs.at(handles[row]) + ((int) (sequence & ((1L << blockBits) - 1)) << cellShift);
  }

  private int rowOf(long key) {
    if (head < end && keys[end - 1] == key) {
      return end - 1;
    }
    return Arrays.binarySearch(keys, head, end, key);
  }

  private int insert(int place, long key) {
    int row = place;
    if (end == keys.length) {
      int rows = end - head;
      int length = rows > keys.length / 2 ? keys.length * 2 : keys.length;
      keys = Arrays.copyOfRange(keys, head, head + length);
      handles = Arrays.copyOfRange(handles, head, head + length);
      live = Arrays.copyOfRange(live, head, head + length);
      row -= head;
      end = rows;
      head = 0;
    }
    System.arraycopy(keys, row, keys, row + 1, end - row);
    System.arraycopy(handles, row, handles, row + 1, end - row);
    System.arraycopy(live, row, live, row + 1, end - row);
    keys[row] = key;
    handles[row] = slabs.allocate(0L);
    live[row] = 0;
    end++;
    return row;
  }

  private void drop(int row) {
    slabs.free(handles[row]);
    if (row == head) {
      head++;
    } else {
      System.arraycopy(keys, row + 1, keys, row, end - row - 1);
      System.arraycopy(handles, row + 1, handles, row, end - row - 1);
      System.arraycopy(live, row + 1, live, row, end - row - 1);
      end--;
    }
    if (head == end) {
      head = 0;
      end = 0;
    }
  }
}
