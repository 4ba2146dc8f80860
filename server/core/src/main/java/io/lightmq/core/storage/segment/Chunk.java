package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The last bytes that one thread has read ahead from a source whose bytes never change at a place.
 * Memory: its fixed size, and for the time of a longer entry that entry.
 */
final class Chunk implements AutoCloseable {
  /** Where the bytes come from. */
  interface Source {
    /** Fills the buffer from a place on. */
    void read(long place, ByteBuffer into) throws IOException;
  }

  private final DirectMemory memory;
  private final ByteBuffer fixed;
  private boolean closed;
  private ByteBuffer current;
  private long start;
  private int length;

  Chunk(DirectMemory memory, int bytes) {
    this.memory = memory;
    this.fixed = memory.allocate(SegmentStore.MEMORY, bytes);
    this.current = fixed;
  }

  /** Forgets what was read. */
  void forget() {
    current = fixed;
    length = 0;
  }

  /** Whether the bytes at a place are here already. */
  boolean has(long place, int bytes) {
    return place >= start && place + bytes <= start + length;
  }

  /**
   * Makes bytes available, at {@link #index} of {@link #buffer}.
   *
   * @param bytes that are needed
   * @param ahead bytes that are welcome from the place on; nothing beyond is read
   */
  void require(Source source, long place, int bytes, long ahead) throws IOException {
    if (has(place, bytes)) {
      return;
    }
    forget();
    int step = (int) Math.min(fixed.capacity(), Math.max(bytes, ahead));
    if (bytes > fixed.capacity()) {
      ByteBuffer large = ByteBuffer.allocate(bytes);
      for (int at = 0; at < bytes; at += step) {
        fixed.clear().limit(Math.min(step, bytes - at));
        source.read(place + at, fixed);
        large.put(fixed.flip());
      }
      current = large.flip();
      length = bytes;
    } else {
      fixed.clear().limit(step);
      source.read(place, fixed);
      fixed.clear();
      length = step;
    }
    start = place;
  }

  ByteBuffer buffer() {
    return current;
  }

  /** Index of a place in the buffer. */
  int index(long place) {
    return (int) (place - start);
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      forget();
      memory.free(SegmentStore.MEMORY, fixed);
    }
  }

  /** Just behind the bytes that are here. */
  long end() {
    return start + length;
  }
}
