package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DirectMemory;
import java.nio.ByteBuffer;

/**
 * The memory outside the heap that destinations use, in slabs that are recycled. One per shard. It
 * grows with what is outstanding: cursors need at most 512 bytes for 4096 sequences, run lists 12
 * bytes for up to 64 entries that lie in the journal only.
 */
@OwnedBy("shard")
public final class OffHeap {
  private static final String PURPOSE = "destinations";
  static final int SLAB_BYTES = 48 << 10;

  /** So many messages at least are touched ahead of those that are given out. */
  public static final int TOUCHED_AHEAD = 256;

  private final Slabs.Source source =
      new Slabs.Source() {
        @Override
        public ByteBuffer allocate(int bytes) {
          return take(bytes);
        }

        @Override
        public void free(ByteBuffer slab) {
          giveBack(slab);
        }
      };

  final Slabs bitmaps = new Slabs(source, SequenceSet.BITMAP_BYTES, SLAB_BYTES);
  final Slabs runs = new Slabs(source, RunList.CHUNK_BYTES, SLAB_BYTES);
  final Slabs tables = new Slabs(source, BlockTable.BLOCK_BYTES, SLAB_BYTES);

  private final DirectMemory memory;

  /** How much of it views with keys may take. */
  final ViewBounds bounds;

  /** How many messages at least are touched ahead of those that are given out. */
  final int touchedAhead;

  private long usedBytes;

  /** Slabs come from and go back to here. */
  public OffHeap(DirectMemory memory) {
    this(memory, TOUCHED_AHEAD);
  }

  /** The same with so many messages touched ahead. */
  public OffHeap(DirectMemory memory, int touchedAhead) {
    this(memory, ViewBounds.DEFAULT, touchedAhead);
  }

  OffHeap(DirectMemory memory, ViewBounds bounds) {
    this(memory, bounds, TOUCHED_AHEAD);
  }

  private OffHeap(DirectMemory memory, ViewBounds bounds, int touchedAhead) {
    this.memory = memory;
    this.bounds = bounds;
    this.touchedAhead = touchedAhead;
  }

  /** Bytes in use now. */
  public long usedBytes() {
    return usedBytes;
  }

  private ByteBuffer take(int bytes) {
    ByteBuffer slab = memory.allocate(PURPOSE, bytes);
    usedBytes += bytes;
    return slab;
  }

  private void giveBack(ByteBuffer slab) {
    usedBytes -= slab.capacity();
    memory.free(PURPOSE, slab);
  }
}
