package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.EntrySalvage;
import io.lightmq.core.storage.NoFileHandleException;
import io.lightmq.core.storage.ReadFailures;
import io.lightmq.core.storage.segment.DestagePlan.JournalBytes;
import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.core.storage.segment.Destaged.Damage;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MalformedMessageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a lane's entries from the journal for a destage, each with its check. No damage ends it:
 * the whole entries behind it are looked for, and for each one that is lost something is given that
 * no reader takes for whole, so that it has a place and is set aside when it is read. Destage
 * thread.
 */
final class JournalEntries implements AutoCloseable {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** Takes one entry that is needed. */
  @FunctionalInterface
  interface Sink {
    /**
     * Takes the entry at a place of a buffer, which is valid until the method returns.
     *
     * @param damaged whether it fails its check, so that nothing of it but its length counts
     */
    void put(long sequence, ByteBuffer from, int at, boolean damaged) throws IOException;
  }

  private final SegmentSettings settings;
  private final JournalBytes journal;
  private final boolean takeWhatComes;
  private final Chunk chunk;
  private final List<Damage> damages = new ArrayList<>();
  private final Renamed renamed = new Renamed();

  /** What was wrong with the entry that was looked at last. */
  private @Nullable Exception why;

  JournalEntries(
      DirectMemory memory, SegmentSettings settings, JournalBytes journal, boolean takeWhatComes) {
    this.settings = settings;
    this.journal = journal;
    this.takeWhatComes = takeWhatComes;
    this.chunk = new Chunk(memory, settings.writeBufferBytes());
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    chunk.close();
  }

  /** What was damaged of all that was read. */
  List<Damage> damages() {
    return damages;
  }

  /** Shows what is needed of a run, rising. */
  void read(LanePlan lane, JournalRun run, Sink sink) throws IOException {
    long end = run.journalOffset() + run.bytes();
    long offset = run.journalOffset();
    Origin stored = stored(lane, run);
    for (long sequence = run.firstSequence(); sequence <= run.lastSequence(); sequence++) {
      int length = checked(lane, stored, sequence - stored.shift(), offset, end);
      if (length == 0) {
        salvage(lane, run, sequence, offset, sink);
        return;
      }
      if (lane.needed().wants(sequence)) {
        put(lane, run, sequence, chunk.buffer(), chunk.index(offset), sink);
      }
      offset += length;
    }
    if (offset != end) {
      throw new IOException(
          "journal at offset %d, %s: the run's entries end here, expected at offset %d"
              .formatted(offset, run, end));
    }
  }

  /** Under which name the entries of a run lie. */
  private static Origin stored(LanePlan lane, JournalRun run) {
    Origin origin = run.origin();
    return origin == null ? new Origin(lane.destinationId(), lane.lane(), 0) : origin;
  }

  /** Shows a whole entry under the lane's own name. */
  private void put(LanePlan lane, JournalRun run, long sequence, ByteBuffer from, int at, Sink sink)
      throws IOException {
    if (run.origin() == null) {
      sink.put(sequence, from, at, false);
    } else {
      int length = Entry.length(from, at);
      sink.put(
          sequence,
          renamed.of(from, at, length, lane.destinationId(), lane.lane(), sequence),
          0,
          false);
    }
  }

  /** The length of a whole entry; 0 if it is damaged, also when it is read once more. */
  private int checked(LanePlan lane, Origin stored, long sequence, long offset, long end)
      throws IOException {
    for (int look = 0; look < 2; look++) {
      try {
        return checkedOnce(lane, stored, sequence, offset, end);
      } catch (MalformedMessageException e) {
        why = e;
      } catch (IOException e) {
        throwUnlessDamage(offset, e);
        why = e;
      }
      chunk.forget();
    }
    return 0;
  }

  private int checkedOnce(LanePlan lane, Origin stored, long sequence, long offset, long end)
      throws IOException {
    long remaining = end - offset;
    if (remaining < Entry.HEADER_BYTES) {
      throw new MalformedMessageException("only " + remaining + " bytes remain in the run");
    }
    chunk.require(journal::read, offset, Entry.HEADER_BYTES, remaining);
    int length = Entry.length(chunk.buffer(), chunk.index(offset));
    if (length < Entry.HEADER_BYTES || length > remaining || length > settings.maxEntryBytes()) {
      throw new MalformedMessageException(
          "entry says %d bytes; the run has %d left, the limit is %d"
              .formatted(length, remaining, settings.maxEntryBytes()));
    }
    chunk.require(journal::read, offset, length, remaining);
    ByteBuffer buffer = chunk.buffer();
    int at = chunk.index(offset);
    Entry.check(buffer, at, at + length);
    if (Entry.sequence(buffer, at) != sequence
        || Entry.destinationId(buffer, at) != stored.destinationId()
        || Entry.lane(buffer, at) != stored.lane()
        || Entry.holderId(buffer, at) != lane.holderId()) {
      throw new MalformedMessageException(
          "entry is sequence %d of destination %d lane %d holder %d, expected %d of %d, %d, %d"
              .formatted(
                  Entry.sequence(buffer, at),
                  Entry.destinationId(buffer, at),
                  Entry.lane(buffer, at),
                  Entry.holderId(buffer, at),
                  sequence,
                  stored.destinationId(),
                  stored.lane(),
                  lane.holderId()));
    }
    return length;
  }

  // ---- behind damage ----

  /** Shows the rest of a run, from a damaged entry on. */
  private void salvage(LanePlan lane, JournalRun run, long first, long offset, Sink sink)
      throws IOException {
    int count = Math.toIntExact(run.journalOffset() + run.bytes() - offset);
    // What does not come is read twice above, and here sector by sector.
    ByteBuffer bytes = EntrySalvage.read(this::readNow, offset, count, 0);
    Origin stored = stored(lane, run);
    List<EntrySalvage.Intact> found =
        EntrySalvage.find(
            bytes,
            new EntrySalvage.Sought(
                stored.destinationId(),
                stored.lane(),
                lane.holderId(),
                first - stored.shift(),
                run.lastSequence() - stored.shift(),
                settings.maxEntryBytes()));
    long enqueuedMillis = found.isEmpty() ? 0 : Entry.enqueuedMillis(bytes, found.get(0).at());
    long next = first;
    int end = 0;
    for (EntrySalvage.Intact each : found) {
      long sequence = each.sequence() + stored.shift();
      lost(
          lane,
          next,
          sequence - 1,
          enqueuedMillis,
          bytes.duplicate().limit(each.at()).position(end),
          sink,
          offset);
      if (lane.needed().wants(sequence)) {
        put(lane, run, sequence, bytes, each.at(), sink);
      }
      enqueuedMillis = Entry.enqueuedMillis(bytes, each.at());
      next = sequence + 1;
      end = each.at() + each.length();
    }
    lost(
        lane,
        next,
        run.lastSequence(),
        enqueuedMillis,
        bytes.duplicate().position(end),
        sink,
        offset);
  }

  private void readNow(long offset, ByteBuffer into) throws IOException {
    try {
      journal.read(offset, into);
    } catch (IOException e) {
      throwUnlessDamage(offset, e);
      throw e;
    }
  }

  private void throwUnlessDamage(long offset, IOException e) throws IOException {
    if (e instanceof NoFileHandleException) {
      throw e;
    }
    boolean ofTheFile = ReadFailures.isOfTheFile(e);
    if (ofTheFile || !takeWhatComes) {
      throw new SegmentException.Unread("journal at offset " + offset, e, !ofTheFile);
    }
  }

  /** Shows something for each entry that lies in bytes where none was found. */
  private void lost(
      LanePlan lane,
      long first,
      long last,
      long enqueuedMillis,
      ByteBuffer bytes,
      Sink sink,
      long offset)
      throws IOException {
    for (long sequence = lane.needed().next(first);
        sequence <= last;
        sequence = lane.needed().next(sequence + 1)) {
      ByteBuffer left = first == last ? left(bytes.slice()) : null;
      sink.put(sequence, left == null ? standIn(lane, sequence, enqueuedMillis) : left, 0, true);
      note(lane, sequence, offset);
    }
  }

  /** What is left of the only entry in some bytes, for whoever looks at the file; null if none. */
  private @Nullable ByteBuffer left(ByteBuffer bytes) {
    int length = bytes.limit();
    if (length < Entry.HEADER_BYTES
        || length > settings.maxEntryBytes()
        || Entry.isIntact(bytes, 0, length)) {
      return null; // it is whole, and so another message's
    }
    bytes.putInt(0, length);
    return Entry.isIntact(bytes, 0, length) ? null : bytes;
  }

  /** An entry without a message whose CRC is wrong. */
  private static ByteBuffer standIn(LanePlan lane, long sequence, long enqueuedMillis) {
    EntryStamp stamp =
        new EntryStamp(
            lane.lane(),
            Entry.PERSISTENT,
            lane.destinationId(),
            enqueuedMillis,
            0,
            0,
            lane.holderId(),
            0,
            0,
            new byte[0]);
    ByteBuffer entry = ByteBuffer.allocate(Entry.entryBytes(stamp, 0));
    Entry.write(entry, 0, stamp, sequence, 0, NOTHING, 0, 0);
    Entry.spoil(entry, 0);
    return entry;
  }

  private void note(LanePlan lane, long sequence, long offset) {
    int newest = damages.size() - 1;
    Damage before = newest < 0 ? null : damages.get(newest);
    if (before != null
        && before.destinationId() == lane.destinationId()
        && before.lane() == lane.lane()
        && before.through() == sequence - 1) {
      damages.set(
          newest,
          new Damage(lane.destinationId(), lane.lane(), before.from(), sequence, before.cause()));
    } else if (damages.size() < Destaged.MAX_DAMAGES) {
      IOException cause =
          new IOException(
              "journal at offset %d: %s".formatted(offset, why == null ? "" : why.getMessage()));
      damages.add(new Damage(lane.destinationId(), lane.lane(), sequence, sequence, cause));
    }
  }
}
