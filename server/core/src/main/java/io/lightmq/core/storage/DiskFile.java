package io.lightmq.core.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An open file of a {@link Disk}. Reads may run beside writes; writers are one thread at a time.
 */
public interface DiskFile extends Closeable {
  /** The name it was opened with. */
  String name();

  /**
   * Reads into the buffer until it is full or the file ends.
   *
   * @return the bytes read, less than asked for only at the end of the file
   */
  int read(long fileOffset, ByteBuffer into) throws IOException;

  /** Writes all remaining bytes of all buffers, in order, beginning at a place in the file. */
  void write(long fileOffset, ByteBuffer... from) throws IOException;

  /** Makes everything written before the call durable. A failure is final for the caller's log. */
  void force() throws IOException;

  /** Bytes in the file. */
  long size() throws IOException;

  /** Cuts the file to a length. */
  void truncate(long size) throws IOException;
}
