package io.lightmq.core.delivery;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.EntrySalvage;
import io.lightmq.core.storage.NoFileHandleException;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.Renamed;
import io.lightmq.core.storage.segment.SegmentReader;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.segment.Wanted;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads entries that have left the memory, on a read loop: from the journal's files, from segments,
 * or from overflow files. It reads ahead, so that consecutive pulls of a backlog cost few reads.
 */
public final class Fetcher {
  private static final String PURPOSE = "journal reads";
  private static final int READ_AHEAD_BYTES = 256 << 10;

  /** At most so many fetches are under way; further pulls wait. */
  static final int MAX_UNDER_WAY = 64;

  /** A file for which there was no handle is opened again after so long. */
  private static final long RETRY_NANOS = 100_000_000;

  /** What the journal cannot give yet is asked for again after so long. */
  private static final long NOT_YET_NANOS = 1_000_000;

  private final Loop shard;
  private final Loop reads;
  private final Journal journal;
  private final SegmentReader segments;
  private final DirectMemory memory;
  private final OverflowReads overflow;
  private final Renamed renamed = new Renamed();

  // Of the read loop: the journal's bytes from an offset on.
  private ByteBuffer ahead = ByteBuffer.allocate(0);
  private long aheadOffset;
  private boolean closed;

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
    this.overflow = new OverflowReads(memory);
  }

  /**
   * Reads, then shows the fetch with its result to the consumer on the shard loop. Nothing is read
   * for an outlet that has become full while the fetch waited for its turn: so many may wait that
   * their buffers together would be far more than any outlet takes.
   *
   * @throws RejectedExecutionException if the read loop takes nothing more
   */
  void fetch(Fetch fetch, Consumer<Fetch> done) {
    reads.execute(() -> fetchNow(fetch, done));
  }

  private void fetchNow(Fetch fetch, Consumer<Fetch> done) {
    if (!closed && fetch.consumer.recipient().outlet().writable()) {
      read(fetch);
    }
    long again = passesNanos(fetch.failure);
    if (again > 0) {
      fetch.failure = null;
      if (fetch.taken == 0) {
        release(fetch);
        reads.schedule(again, () -> fetchNow(fetch, done));
        return;
      }
    }
    try {
      shard.execute(() -> done.accept(fetch));
    } catch (RejectedExecutionException e) {
      // The shard has ended, and with it everything that was in flight.
      release(fetch);
    }
  }

  /** When to try again what failed for a reason that passes and tells nothing; 0 for not. */
  private static long passesNanos(@Nullable IOException failure) {
    if (failure instanceof NoFileHandleException) {
      return RETRY_NANOS;
    }
    return failure instanceof NotReadableYetException ? NOT_YET_NANOS : 0;
  }

  private static void release(Fetch fetch) {
    Outlet.Buffer buffer = fetch.buffer;
    fetch.buffer = null;
    fetch.length = 0;
    if (buffer != null) {
      buffer.release();
    }
  }

  /** Runs something on the shard loop, behind what waits there. */
  void onShard(Runnable task) {
    shard.execute(task);
  }

  /**
   * Evaluates a selector on what is in files, then shows the task with its result to the consumer
   * on the shard loop.
   *
   * @throws RejectedExecutionException if the read loop takes nothing more
   */
  void sift(SiftTask task, Consumer<SiftTask> done) {
    reads.execute(() -> siftNow(task, done));
  }

  private void siftNow(SiftTask task, Consumer<SiftTask> done) {
    try {
      if (!closed) {
        sift(task);
      }
    } catch (IOException e) {
      long again = passesNanos(e);
      if (again > 0) {
        // The part whose file could not be opened is the next one still.
        reads.schedule(again, () -> siftNow(task, done));
        return;
      }
      task.failure = e;
    }
    try {
      shard.execute(() -> done.accept(task));
    } catch (RejectedExecutionException e) {
      // The shard has ended.
    }
  }

  private void sift(SiftTask task) throws IOException {
    while (task.sifted < task.parts.size()) {
      Fetch.Part part = task.parts.get(task.sifted);
      if (part instanceof Fetch.InPiece in) {
        segments.scan(
            in.piece(),
            in.from(),
            in.from() + in.count() - 1,
            Wanted.ALL,
            task.passed,
            (sequence, buffer, at, length) -> task.put(buffer, at, length));
      } else if (part instanceof Fetch.InOverflow unlogged) {
        overflow.read(unlogged, task.lane, task, task.again);
      } else {
        readJournal((Fetch.InJournal) part, task.lane, task, task.again);
      }
      if (task.longEntry != null) {
        return;
      }
      task.reached = part.from() + part.count();
      task.sifted++;
    }
  }

  /**
   * Gives memory and files back; on the read loop, or after it has ended. Nothing is read any more:
   * what was asked for before comes back empty.
   */
  public void close() {
    closed = true;
    segments.close();
    overflow.close();
    if (ahead.isDirect()) {
      memory.free(PURPOSE, ahead);
      ahead = ByteBuffer.allocate(0);
    }
  }

  private void read(Fetch fetch) {
    int room =
        (int) Math.min(fetch.maxBytes, fetch.estimatedBytes + fetch.estimatedBytes / 8 + 4096);
    FetchOutput out = new FetchOutput(fetch, Math.max(room, Entry.HEADER_BYTES));
    try {
      read(fetch, out);
    } catch (IOException e) {
      fetch.failure = e;
      out.keepIntact();
    }
  }

  private void read(Fetch fetch, FetchOutput out) throws IOException {
    int at = 0;
    boolean more = true;
    while (more && at < fetch.parts.size()) {
      Fetch.Part part = fetch.parts.get(at);
      if (part instanceof Fetch.InPiece first) {
        int end = at + 1;
        while (end < fetch.parts.size()
            && fetch.parts.get(end) instanceof Fetch.InPiece next
            && next.piece().equals(first.piece())) {
          end++;
        }
        more = readPiece(first.piece(), fetch.parts.subList(at, end), out);
        at = end;
      } else {
        more =
            part instanceof Fetch.InOverflow unlogged
                ? overflow.read(unlogged, fetch.lane, out, fetch.again)
                : readJournal((Fetch.InJournal) part, fetch.lane, out, fetch.again);
        at++;
      }
    }
  }

  private boolean readPiece(Piece piece, List<Fetch.Part> parts, FetchOutput out)
      throws IOException {
    Wanted wanted = parts.size() == 1 ? Wanted.ALL : new Picked(parts);
    Fetch.Part last = parts.get(parts.size() - 1);
    long from = parts.get(0).from();
    long to = last.from() + last.count() - 1;
    int count = 0;
    while (from <= to) {
      SegmentReader.Read read = segments.read(piece, from, to, wanted, out.bytes());
      out.took(read.count(), read.bytes());
      count += read.count();
      if (read.complete()) {
        break;
      }
      from = read.nextSequence();
      if (!out.makeRoom(read.neededBytes())) {
        return false;
      }
    }
    int asked = parts.stream().mapToInt(Fetch.Part::count).sum();
    if (count != asked) {
      throw new UnreadableException(
          "segment %020d: of %d entries of destination %d lane %d between %d and %d only %d are there"
              .formatted(
                  piece.segmentAddress(),
                  asked,
                  piece.destinationId(),
                  piece.lane(),
                  parts.get(0).from(),
                  to,
                  count),
          parts.get(0).from(),
          parts.get(0).from());
    }
    return true;
  }

  /** The sequences of several parts. */
  private static final class Picked implements Wanted {
    private final long[] froms;
    private final long[] ends;

    Picked(List<Fetch.Part> parts) {
      froms = parts.stream().mapToLong(Fetch.Part::from).toArray();
      ends = parts.stream().mapToLong(part -> part.from() + part.count()).toArray();
    }

    @Override
    public boolean wants(long sequence) {
      return next(sequence) == sequence;
    }

    @Override
    public long next(long from) {
      int at = Arrays.binarySearch(froms, from);
      if (at >= 0) {
        return from;
      }
      int before = -at - 2;
      if (before >= 0 && from < ends[before]) {
        return from;
      }
      return before + 1 < froms.length ? froms[before + 1] : Long.MAX_VALUE;
    }
  }

  /**
   * Reads a run.
   *
   * @param again whether it was looked up for the second time: what the device does not give is
   *     damaged then, and what is whole behind damage is looked for
   */
  private boolean readJournal(Fetch.InJournal run, Lane lane, EntryTaker out, boolean again)
      throws IOException {
    if (run.runOffset() + run.runBytes() > journal.readable()) {
      throw new NotReadableYetException();
    }
    if (again) {
      forget();
      ByteBuffer own = EntrySalvage.read(journal::read, run.runOffset(), run.runBytes(), 0);
      String where = "journal: run at offset " + run.runOffset();
      return RunSalvage.read(run, run.runSequence(), lane, run.origin(), own, where, out);
    }
    load(run.runOffset(), run.runBytes());
    int at = (int) (run.runOffset() - aheadOffset);
    int limit = at + run.runBytes();
    for (long sequence = run.runSequence(); sequence < run.from() + run.count(); sequence++) {
      int length = length(run, sequence, at, limit);
      if (sequence >= run.from()) {
        checkIntact(run, sequence, at, limit);
        if (!put(run, lane, sequence, at, length, out)) {
          return false;
        }
      }
      at += length;
    }
    return true;
  }

  /** Puts an entry out under the lane's own name. */
  private boolean put(
      Fetch.InJournal run, Lane lane, long sequence, int at, int length, EntryTaker out)
      throws IOException {
    return run.origin() == null
        ? out.put(ahead, at, length)
        : out.put(
            renamed.of(ahead, at, length, lane.destination().id(), lane.code(), sequence),
            0,
            length);
  }

  private int length(Fetch.InJournal run, long sequence, int at, int limit) throws IOException {
    int length = limit - at < Entry.HEADER_BYTES ? 0 : Entry.length(ahead, at);
    if (length < Entry.HEADER_BYTES || length > limit - at) {
      long last = run.from() + run.count() - 1; // where these begin is not known either
      throw damaged(
          run, sequence, last, "has length " + length + ", " + (limit - at) + " bytes remain");
    }
    return length;
  }

  private void checkIntact(Fetch.InJournal run, long sequence, int at, int limit)
      throws IOException {
    if (!Entry.isIntact(ahead, at, limit) || Entry.sequence(ahead, at) != run.stored(sequence)) {
      throw damaged(
          run,
          sequence,
          sequence,
          "has crc %08x and sequence %d, which its bytes deny"
              .formatted(Entry.crc(ahead, at), Entry.sequence(ahead, at)));
    }
  }

  private void forget() {
    aheadOffset = 0;
    ahead.limit(0);
  }

  private IOException damaged(Fetch.InJournal run, long sequence, long through, String what) {
    forget();
    return new UnreadableException(
        "journal: entry %d of the run at offset %d %s".formatted(sequence, run.runOffset(), what),
        Math.max(sequence, run.from()),
        through);
  }

  /** Few sizes, so that buffers which are given back serve again. */
  private static int roomFor(int bytes) {
    return Math.max(READ_AHEAD_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
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
      ahead = memory.allocate(PURPOSE, roomFor(bytes));
    }
    long readable = Math.max(bytes, journal.readable() - offset);
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
