package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.overflow.OverflowFile;
import io.lightmq.core.storage.overflow.OverflowFiles;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What of an unlogged lane lies in overflow files: runs of entries that lie back to back, rising by
 * sequence. A run holds its file until nobody needs any entry of it. Sequences between its first
 * and its last may be missing: they were acknowledged before.
 *
 * <pre>
 * run, 48 bytes outside the heap:
 *  0 long last      its last sequence
 *  8 long after     of all its entries, see UnloggedLane
 * 16 long needs     how many subscriptions need how many entries, summed
 * 24 int file       the file's number
 * 28 int position   in the file
 * 32 int bytes
 * 36 int count      entries
 * </pre>
 */
@OwnedBy("shard")
final class MovedRuns {
  static final int RUN_BYTES = 48;

  private static final int GONE = -1;

  private final Slabs slabs;
  private long[] firsts = new long[2];

  /** {@link #GONE} for a run that nobody needs any more; half of the rows are such at most. */
  private int[] handles = new int[2];

  private int gone;
  private int head;
  private int end;
  private int found;

  MovedRuns(Slabs slabs) {
    this.slabs = slabs;
  }

  boolean isEmpty() {
    return head == end;
  }

  /** Adds a run behind all others. */
  void add(long first, Moved run) {
    if (head < end && last(end - 1) >= first) {
      throw new IllegalStateException(
          "run from %d comes behind one that ends with %d".formatted(first, last(end - 1)));
    }
    if (end == firsts.length) {
      move(end - head > firsts.length / 2 ? firsts.length * 2 : firsts.length);
    }
    int handle = slabs.allocate();
    ByteBuffer slab = slabs.slab(handle);
    int at = slabs.at(handle);
    slab.putLong(at, run.last());
    slab.putLong(at + 8, run.after());
    slab.putLong(at + 16, run.needs());
    slab.putInt(at + 24, run.file());
    slab.putInt(at + 28, run.position());
    slab.putInt(at + 32, run.bytes());
    slab.putInt(at + 36, run.count());
    firsts[end] = first;
    handles[end] = handle;
    end++;
  }

  /** A run as it is stored, but for its first sequence. */
  record Moved(long last, long after, long needs, int file, int position, int bytes, int count) {}

  /** The run with a sequence; throws if there is none. */
  Moved find(long sequence) {
    int handle = handles[row(sequence)];
    ByteBuffer slab = slabs.slab(handle);
    int at = slabs.at(handle);
    return new Moved(
        slab.getLong(at),
        slab.getLong(at + 8),
        slab.getLong(at + 16),
        slab.getInt(at + 24),
        slab.getInt(at + 28),
        slab.getInt(at + 32),
        slab.getInt(at + 36));
  }

  /** The first sequence of the run with a sequence. */
  long first(long sequence) {
    return firsts[row(sequence)];
  }

  long after(long sequence) {
    int handle = handles[row(sequence)];
    return slabs.slab(handle).getLong(slabs.at(handle) + 8);
  }

  /** One subscription needs an entry no more; with the last need the run goes. */
  void release(long sequence, OverflowFiles files) {
    int row = row(sequence);
    ByteBuffer slab = slabs.slab(handles[row]);
    int at = slabs.at(handles[row]);
    long needs = slab.getLong(at + 16) - 1;
    slab.putLong(at + 16, needs);
    if (needs == 0) {
      OverflowFile file = files.file(slab.getInt(at + 24));
      drop(row);
      file.release();
    }
  }

  void clear(OverflowFiles files) {
    while (head < end) {
      int handle = handles[head]; // the first one is never gone
      OverflowFile file = files.file(slabs.slab(handle).getInt(slabs.at(handle) + 24));
      drop(head);
      file.release();
    }
  }

  private long last(int row) {
    return slabs.slab(handles[row]).getLong(slabs.at(handles[row]));
  }

  private int row(long sequence) {
    // What is asked for next mostly lies in the run that was found last, or in the one behind it.
    int row = holds(found, sequence) ? found : found + 1;
    if (!holds(row, sequence)) {
      row = Arrays.binarySearch(firsts, head, end, sequence);
      row = row < 0 ? -row - 2 : row;
      if (!holds(row, sequence)) {
        throw new IllegalStateException("sequence " + sequence + " is in no run of the overflow");
      }
    }
    found = row;
    return row;
  }

  private boolean holds(int row, long sequence) {
    return row >= head
        && row < end
        && handles[row] != GONE
        && firsts[row] <= sequence
        && sequence <= last(row);
  }

  /** Rows are not moved for each run that goes: that would take as long as there are runs. */
  private void drop(int row) {
    slabs.free(handles[row]);
    handles[row] = GONE;
    gone++;
    while (head < end && handles[head] == GONE) {
      head++;
      gone--;
    }
    while (head < end && handles[end - 1] == GONE) {
      end--;
      gone--;
    }
    if (head == end) {
      head = 0;
      end = 0;
    } else if (gone > (end - head) / 2) {
      move(firsts.length);
    }
  }

  /** Moves the rows that are there to the beginning of arrays of a length. */
  private void move(int length) {
    long[] toFirsts = new long[length];
    int[] toHandles = new int[length];
    int rows = 0;
    for (int row = head; row < end; row++) {
      if (handles[row] != GONE) {
        toFirsts[rows] = firsts[row];
        toHandles[rows] = handles[row];
        rows++;
      }
    }
    firsts = toFirsts;
    handles = toHandles;
    head = 0;
    end = rows;
    gone = 0;
  }
}
