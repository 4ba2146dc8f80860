package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.overflow.OverflowFiles;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entries of all unlogged lanes of a shard that are in memory: outside the heap, within a
 * budget of bytes, and in a list from the oldest to the newest, of which {@link Overflow} moves the
 * oldest into files. What does not fit waits for that; the shard holds its publisher back.
 *
 * <pre>
 * An entry is a chain of blocks of 256 bytes, so that one old message pins no others:
 * first block: 0 int next, 4 int length, 8 int needs, 12 long after, 20 int older, 24 int newer,
 *   28 int lane, 32 long sequence, 40 bytes of the entry
 * other block: 0 int next, 4 bytes of the entry
 * older and newer are first blocks, -1 at the list's ends, -2 if the entry is not in the list
 * </pre>
 */
@OwnedBy("shard")
public final class UnloggedStore {
  private static final String PURPOSE = "unlogged messages";
  private static final int BLOCK_BYTES = 256;
  private static final int FIRST = 40;
  private static final int OTHER = 4;
  private static final int LENGTH_AT = 4;
  private static final int NEEDS_AT = 8;
  private static final int AFTER_AT = 12;
  private static final int OLDER_AT = 20;
  private static final int NEWER_AT = 24;
  private static final int LANE_AT = 28;
  private static final int SEQUENCE_AT = 32;

  /** Stands for no entry at an end of the list. */
  static final int NONE = -1;

  private static final int UNLISTED = -2;

  /** Where the places of overflowed entries are; see {@link MovedRuns}. */
  final Slabs runs;

  private final Slabs blocks;
  private final long budgetBytes;
  private final @Nullable OverflowFiles files;
  private final List<UnloggedLane> lanes = new ArrayList<>();
  private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();
  private int oldest = NONE;
  private int newest = NONE;

  /**
   * An empty store that keeps all in memory.
   *
   * @param budgetBytes the most that all entries may take
   */
  public UnloggedStore(DirectMemory memory, long budgetBytes) {
    this(memory, budgetBytes, null);
  }

  /**
   * An empty store.
   *
   * @param budgetBytes the most that all entries in memory may take
   * @param files where {@link Overflow} moves entries; null if all stay in memory
   */
  public UnloggedStore(DirectMemory memory, long budgetBytes, @Nullable OverflowFiles files) {
    this.budgetBytes = budgetBytes;
    this.files = files;
    Slabs.Source source =
        new Slabs.Source() {
          @Override
          public ByteBuffer allocate(int bytes) {
            return memory.allocate(PURPOSE, bytes);
          }

          @Override
          public void free(ByteBuffer slab) {
            memory.free(PURPOSE, slab);
          }
        };
    this.blocks = new Slabs(source, BLOCK_BYTES, OffHeap.SLAB_BYTES);
    this.runs = new Slabs(source, MovedRuns.RUN_BYTES, OffHeap.SLAB_BYTES);
  }

  /** The most that all entries may take. */
  public long budgetBytes() {
    return budgetBytes;
  }

  /** The overflow's files, which hold something that is needed. */
  OverflowFiles files() {
    OverflowFiles there = files;
    if (there == null) {
      throw new IllegalStateException("the unlogged messages have no overflow");
    }
    return there;
  }

  /** What the places of entries in files take, which is no part of {@link #usedBytes}. */
  public long placeBytes() {
    return runs.usedBlocks() * MovedRuns.RUN_BYTES;
  }

  /** What all entries in memory take now. */
  public long usedBytes() {
    return blocks.usedBlocks() * BLOCK_BYTES;
  }

  /** Whether so many entries with so many bytes in all are sure to find room. */
  public boolean fits(long entries, long bytes) {
    return usedBytes() + most(entries, bytes) <= budgetBytes;
  }

  /** What so many entries with so many bytes in all take at most. */
  public static long most(long entries, long bytes) {
    return (bytes / (BLOCK_BYTES - OTHER) + 2 * entries) * BLOCK_BYTES;
  }

  // ---- lanes ----

  /** Gives a lane the number by which its entries name it. */
  int register(UnloggedLane lane) {
    Integer free = freeNumbers.pollFirst();
    if (free == null) {
      lanes.add(lane);
      return lanes.size() - 1;
    }
    lanes.set(free, lane);
    return free;
  }

  /** A lane has no entry and gets none any more. */
  void unregister(int number) {
    freeNumbers.addFirst(number);
  }

  // ---- entries ----

  /** Copies an entry from position to limit, which stay; {@link #fits} has been asked. */
  int put(int lane, long sequence, ByteBuffer entry, long after, int needs) {
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
    slab.putInt(at + LENGTH_AT, length);
    slab.putInt(at + NEEDS_AT, needs);
    slab.putLong(at + AFTER_AT, after);
    slab.putInt(at + LANE_AT, lane);
    slab.putLong(at + SEQUENCE_AT, sequence);
    list(first, NONE);
    return first;
  }

  int length(int handle) {
    return getInt(handle, LENGTH_AT);
  }

  /** How many subscriptions need the entry. */
  int needs(int handle) {
    return getInt(handle, NEEDS_AT);
  }

  long after(int handle) {
    return blocks.slab(handle).getLong(blocks.at(handle) + AFTER_AT);
  }

  UnloggedLane lane(int handle) {
    return lanes.get(getInt(handle, LANE_AT));
  }

  long sequence(int handle) {
    return blocks.slab(handle).getLong(blocks.at(handle) + SEQUENCE_AT);
  }

  /** A field of the entry's fixed header. */
  long getLong(int handle, int offset) {
    return blocks.slab(handle).getLong(blocks.at(handle) + FIRST + offset);
  }

  private int getInt(int handle, int fieldAt) {
    return blocks.slab(handle).getInt(blocks.at(handle) + fieldAt);
  }

  private void putInt(int handle, int fieldAt, int value) {
    blocks.slab(handle).putInt(blocks.at(handle) + fieldAt, value);
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
    int needs = needs(handle) - 1;
    if (needs > 0) {
      putInt(handle, NEEDS_AT, needs);
      return false;
    }
    drop(handle);
    return true;
  }

  /** Forgets an entry, whoever needs it. */
  void drop(int handle) {
    unlist(handle);
    int block = handle;
    while (block != -1) {
      int next = blocks.slab(block).getInt(blocks.at(block));
      blocks.free(block);
      block = next;
    }
  }

  // ---- the list by age ----

  /** The oldest entry in the list, or {@link #NONE}. */
  int oldest() {
    return oldest;
  }

  /** Puts an entry before another one, or at the end. */
  void list(int handle, int before) {
    int older = before == NONE ? newest : getInt(before, OLDER_AT);
    putInt(handle, OLDER_AT, older);
    putInt(handle, NEWER_AT, before);
    if (older == NONE) {
      oldest = handle;
    } else {
      putInt(older, NEWER_AT, handle);
    }
    if (before == NONE) {
      newest = handle;
    } else {
      putInt(before, OLDER_AT, handle);
    }
  }

  /** Takes an entry out of the list, if it is in it. */
  void unlist(int handle) {
    int older = getInt(handle, OLDER_AT);
    int newer = getInt(handle, NEWER_AT);
    if (older == UNLISTED) {
      return;
    }
    if (older == NONE) {
      oldest = newer;
    } else {
      putInt(older, NEWER_AT, newer);
    }
    if (newer == NONE) {
      newest = older;
    } else {
      putInt(newer, OLDER_AT, older);
    }
    putInt(handle, OLDER_AT, UNLISTED);
    putInt(handle, NEWER_AT, UNLISTED);
  }
}
