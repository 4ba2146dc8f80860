package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A preallocated file that keeps room for one checkpoint and two snapshots, given up when the disk
 * is full. Destage thread.
 */
public final class Ballast {
  private static final String NAME = "ballast";
  private static final int STEP = 1 << 20;

  private final Disk disk;
  private final long bytes;
  private long heldBytes;

  private Ballast(Disk disk, long bytes) {
    this.disk = disk;
    this.bytes = bytes;
  }

  /** Looks at the ballast of a data directory and fills it up if there is room. */
  public static Ballast open(Disk disk, long bytes) throws IOException {
    if (bytes < 0) {
      throw new IllegalArgumentException("a ballast has at least 0 bytes, not " + bytes);
    }
    Ballast ballast = new Ballast(disk, bytes);
    if (disk.exists(NAME)) {
      try (DiskFile file = disk.open(NAME)) {
        if (file.size() > bytes) {
          file.truncate(bytes);
        }
        ballast.heldBytes = file.size();
      }
    }
    ballast.refill();
    return ballast;
  }

  /** Bytes held now. */
  public long heldBytes() {
    return heldBytes;
  }

  /** Gives the room up; returns the bytes freed. */
  public long release() throws IOException {
    long freed = heldBytes;
    disk.delete(NAME);
    disk.forceDirectory("");
    heldBytes = 0;
    return freed;
  }

  /**
   * Takes the room again if the disk has it twice over, so that refilling never fills it up.
   *
   * @return whether the ballast is whole; false too if the room went away while it was filled
   */
  public boolean refill() throws IOException {
    long missing = bytes - heldBytes;
    if (missing == 0) {
      return true;
    }
    if (disk.usableBytes() / 2 < missing) {
      return false;
    }
    try (DiskFile file = disk.exists(NAME) ? disk.open(NAME) : disk.create(NAME)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(STEP, missing));
      while (heldBytes < bytes) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - heldBytes));
        int step = zeros.remaining();
        file.write(heldBytes, zeros);
        heldBytes += step;
      }
      file.force();
    } catch (IOException e) {
      if (DiskFullException.isFull(e)) {
        release();
        return false;
      }
      throw e;
    }
    disk.forceDirectory("");
    return true;
  }
}
