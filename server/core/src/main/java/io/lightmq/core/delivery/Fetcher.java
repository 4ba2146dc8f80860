package io.lightmq.core.delivery;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.SegmentReader;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.segment.Wanted;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Reads entries that have left the window, on a read loop: from the journal's files or from
 * segments. It reads ahead, so that consecutive pulls of a backlog cost few reads.
 */
public final class Fetcher {
  private static final String PURPOSE = "journal reads";
  private static final int READ_AHEAD_BYTES = 256 << 10;

  /** At most so many fetches are under way; further pulls wait. */
  static final int MAX_UNDER_WAY = 64;

  private final Loop shard;
  private final Loop reads;
  private final Journal journal;
  private final SegmentReader segments;
  private final DirectMemory memory;

  // Of the read loop: the journal's bytes from an offset on.
  private ByteBuffer ahead = ByteBuffer.allocate(0);
  private long aheadOffset;

  /**
   * A fetcher with a read loop of its own.
   *
   * @param shard the loop on which results arrive
   */
  public Fetcher(
      Loop shard, Loop reads, Journal journal, SegmentStore segments, DirectMemory memory) {
    this.shard = shard;
    this.reads = reads;
    this.journal = journal;
    this.segments = segments.newReader();
    this.memory = memory;
  }

  /**
   * Reads, then shows the fetch with its result to the consumer on the shard loop.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the read loop takes nothing more
   */
  void fetch(Fetch fetch, Consumer<Fetch> done) {
    reads.execute(
        () -> {
          try {
            read(fetch);
          } catch (IOException e) {
            fetch.failure = e;
          }
          shard.execute(() -> done.accept(fetch));
        });
  }

  /** Gives memory and files back; on the read loop, or after it has ended. */
  public void close() {
    segments.close();
    if (ahead.isDirect()) {
      memory.free(PURPOSE, ahead);
      ahead = ByteBuffer.allocate(0);
    }
  }

  private void read(Fetch fetch) throws IOException {
    int room =
        (int) Math.min(fetch.maxBytes, fetch.estimatedBytes + fetch.estimatedBytes / 8 + 4096);
    Output out = new Output(fetch, Math.max(room, Entry.HEADER_BYTES));
    for (Fetch.Part part : fetch.parts) {
      boolean more =
          part instanceof Fetch.InJournal run
              ? readJournal(run, out)
              : readPiece((Fetch.InPiece) part, out);
      if (!more) {
        return;
      }
    }
  }

  /** The buffer of one fetch, replaced once if the first entry does not fit. */
  private static final class Output {
    private final Fetch fetch;
    private final int roomBytes;

    Output(Fetch fetch, int roomBytes) {
      this.fetch = fetch;
      this.roomBytes = roomBytes;
    }

    ByteBuffer bytes() {
      Outlet.Buffer buffer = fetch.buffer;
      if (buffer == null) {
        buffer = fetch.consumer.recipient().outlet().allocate(roomBytes);
        fetch.buffer = buffer;
      }
      return buffer.bytes().clear().position(fetch.length);
    }

    /** A first entry that needs more than the room gets a buffer of its own. */
    boolean makeRoom(int bytes) {
      Outlet.Buffer buffer = fetch.buffer;
      if (fetch.taken > 0) {
        return false;
      }
      if (buffer != null) {
        buffer.release();
      }
      fetch.buffer = fetch.consumer.recipient().outlet().allocate(bytes);
      return true;
    }

    void took(int count, int bytes) {
      fetch.taken += count;
      fetch.length += bytes;
    }
  }

  private boolean readPiece(Fetch.InPiece part, Output out) throws IOException {
    long from = part.from();
    long to = part.from() + part.count() - 1;
    int count = 0;
    while (from <= to) {
      SegmentReader.Read read = segments.read(part.piece(), from, to, Wanted.ALL, out.bytes());
      out.took(read.count(), (int) read.bytes());
      count += read.count();
      if (read.complete()) {
        break;
      }
      from = read.nextSequence();
      if (!out.makeRoom(read.neededBytes())) {
        return false;
      }
    }
    if (count != part.count()) {
      throw missing(part, count, part.piece());
    }
    return true;
  }

  private static IOException missing(Fetch.InPiece part, int found, Piece piece) {
    return new IOException(
        "segment %020d: of %d entries of destination %d lane %d from sequence %d on only %d are there"
            .formatted(
                piece.segmentAddress(),
                part.count(),
                piece.destinationId(),
                piece.lane(),
                part.from(),
                found));
  }

  private boolean readJournal(Fetch.InJournal run, Output out) throws IOException {
    load(run.runOffset(), run.runBytes());
    int at = (int) (run.runOffset() - aheadOffset);
    int limit = at + run.runBytes();
    for (long sequence = run.runSequence(); sequence < run.from() + run.count(); sequence++) {
      int length = limit - at < Entry.HEADER_BYTES ? 0 : Entry.length(ahead, at);
      if (length < Entry.HEADER_BYTES || length > limit - at) {
        throw damaged(
            run, sequence, "has length " + length + ", " + (limit - at) + " bytes remain");
      }
      if (sequence >= run.from()) {
        if (!Entry.isIntact(ahead, at, limit) || Entry.sequence(ahead, at) != sequence) {
          throw damaged(
              run,
              sequence,
              "has crc %08x and sequence %d, which its bytes deny"
                  .formatted(Entry.crc(ahead, at), Entry.sequence(ahead, at)));
        }
        ByteBuffer target = out.bytes();
        if (target.remaining() < length) {
          if (!out.makeRoom(length)) {
            return false;
          }
          target = out.bytes();
        }
        target.put(target.position(), ahead, at, length);
        out.took(1, length);
      }
      at += length;
    }
    return true;
  }

  private IOException damaged(Fetch.InJournal run, long sequence, String what) {
    aheadOffset = 0;
    ahead.limit(0);
    return new IOException(
        "journal: entry %d of the run at offset %d %s".formatted(sequence, run.runOffset(), what));
  }

  /** Sees to it that so many bytes of the journal are in {@link #ahead}. */
  private void load(long offset, int bytes) throws IOException {
    if (offset >= aheadOffset && offset + bytes <= aheadOffset + ahead.limit()) {
      return;
    }
    if (ahead.capacity() < bytes || !ahead.isDirect()) {
      if (ahead.isDirect()) {
        memory.free(PURPOSE, ahead);
      }
      ahead = memory.allocate(PURPOSE, Math.max(READ_AHEAD_BYTES, bytes));
    }
    long readable = Math.max(bytes, journal.written() - offset);
    ahead.clear().limit((int) Math.min(ahead.capacity(), readable));
    aheadOffset = offset;
    try {
      journal.read(offset, ahead);
    } catch (IOException e) {
      ahead.limit(0);
      throw e;
    }
    ahead.flip();
    if (ahead.limit() < bytes) {
      throw new IOException(
          "journal: %d bytes at offset %d were asked for, %d came"
              .formatted(bytes, offset, ahead.limit()));
    }
  }
}
