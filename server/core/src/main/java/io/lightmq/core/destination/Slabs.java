package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Equal blocks of memory outside the heap, cut from slabs. A handle is slab number times blocks per
 * slab plus the block's number. Free blocks form a list inside their slab; a slab whose blocks are
 * all free goes back to its source, but for one spare.
 */
@OwnedBy("shard")
final class Slabs {
  /** Where slabs come from. */
  interface Source {
    ByteBuffer allocate(int bytes);

    void free(ByteBuffer slab);
  }

  private static final int NONE = -1;

  private final Source source;
  private final int blockBytes;
  private final int perSlab;

  private @Nullable ByteBuffer[] slabs = new ByteBuffer[4];
  private int[] firstFree = new int[4];
  private int[] used = new int[4];

  /** Slabs with free blocks, as a stack; a slab is in it at most once, but may be gone or full. */
  private int[] open = new int[4];

  private boolean[] isOpen = new boolean[4];
  private int opens;

  private int slabCount;
  private int[] gone = new int[4];
  private int goneCount;
  private int spares;
  private long usedBlocks;

  Slabs(Source source, int blockBytes, int slabBytes) {
    if (blockBytes < 4 || slabBytes % blockBytes != 0) {
      throw new IllegalArgumentException(
          "slabs of " + slabBytes + " bytes cannot be cut into blocks of " + blockBytes);
    }
    this.source = source;
    this.blockBytes = blockBytes;
    this.perSlab = slabBytes / blockBytes;
  }

  int blockBytes() {
    return blockBytes;
  }

  /** Blocks in use. */
  long usedBlocks() {
    return usedBlocks;
  }

  /** The slab of a block; absolute reads and writes at {@link #at} only. */
  ByteBuffer slab(int handle) {
    ByteBuffer slab = slabs[handle / perSlab];
    if (slab == null) {
      throw new IllegalStateException("block " + handle + " lies in a slab that was given back");
    }
    return slab;
  }

  /** Where a block begins in its slab. */
  int at(int handle) {
    return (handle % perSlab) * blockBytes;
  }

  /** A block with undefined contents. */
  int allocate() {
    int slab = openSlab();
    int block = firstFree[slab];
    ByteBuffer bytes = slab(slab * perSlab);
    firstFree[slab] = bytes.getInt(block * blockBytes);
    if (used[slab]++ == 0) {
      spares--;
    }
    usedBlocks++;
    return slab * perSlab + block;
  }

  /** A block of zeros, or of minus ones. */
  int allocate(long fill) {
    int handle = allocate();
    ByteBuffer bytes = slab(handle);
    int at = at(handle);
    for (int i = 0; i < blockBytes; i += 8) {
      bytes.putLong(at + i, fill);
    }
    return handle;
  }

  void free(int handle) {
    int slab = handle / perSlab;
    ByteBuffer bytes = slab(handle);
    bytes.putInt(at(handle), firstFree[slab]);
    firstFree[slab] = handle % perSlab;
    usedBlocks--;
    if (--used[slab] == 0) {
      if (spares > 0 || usedBlocks == 0) {
        giveBack(slab);
      } else {
        spares++;
        reopen(slab);
      }
      if (usedBlocks == 0) {
        giveBackSpares();
      }
    } else {
      reopen(slab);
    }
  }

  private void giveBackSpares() {
    for (int slab = 0; slab < slabCount && spares > 0; slab++) {
      if (slabs[slab] != null) {
        spares--;
        giveBack(slab);
      }
    }
  }

  private void giveBack(int slab) {
    source.free(slab(slab * perSlab));
    slabs[slab] = null;
    if (goneCount == gone.length) {
      gone = Arrays.copyOf(gone, goneCount * 2);
    }
    gone[goneCount++] = slab;
  }

  private void reopen(int slab) {
    if (!isOpen[slab]) {
      isOpen[slab] = true;
      if (opens == open.length) {
        open = Arrays.copyOf(open, opens * 2);
      }
      open[opens++] = slab;
    }
  }

  private int openSlab() {
    while (opens > 0) {
      int slab = open[opens - 1];
      if (slabs[slab] != null && firstFree[slab] != NONE) {
        return slab;
      }
      opens--;
      isOpen[slab] = false;
    }
    int slab = goneCount > 0 ? gone[--goneCount] : newNumber();
    ByteBuffer bytes = source.allocate(perSlab * blockBytes);
    slabs[slab] = bytes;
    for (int i = 0; i < perSlab; i++) {
      bytes.putInt(i * blockBytes, i + 1 < perSlab ? i + 1 : NONE);
    }
    firstFree[slab] = 0;
    used[slab] = 0;
    spares++;
    reopen(slab);
    return slab;
  }

  private int newNumber() {
    if (slabCount == slabs.length) {
      int size = slabCount * 2;
      slabs = Arrays.copyOf(slabs, size);
      firstFree = Arrays.copyOf(firstFree, size);
      used = Arrays.copyOf(used, size);
      isOpen = Arrays.copyOf(isOpen, size);
    }
    return slabCount++;
  }
}
