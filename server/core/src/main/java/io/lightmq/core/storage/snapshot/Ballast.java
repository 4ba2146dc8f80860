package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import java.io.IOException;

/**
 * A preallocated file that keeps room for one checkpoint and two snapshots, given up when the disk
 * is full. Destage thread.
 */
public final class Ballast {
  private Ballast() {}

  /** Looks at the ballast of a data directory and fills it up if there is room. */
  public static Ballast open(Disk disk, long bytes) throws IOException {
    throw new IOException("being written");
  }

  /** Bytes held now. */
  public long heldBytes() {
    return 0;
  }

  /** Gives the room up; returns the bytes freed. */
  public long release() throws IOException {
    return 0;
  }

  /** Takes the room again if the disk has it twice over; returns whether it is whole. */
  public boolean refill() throws IOException {
    return false;
  }
}
