package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.segment.DestagePlan.JournalBytes;
import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One destage: copies what a plan needs from the journal and from rewritten segments into new ones.
 * Destinations with little to keep share segments, each one with much gets its own. Whatever goes
 * wrong, the files written so far are deleted. Memory: a write buffer, a read chunk for the
 * journal, one for segments, and the index of the segment being written.
 */
final class Destager implements AutoCloseable {
  private static final Comparator<LanePlan> ORDER =
      Comparator.comparingLong(LanePlan::destinationId)
          .thenComparingInt(LanePlan::lane)
          .thenComparingLong(LanePlan::holderId);

  private final Disk disk;
  private final DirectMemory memory;
  private final UUID storeId;
  private final SegmentSettings settings;
  private final SegmentFiles files;
  private final SegmentReader reader;
  private final JournalBytes journal;
  private final BooleanSupplier cancelled;
  private final Chunk journalChunk;
  private final ByteBuffer writeBuffer;

  private final List<SegmentInfo> segments = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();
  private final List<Long> created = new ArrayList<>();
  private long checkpointOffset;
  private long nextAddress;

  /** Whether the entry of the journal that was looked at last is damaged. */
  private boolean damaged;

  private @Nullable SegmentWriter writer;

  Destager(
      Disk disk,
      DirectMemory memory,
      UUID storeId,
      long nextAddress,
      SegmentSettings settings,
      SegmentFiles files,
      SegmentReader reader,
      JournalBytes journal,
      BooleanSupplier cancelled) {
    this.disk = disk;
    this.memory = memory;
    this.storeId = storeId;
    this.nextAddress = nextAddress;
    this.settings = settings;
    this.files = files;
    this.reader = reader;
    this.journal = journal;
    this.cancelled = cancelled;
    this.journalChunk = new Chunk(memory, settings.writeBufferBytes());
    this.writeBuffer = memory.allocate(SegmentStore.MEMORY, settings.writeBufferBytes());
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    journalChunk.close();
    memory.free(SegmentStore.MEMORY, writeBuffer);
  }

  /** An address that nothing written here has reached, also after a failure. */
  long nextAddress() {
    SegmentWriter current = writer;
    return current == null ? nextAddress : Math.max(nextAddress, current.reached());
  }

  Destaged run(DestagePlan plan) throws IOException {
    checkpointOffset = plan.offset();
    try {
      Map<Long, Long> expected = new HashMap<>();
      for (LanePlan lane : plan.lanes()) {
        expected.merge(lane.destinationId(), lane.expectedBytes(), Math::addExact);
      }
      List<LanePlan> ordered = new ArrayList<>(plan.lanes());
      ordered.sort(ORDER);
      List<Piece> replaced = new ArrayList<>();
      List<LanePlan> dedicated = new ArrayList<>();
      for (LanePlan lane : ordered) {
        if (expected.getOrDefault(lane.destinationId(), 0L) >= settings.dedicatedBytes()) {
          dedicated.add(lane);
        } else {
          copy(lane, plan, replaced);
        }
      }
      long destination = 0;
      for (LanePlan lane : dedicated) {
        if (lane.destinationId() != destination) {
          finishSegment();
          destination = lane.destinationId();
        }
        copy(lane, plan, replaced);
      }
      finishSegment();
      if (!segments.isEmpty()) {
        disk.forceDirectory(SegmentFormat.FOLDER);
      }
      pieces.sort(
          Comparator.comparingLong(Piece::destinationId)
              .thenComparingInt(Piece::lane)
              .thenComparingLong(Piece::holderId)
              .thenComparingLong(Piece::firstSequence));
      return new Destaged(segments, pieces, replaced, nextAddress);
    } catch (IOException e) {
      dropAll(e);
      throw DiskFullException.classify("checkpoint at " + checkpointOffset, e);
    } catch (RuntimeException | Error e) {
      dropAll(e);
      throw e;
    }
  }

  private void copy(LanePlan lane, DestagePlan plan, List<Piece> replaced) throws IOException {
    endPiece();
    long last = -1;
    for (Piece piece : lane.pieces()) {
      if (piece.firstSequence() <= last) {
        throw new IllegalArgumentException(
            "destination %d lane %d: piece from sequence %d follows %d"
                .formatted(lane.destinationId(), lane.lane(), piece.firstSequence(), last));
      }
      last = piece.lastSequence();
      if (plan.rewrite().contains(piece.segmentAddress())) {
        try {
          reader.scan(
              piece,
              piece.firstSequence(),
              piece.lastSequence(),
              lane.needed(),
              (sequence, buffer, at, length) -> {
                add(lane, sequence, buffer, at);
                return true;
              });
        } catch (SegmentException.Damaged e) {
          throw new SegmentException.NotRewritable(piece.segmentAddress(), e);
        }
        replaced.add(piece);
      } else {
        // A kept piece lies between: what follows must not reach across it.
        endPiece();
      }
    }
    for (JournalRun run : lane.runs()) {
      if (run.firstSequence() <= last) {
        throw new IllegalArgumentException(
            "destination %d lane %d: run from sequence %d follows %d"
                .formatted(lane.destinationId(), lane.lane(), run.firstSequence(), last));
      }
      last = run.lastSequence();
      if (lane.needed().next(run.firstSequence()) <= last) {
        copyRun(lane, run);
      }
    }
    endPiece();
  }

  private void copyRun(LanePlan lane, JournalRun run) throws IOException {
    long end = run.journalOffset() + run.bytes();
    long offset = run.journalOffset();
    long sequence = run.firstSequence();
    for (int i = 0; i < run.count(); i++, sequence++) {
      int length = journalEntry(lane, run, sequence, offset, end);
      if (lane.needed().wants(sequence)) {
        SegmentWriter current =
            add(lane, sequence, journalChunk.buffer(), journalChunk.index(offset));
        if (damaged) {
          current.neverExpires();
        }
      }
      offset += length;
    }
    if (offset != end) {
      throw journalDamage(run, offset, "the run's entries end here, expected at offset " + end);
    }
  }

  private int journalEntry(LanePlan lane, JournalRun run, long sequence, long offset, long end)
      throws IOException {
    damaged = false;
    try {
      return checkedEntry(lane, run, sequence, offset, end);
    } catch (MalformedMessageException first) {
      journalChunk.forget();
      try {
        return checkedEntry(lane, run, sequence, offset, end);
      } catch (MalformedMessageException second) {
        return damagedEntry(run, offset, end, second);
      }
    }
  }

  /**
   * An entry that is damaged, but leads to the next one, is taken as it is: it is set aside when it
   * is read. If its length is what is damaged the run does not end where it has to, and all of the
   * destage is given up.
   */
  private int damagedEntry(JournalRun run, long offset, long end, MalformedMessageException why)
      throws IOException {
    int length = Entry.length(journalChunk.buffer(), journalChunk.index(offset));
    if (!isPossible(length, end - offset)) {
      throw journalDamage(run, offset, String.valueOf(why.getMessage()));
    }
    journalChunk.require(journal::read, offset, length, end - offset);
    int at = journalChunk.index(offset);
    if (Entry.isIntact(journalChunk.buffer(), at, at + length)) {
      // Not the disk's doing: it is another message's.
      throw journalDamage(run, offset, String.valueOf(why.getMessage()));
    }
    damaged = true;
    return length;
  }

  private boolean isPossible(int length, long remaining) {
    return length >= Entry.HEADER_BYTES
        && length <= remaining
        && length <= settings.maxEntryBytes();
  }

  private int checkedEntry(LanePlan lane, JournalRun run, long sequence, long offset, long end)
      throws IOException {
    long remaining = end - offset;
    if (remaining < Entry.HEADER_BYTES) {
      throw journalDamage(run, offset, "only " + remaining + " bytes remain in the run");
    }
    journalChunk.require(journal::read, offset, Entry.HEADER_BYTES, remaining);
    int length = Entry.length(journalChunk.buffer(), journalChunk.index(offset));
    if (!isPossible(length, remaining)) {
      throw new MalformedMessageException(
          "entry says %d bytes; the run has %d left, the limit is %d"
              .formatted(length, remaining, settings.maxEntryBytes()));
    }
    journalChunk.require(journal::read, offset, length, remaining);
    ByteBuffer buffer = journalChunk.buffer();
    int at = journalChunk.index(offset);
    Entry.check(buffer, at, at + length);
    if (Entry.sequence(buffer, at) != sequence
        || Entry.destinationId(buffer, at) != lane.destinationId()
        || Entry.lane(buffer, at) != lane.lane()
        || Entry.holderId(buffer, at) != lane.holderId()) {
      throw new MalformedMessageException(
          "entry is sequence %d of destination %d lane %d holder %d, expected %d of %d, %d, %d"
              .formatted(
                  Entry.sequence(buffer, at),
                  Entry.destinationId(buffer, at),
                  Entry.lane(buffer, at),
                  Entry.holderId(buffer, at),
                  sequence,
                  lane.destinationId(),
                  lane.lane(),
                  lane.holderId()));
    }
    return length;
  }

  private static IOException journalDamage(JournalRun run, long offset, String what) {
    return new IOException("journal at offset %d, %s: %s".formatted(offset, run, what));
  }

  private SegmentWriter add(LanePlan lane, long sequence, ByteBuffer from, int at)
      throws IOException {
    if (cancelled.getAsBoolean()) {
      throw new SegmentException.Cancelled(
          "checkpoint at %d was cancelled at destination %d, sequence %d"
              .formatted(checkpointOffset, lane.destinationId(), sequence));
    }
    SegmentWriter current = writer;
    if (current != null && !current.hasRoomFor(Entry.length(from, at))) {
      finishSegment();
      current = null;
    }
    if (current == null) {
      // Also an address whose creation fails is never used again.
      long address = nextAddress++;
      current = new SegmentWriter(disk, storeId, address, checkpointOffset, writeBuffer, settings);
      writer = current;
      created.add(address);
    }
    current.add(lane.destinationId(), lane.lane(), lane.holderId(), sequence, from, at);
    return current;
  }

  private void endPiece() {
    if (writer != null) {
      writer.endPiece();
    }
  }

  private void finishSegment() throws IOException {
    SegmentWriter current = writer;
    if (current != null) {
      SegmentInfo info = current.finish(pieces);
      segments.add(info);
      nextAddress = info.end();
      writer = null;
    }
  }

  private void dropAll(Throwable cause) {
    try {
      if (writer != null) {
        writer.close();
      }
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    for (long address : created) {
      try {
        files.deleteFile(address);
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
    }
  }
}
