package io.lightmq.core.storage.segment;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One reader thread's way into the segments. It keeps the last bytes that it read ahead, so that
 * consecutive reads of a backlog are sequential. Not for use by two threads at once.
 */
public final class SegmentReader implements Closeable {
  /** Takes one entry; the buffer is valid until the method returns. */
  @FunctionalInterface
  public interface Sink {
    /** Returns false to stop before this entry, which is then the next one to read. */
    boolean accept(long sequence, ByteBuffer entry) throws IOException;
  }

  /**
   * How far a read came.
   *
   * @param count of entries taken
   * @param bytes of these entries
   * @param nextSequence where the next read goes on; behind the range when everything is read
   * @param neededBytes length of the entry at {@code nextSequence} that did not fit, 0 if the range
   *     is read to its end
   */
  public record Read(int count, long bytes, long nextSequence, int neededBytes) {
    /** Whether the range is read to its end. */
    public boolean complete() {
      return neededBytes == 0;
    }
  }

  SegmentReader() {}

  /**
   * Copies whole entries from a piece into a buffer, in sequence order, until the range or the room
   * ends.
   *
   * @param fromSequence first sequence of the range
   * @param toSequence last sequence of the range, inclusive
   * @throws SegmentException.Gone if the segment was deleted; look the sequence up again
   * @throws SegmentException.Damaged if an entry fails its check twice
   */
  public Read read(Piece piece, long fromSequence, long toSequence, Wanted wanted, ByteBuffer out)
      throws IOException {
    throw new IOException("being written");
  }

  /** Shows the wanted entries of a range to a sink, in sequence order. */
  public Read scan(Piece piece, long fromSequence, long toSequence, Wanted wanted, Sink sink)
      throws IOException {
    throw new IOException("being written");
  }

  @Override
  public void close() {}
}
