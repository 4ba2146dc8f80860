package io.lightmq.core.delivery;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.overflow.OverflowFile;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads unlogged entries from overflow files, with what lies behind them, since a consumer of a
 * backlog asks for that next. On the read loop.
 */
final class OverflowReads {
  private static final String PURPOSE = "overflow reads";
  private static final int READ_AHEAD_BYTES = 256 << 10;

  private final DirectMemory memory;

  /** A file's bytes from a position on; empty before the first read and after a failure. */
  private ByteBuffer ahead = ByteBuffer.allocate(0);

  private @Nullable OverflowFile aheadFile;
  private int aheadPosition;

  OverflowReads(DirectMemory memory) {
    this.memory = memory;
  }

  /**
   * Reads one part; false if there is no room for all of it.
   *
   * @param again whether it was looked up for the second time: what is whole behind damage is
   *     looked for then
   */
  boolean read(Fetch.InOverflow part, Lane lane, EntryTaker out, boolean again) throws IOException {
    if (again) {
      forget();
      ByteBuffer own = ByteBuffer.allocate(part.bytes());
      part.file().read(part.position(), own);
      String where = part.file() + " at " + part.position();
      return RunSalvage.read(part, part.runSequence(), lane, null, own.flip(), where, out);
    }
    load(part);
    int at = part.position() - aheadPosition;
    int limit = at + part.bytes();
    long next = part.from();
    while (next < part.from() + part.count()) {
      int length = limit - at < Entry.HEADER_BYTES ? 0 : Entry.length(ahead, at);
      if (length < Entry.HEADER_BYTES || length > limit - at) {
        long last = part.from() + part.count() - 1;
        throw damaged(
            part, next, last, "is not there; " + (limit - at) + " bytes of the run remain");
      }
      if (Entry.sequence(ahead, at) >= next) {
        if (!Entry.isIntact(ahead, at, limit) || Entry.sequence(ahead, at) != next) {
          throw damaged(
              part,
              next,
              next,
              "has crc %08x and sequence %d, which its bytes deny"
                  .formatted(Entry.crc(ahead, at), Entry.sequence(ahead, at)));
        }
        if (!out.put(ahead, at, length)) {
          return false;
        }
        next++;
      }
      at += length;
    }
    return true;
  }

  private IOException damaged(Fetch.InOverflow part, long sequence, long through, String what) {
    forget();
    return new UnreadableException(
        "%s: entry %d of the run at %d %s".formatted(part.file(), sequence, part.position(), what),
        sequence,
        through);
  }

  private void forget() {
    aheadFile = null;
    ahead.limit(0);
  }

  private void load(Fetch.InOverflow part) throws IOException {
    int end = part.position() + part.bytes();
    if (part.file() == aheadFile
        && part.position() >= aheadPosition
        && end <= aheadPosition + ahead.limit()) {
      return;
    }
    if (ahead.capacity() < part.bytes()) {
      close();
      ahead = memory.allocate(PURPOSE, roomFor(part.bytes()));
    }
    int readable = part.endPosition() - part.position();
    ahead.clear().limit(Math.min(ahead.capacity(), readable));
    aheadFile = part.file();
    aheadPosition = part.position();
    try {
      part.file().read(part.position(), ahead);
    } catch (IOException e) {
      forget();
      throw e;
    }
    ahead.flip();
  }

  /** Few sizes, so that buffers which are given back serve again. */
  private static int roomFor(int bytes) {
    return Math.max(READ_AHEAD_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
  }

  /** Gives memory back. */
  void close() {
    if (ahead.isDirect()) {
      memory.free(PURPOSE, ahead);
    }
    ahead = ByteBuffer.allocate(0);
    aheadFile = null;
  }
}
