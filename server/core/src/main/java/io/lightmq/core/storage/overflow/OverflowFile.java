package io.lightmq.core.storage.overflow;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One file of the overflow. What is needed in it, and who reads it, are holds; without any it is
 * deleted. Only {@link #read} is for another thread than the shard's.
 */
@OwnedBy("shard")
public final class OverflowFile {
  private final OverflowFiles files;
  private final int number;
  final DiskFile file;
  int length;
  int holds;

  OverflowFile(OverflowFiles files, int number, DiskFile file) {
    this.files = files;
    this.number = number;
    this.file = file;
  }

  /** Unique among the files of this start. */
  public int number() {
    return number;
  }

  /** Bytes that were written, all of which may be read. */
  public int length() {
    return length;
  }

  /** Keeps the file until {@link #release}. */
  public void hold() {
    holds++;
  }

  /** Ends a hold; the file goes with the last. */
  public void release() {
    if (holds == 0) {
      throw new IllegalStateException(file.name() + " is released once more than it was held");
    }
    if (--holds == 0) {
      files.settle(this);
    }
  }

  /**
   * Fills the buffer with what was written at a place; on a read loop, while the file is held.
   *
   * @throws IOException if the device fails, or the file ends before
   */
  public void read(int position, ByteBuffer into) throws IOException {
    int wanted = into.remaining();
    int got = file.read(position, into);
    if (got < wanted) {
      throw new IOException(
          "%s: %d bytes at %d were asked for, %d came"
              .formatted(file.name(), wanted, position, Math.max(0, got)));
    }
  }

  @Override
  public String toString() {
    return file.name();
  }
}
