package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DirectMemory;
import java.nio.ByteBuffer;

/**
 * The entries of all volatile lanes of a shard, outside the heap and within a budget of bytes. What
 * does not fit is refused; the shard then holds its publisher back.
 *
 * <pre>
 * An entry is a chain of blocks of 256 bytes, so that one old message pins no others:
 * first block: 0 int next, 4 int length, 8 int needs, 12 long after, 20 bytes of the entry
 * other block: 0 int next, 4 bytes of the entry
 * </pre>
 */
@OwnedBy("shard")
public final class VolatileStore {
  private static final String PURPOSE = "volatile messages";
  private static final int BLOCK_BYTES = 256;
  private static final int FIRST = 20;
  private static final int OTHER = 4;

  private final Slabs blocks;
  private final long budgetBytes;

  /**
   * An empty store.
   *
   * @param budgetBytes the most that all entries may take
   */
  public VolatileStore(DirectMemory memory, long budgetBytes) {
    this.budgetBytes = budgetBytes;
    this.blocks =
        new Slabs(
            new Slabs.Source() {
              @Override
              public ByteBuffer allocate(int bytes) {
                return memory.allocate(PURPOSE, bytes);
              }

              @Override
              public void free(ByteBuffer slab) {
                memory.free(PURPOSE, slab);
              }
            },
            BLOCK_BYTES,
            OffHeap.SLAB_BYTES);
  }

  /** The most that all entries may take. */
  public long budgetBytes() {
    return budgetBytes;
  }

  /** What all entries take now. */
  public long usedBytes() {
    return blocks.usedBlocks() * BLOCK_BYTES;
  }

  /** Whether so many entries with so many bytes in all are sure to find room. */
  public boolean fits(int entries, long bytes) {
    long most = bytes / (BLOCK_BYTES - OTHER) + 2L * entries;
    return usedBytes() + most * BLOCK_BYTES <= budgetBytes;
  }

  /** Copies an entry from position to limit, which stay; {@link #fits} has been asked. */
  int put(ByteBuffer entry, long after, int needs) {
    int length = entry.remaining();
    if (needs <= 0 || !fits(1, length)) {
      throw new IllegalStateException(
          "entry of %d bytes for %d subscriptions does not fit: %d of %d bytes are used"
              .formatted(length, needs, usedBytes(), budgetBytes));
    }
    int from = entry.position();
    int left = length;
    int first = blocks.allocate();
    int block = first;
    int start = FIRST;
    while (true) {
      ByteBuffer slab = blocks.slab(block);
      int at = blocks.at(block);
      int part = Math.min(left, BLOCK_BYTES - start);
      slab.put(at + start, entry, from, part);
      from += part;
      left -= part;
      if (left == 0) {
        slab.putInt(at, -1);
        break;
      }
      int next = blocks.allocate();
      slab.putInt(at, next);
      block = next;
      start = OTHER;
    }
    ByteBuffer slab = blocks.slab(first);
    int at = blocks.at(first);
    slab.putInt(at + 4, length);
    slab.putInt(at + 8, needs);
    slab.putLong(at + 12, after);
    return first;
  }

  int length(int handle) {
    return blocks.slab(handle).getInt(blocks.at(handle) + 4);
  }

  long after(int handle) {
    return blocks.slab(handle).getLong(blocks.at(handle) + 12);
  }

  /** A field of the entry's fixed header. */
  long getLong(int handle, int offset) {
    return blocks.slab(handle).getLong(blocks.at(handle) + FIRST + offset);
  }

  /** Copies the entry to the buffer's position, which moves. */
  void copyTo(int handle, ByteBuffer into) {
    int left = length(handle);
    int to = into.position();
    int block = handle;
    int start = FIRST;
    while (true) {
      ByteBuffer slab = blocks.slab(block);
      int at = blocks.at(block);
      int part = Math.min(left, BLOCK_BYTES - start);
      into.put(to, slab, at + start, part);
      to += part;
      left -= part;
      if (left == 0) {
        break;
      }
      block = slab.getInt(at);
      start = OTHER;
    }
    into.position(to);
  }

  /** One subscription needs the entry no more; whether it is gone with that. */
  boolean release(int handle) {
    ByteBuffer slab = blocks.slab(handle);
    int at = blocks.at(handle);
    int needs = slab.getInt(at + 8) - 1;
    if (needs > 0) {
      slab.putInt(at + 8, needs);
      return false;
    }
    drop(handle);
    return true;
  }

  /** Forgets an entry, whoever needs it. */
  void drop(int handle) {
    int block = handle;
    while (block != -1) {
      int next = blocks.slab(block).getInt(blocks.at(block));
      blocks.free(block);
      block = next;
    }
  }
}
