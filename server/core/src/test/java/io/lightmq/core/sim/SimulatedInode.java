package io.lightmq.core.sim;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;

/** One file's bytes: in the cache, on the disk, and which sectors a force would still write. */
final class SimulatedInode {
  private static final int SECTOR = SimulatedDisk.SECTOR;

  private byte[] current = new byte[0];
  private byte[] forced = new byte[0];
  private int currentSize;
  private int forcedSize;
  private final BitSet dirty = new BitSet();

  int size() {
    return currentSize;
  }

  byte[] currentBytes() {
    return Arrays.copyOf(current, currentSize);
  }

  int read(long at, ByteBuffer into) {
    int count = (int) Math.max(0, Math.min(into.remaining(), currentSize - at));
    if (count > 0) {
      into.put(current, (int) at, count);
    }
    return count;
  }

  void write(long at, byte[] bytes, int length) {
    if (length == 0) {
      return;
    }
    int start = Math.toIntExact(at);
    if (start + length > current.length) {
      current = Arrays.copyOf(current, Math.max(start + length, current.length * 2));
    }
    System.arraycopy(bytes, 0, current, start, length);
    currentSize = Math.max(currentSize, start + length);
    dirty.set(start / SECTOR, (start + length - 1) / SECTOR + 1);
  }

  void truncate(int size) {
    if (size < currentSize) {
      Arrays.fill(current, size, currentSize, (byte) 0);
    } else if (size > current.length) {
      current = Arrays.copyOf(current, size);
    }
    currentSize = size;
    dirty.set(0, Math.max(size, forcedSize) / SECTOR + 1);
  }

  void force() {
    if (forced.length < current.length) {
      forced = Arrays.copyOf(forced, current.length);
    }
    for (int i = dirty.nextSetBit(0); i >= 0; i = dirty.nextSetBit(i + 1)) {
      int start = i * SECTOR;
      int end = Math.min(start + SECTOR, current.length);
      if (start < end) {
        System.arraycopy(current, start, forced, start, end - start);
      }
    }
    forcedSize = currentSize;
    dirty.clear();
  }

  void dropDirty() {
    dirty.clear();
  }

  /** Each sector that differs is old, new, or (its changed bytes only) garbage. */
  void crash(Random random) {
    int size = Math.max(currentSize, forcedSize);
    byte[] result = Arrays.copyOf(forced, Math.max(size, forced.length));
    byte[] now = Arrays.copyOf(current, result.length);
    int mood = random.nextInt(4);
    for (int start = 0; start < size; start += SECTOR) {
      int end = Math.min(start + SECTOR, size);
      if (Arrays.equals(result, start, end, now, start, end)) {
        continue;
      }
      boolean survives = mood == 0 || (mood != 1 && random.nextInt(4) != 0);
      if (survives && random.nextInt(16) == 0) {
        for (int i = start; i < end; i++) {
          if (result[i] != now[i]) {
            result[i] = (byte) random.nextInt();
          }
        }
      } else if (survives) {
        System.arraycopy(now, start, result, start, end - start);
      }
    }
    currentSize = currentSize == forcedSize || random.nextBoolean() ? forcedSize : currentSize;
    Arrays.fill(result, currentSize, result.length, (byte) 0);
    current = result;
    forced = result.clone();
    forcedSize = currentSize;
    dirty.clear();
  }

  void replace(byte[] bytes) {
    current = bytes.clone();
    forced = bytes.clone();
    currentSize = bytes.length;
    forcedSize = bytes.length;
    dirty.clear();
  }

  void flip(int at, int bit) {
    current[at] ^= (byte) (1 << bit);
    if (at < forced.length) {
      forced[at] ^= (byte) (1 << bit);
    }
  }

  SimulatedInode copy() {
    SimulatedInode copy = new SimulatedInode();
    copy.replace(currentBytes());
    return copy;
  }
}
