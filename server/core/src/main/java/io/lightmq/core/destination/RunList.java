package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Where a durable lane's entries lie in the journal: runs of at most 64 entries and 64 KiB (or one
 * larger entry) that lie back to back, rising by sequence and offset.
 *
 * <pre>
 * run, 12 bytes outside the heap:
 *  0 int sequence  less the chunk's first
 *  4 int offset    less the chunk's first, unsigned
 *  8 int bytes &lt;&lt; 7 | count
 * </pre>
 *
 * <p>A chunk of 64 runs never changes once it is full or frozen, so a destage thread may read it
 * while the shard goes on; it counts who reads it. Counting is done on the shard only.
 */
@OwnedBy("shard")
final class RunList {
  static final int RUN_BYTES = 12;
  static final int CHUNK_RUNS = 64;
  static final int CHUNK_BYTES = CHUNK_RUNS * RUN_BYTES;
  static final int MAX_COUNT = 64;
  static final int MAX_BYTES = 64 << 10;
  private static final int COUNT_BITS = 7;
  static final int MAX_ENTRY_BYTES = (1 << (31 - COUNT_BITS)) - 1;

  /** Runs that were appended one after the other. */
  private static final class Chunk {
    final long firstSequence;
    final long firstOffset;
    final int handle;
    final ByteBuffer slab;
    final int at;
    int runs;
    int references = 1;

    Chunk(long firstSequence, long firstOffset, int handle, ByteBuffer slab, int at) {
      this.firstSequence = firstSequence;
      this.firstOffset = firstOffset;
      this.handle = handle;
      this.slab = slab;
      this.at = at;
    }

    long sequence(int run) {
      return firstSequence + (slab.getInt(at + run * RUN_BYTES) & 0xFFFFFFFFL);
    }

    long offset(int run) {
      return firstOffset + (slab.getInt(at + run * RUN_BYTES + 4) & 0xFFFFFFFFL);
    }

    int count(int run) {
      return slab.getInt(at + run * RUN_BYTES + 8) & ((1 << COUNT_BITS) - 1);
    }

    int bytes(int run) {
      return slab.getInt(at + run * RUN_BYTES + 8) >>> COUNT_BITS;
    }
  }

  private final Slabs slabs;
  private @Nullable Chunk[] chunks = new Chunk[2];
  private int head;
  private int end;
  private boolean frozen;

  // The run that the last entry went into.
  private long lastSequence = -1;
  private long lastEnd = -1;

  RunList(OffHeap memory) {
    this.slabs = memory.runs;
  }

  boolean isEmpty() {
    return head == end;
  }

  /** The first entry's sequence, or {@code Long.MAX_VALUE}. */
  long firstSequence() {
    return isEmpty() ? Long.MAX_VALUE : chunk(head).firstSequence;
  }

  /** Appends an entry behind all others. */
  void append(long sequence, long offset, int bytes) {
    if (bytes <= 0 || bytes > MAX_ENTRY_BYTES || sequence <= lastSequence || offset < lastEnd) {
      throw new IllegalArgumentException(
          "entry %d with %d bytes at offset %d cannot follow entry %d that ends at %d"
              .formatted(sequence, bytes, offset, lastSequence, lastEnd));
    }
    Chunk chunk = isEmpty() || frozen ? null : chunk(end - 1);
    if (chunk != null && sequence == lastSequence + 1 && offset == lastEnd) {
      int run = chunk.runs - 1;
      int count = chunk.count(run);
      int all = chunk.bytes(run) + bytes;
      if (count < MAX_COUNT && all <= MAX_BYTES) {
        chunk.slab.putInt(chunk.at + run * RUN_BYTES + 8, all << COUNT_BITS | (count + 1));
        lastSequence = sequence;
        lastEnd = offset + bytes;
        return;
      }
    }
    if (chunk == null
        || chunk.runs == CHUNK_RUNS
        || sequence - chunk.firstSequence > 0xFFFFFFFFL
        || offset - chunk.firstOffset > 0xFFFFFFFFL) {
      chunk = open(sequence, offset);
    }
    int place = chunk.at + chunk.runs * RUN_BYTES;
    chunk.slab.putInt(place, (int) (sequence - chunk.firstSequence));
    chunk.slab.putInt(place + 4, (int) (offset - chunk.firstOffset));
    chunk.slab.putInt(place + 8, bytes << COUNT_BITS | 1);
    chunk.runs++;
    lastSequence = sequence;
    lastEnd = offset + bytes;
  }

  private Chunk open(long sequence, long offset) {
    frozen = false;
    if (end == chunks.length) {
      int live = end - head;
      @Nullable Chunk[] to = live > chunks.length / 2 ? new Chunk[chunks.length * 2] : chunks;
      System.arraycopy(chunks, head, to, 0, live);
      Arrays.fill(to, live, Math.min(end, to.length), null);
      chunks = to;
      head = 0;
      end = live;
    }
    int handle = slabs.allocate();
    Chunk chunk = new Chunk(sequence, offset, handle, slabs.slab(handle), slabs.at(handle));
    chunks[end++] = chunk;
    return chunk;
  }

  private Chunk chunk(int index) {
    Chunk chunk = chunks[index];
    if (chunk == null) {
      throw new IllegalStateException("chunk " + index + " of a run list was dropped");
    }
    return chunk;
  }

  /** Finds the run that holds a sequence; false if none does. */
  boolean locate(long sequence, Location into) {
    int low = head;
    int high = end - 1;
    while (low <= high) {
      int mid = (low + high) >>> 1;
      if (chunk(mid).firstSequence <= sequence) {
        low = mid + 1;
      } else {
        high = mid - 1;
      }
    }
    if (high < head) {
      return false;
    }
    Chunk chunk = chunk(high);
    int first = 0;
    int last = chunk.runs - 1;
    while (first <= last) {
      int mid = (first + last) >>> 1;
      if (chunk.sequence(mid) <= sequence) {
        first = mid + 1;
      } else {
        last = mid - 1;
      }
    }
    if (last < 0 || sequence >= chunk.sequence(last) + chunk.count(last)) {
      return false;
    }
    into.inJournal(chunk.sequence(last), chunk.count(last), chunk.offset(last), chunk.bytes(last));
    return true;
  }

  /** A picture of all runs for another thread, to be released on the shard. */
  Frozen freeze() {
    frozen = true;
    List<Chunk> taken = new ArrayList<>(end - head);
    for (int i = head; i < end; i++) {
      Chunk chunk = chunk(i);
      chunk.references++;
      taken.add(chunk);
    }
    return new Frozen(taken);
  }

  /** Drops the chunks whose runs all lie below an offset, from the oldest on. */
  void dropBelow(long offset) {
    while (head < end) {
      Chunk chunk = chunk(head);
      int last = chunk.runs - 1;
      if (chunk.offset(last) + chunk.bytes(last) > offset) {
        break;
      }
      chunks[head++] = null;
      unreference(chunk);
    }
    if (head == end) {
      head = 0;
      end = 0;
    }
  }

  void clear() {
    dropBelow(Long.MAX_VALUE);
  }

  private void unreference(Chunk chunk) {
    if (--chunk.references == 0) {
      slabs.free(chunk.handle);
    }
  }

  /** Runs that do not change any more. Iterable on any one thread. */
  final class Frozen implements Iterable<JournalRun> {
    private final List<Chunk> taken;
    private final int[] runs;

    private Frozen(List<Chunk> taken) {
      this.taken = taken;
      this.runs = taken.stream().mapToInt(chunk -> chunk.runs).toArray();
    }

    boolean isEmpty() {
      return taken.isEmpty();
    }

    /** Bytes of all runs' entries. */
    long bytes() {
      long bytes = 0;
      for (JournalRun run : this) {
        bytes += run.bytes();
      }
      return bytes;
    }

    /** Gives the memory back. Shard only, once nobody iterates. */
    void release() {
      taken.forEach(RunList.this::unreference);
      taken.clear();
    }

    @Override
    public Iterator<JournalRun> iterator() {
      return new Iterator<>() {
        private int chunk;
        private int run;

        @Override
        public boolean hasNext() {
          return chunk < taken.size();
        }

        @Override
        public JournalRun next() {
          if (!hasNext()) {
            throw new NoSuchElementException();
          }
          Chunk from = taken.get(chunk);
          JournalRun next =
              new JournalRun(
                  from.sequence(run), from.count(run), from.offset(run), from.bytes(run));
          if (++run == runs[chunk]) {
            run = 0;
            chunk++;
          }
          return next;
        }
      };
    }
  }
}
