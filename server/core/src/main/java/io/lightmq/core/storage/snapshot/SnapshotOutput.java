package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Gathers bytes for a file, with their CRC. */
final class SnapshotOutput {
  private final DiskFile file;
  private final ByteBuffer buffer = ByteBuffer.allocate(SnapshotFormat.BUFFER);
  private final CRC32C crc = new CRC32C();
  private long written;

  SnapshotOutput(DiskFile file) {
    this.file = file;
  }

  /** The buffer, with room for some bytes. */
  ByteBuffer room(int bytes) throws IOException {
    if (buffer.remaining() < bytes) {
      flush();
    }
    return buffer;
  }

  /** Adds all remaining bytes. */
  void put(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      int step = Math.min(room(1).remaining(), bytes.remaining());
      buffer.put(bytes.duplicate().limit(bytes.position() + step));
      bytes.position(bytes.position() + step);
    }
  }

  /** Bytes written to the file, without those still gathered. */
  long written() {
    return written;
  }

  /** CRC of the bytes written. */
  int crc() {
    return (int) crc.getValue();
  }

  /** Writes what is gathered. */
  void flush() throws IOException {
    buffer.flip();
    if (buffer.hasRemaining()) {
      crc.update(buffer.duplicate());
      int length = buffer.remaining();
      file.write(written, buffer);
      written += length;
    }
    buffer.clear();
  }
}
