package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Takes bytes from a file in order, never beyond its end. */
final class SnapshotInput {
  private final DiskFile file;
  private final long end;
  private final ByteBuffer buffer = ByteBuffer.allocate(SnapshotFormat.BUFFER).limit(0);
  private long next;
  private long sectionEnd;

  SnapshotInput(DiskFile file, long end) {
    this.file = file;
    this.end = end;
  }

  /** Bytes up to the end. */
  long remaining() {
    return end - next + buffer.remaining();
  }

  /** Bytes up to the end of the section. */
  long sectionRemaining() {
    return sectionEnd - (next - buffer.remaining());
  }

  /** Reads a section's head and returns its count. */
  int section(int type, int leastBytes) throws IOException {
    ByteBuffer head = take(SnapshotFormat.SECTION);
    int found = head.getInt();
    int count = head.getInt();
    long bytes = head.getLong();
    if (found != type || count < 0 || bytes > remaining() || (long) count * leastBytes > bytes) {
      throw new InvalidSnapshotException(
          "section says type %d, count %d, %d bytes; expected type %d, %d bytes remain"
              .formatted(found, count, bytes, type, remaining()));
    }
    sectionEnd = next - buffer.remaining() + bytes;
    return count;
  }

  /** The next few bytes; valid until the next call. */
  ByteBuffer take(int bytes) throws IOException {
    if (bytes > remaining()) {
      throw new InvalidSnapshotException(
          "%d bytes are needed, %d remain".formatted(bytes, remaining()));
    }
    if (buffer.remaining() < bytes) {
      buffer.compact();
      buffer.limit((int) Math.min(buffer.capacity(), buffer.position() + end - next));
      int got = buffer.remaining();
      file.read(next, buffer);
      next += got;
      buffer.flip();
      if (buffer.remaining() < bytes) {
        throw new InvalidSnapshotException(
            "the file ends %d bytes early".formatted(bytes - buffer.remaining()));
      }
    }
    ByteBuffer taken = buffer.slice(buffer.position(), bytes);
    buffer.position(buffer.position() + bytes);
    return taken;
  }

  /** The next bytes, in a buffer of their own. */
  ByteBuffer copy(int bytes) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(bytes);
    while (copy.hasRemaining()) {
      copy.put(take(Math.min(SnapshotFormat.BUFFER, copy.remaining())));
    }
    return copy.flip();
  }

  /** Passes bytes over. */
  void skip(int bytes) throws IOException {
    for (int left = bytes; left > 0; left -= SnapshotFormat.BUFFER) {
      take(Math.min(SnapshotFormat.BUFFER, left));
    }
  }
}
