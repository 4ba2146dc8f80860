package io.lightmq.core.storage.segment;

import io.lightmq.wire.entry.Entry;
import java.nio.ByteBuffer;

/**
 * Copies entries that a lane has taken over, with the name that they have there: its destination,
 * its code and their sequence in it. Not for use by two threads at once.
 */
public final class Renamed {
  /** A longer entry's copy is not kept. */
  private static final int KEPT_BYTES = 256 << 10;

  private ByteBuffer copy = ByteBuffer.allocate(0);

  /**
   * An entry under its name of now, from 0 on.
   *
   * @return good until the next call; position and limit mean nothing
   */
  public ByteBuffer of(
      ByteBuffer from, int at, int length, long destinationId, int lane, long sequence) {
    ByteBuffer into = copy;
    if (into.capacity() < length) {
      into = ByteBuffer.allocate(Math.max(length, Math.min(KEPT_BYTES, 2 * into.capacity())));
      copy = length > KEPT_BYTES ? copy : into;
    }
    into.clear().put(0, from, at, length);
    Entry.place(into, 0, destinationId, lane, sequence);
    return into;
  }
}
