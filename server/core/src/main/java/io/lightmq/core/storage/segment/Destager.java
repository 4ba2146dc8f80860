package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.NoFileHandleException;
import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One destage: copies what a plan needs from the journal and from rewritten segments into new ones.
 * Destinations with little to keep share segments, each one with much gets its own. Whatever goes
 * wrong, the files written so far are deleted. Memory: a write buffer, what its readers of the
 * journal and of segments have, and the index of the segment being written.
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
  private final JournalEntries journal;
  private final BooleanSupplier cancelled;
  private final ByteBuffer writeBuffer;

  private final List<SegmentInfo> segments = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();
  private final List<Long> created = new ArrayList<>();
  private long checkpointOffset;
  private long nextAddress;

  /** Whether what is under way is a write, whose failure is another matter than that of a read. */
  private boolean adding;

  private @Nullable SegmentWriter writer;

  Destager(
      Disk disk,
      DirectMemory memory,
      UUID storeId,
      long nextAddress,
      SegmentSettings settings,
      SegmentFiles files,
      SegmentReader reader,
      JournalEntries journal,
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
    this.writeBuffer = memory.allocate(SegmentStore.MEMORY, settings.writeBufferBytes());
  }

  /** Gives the memory back. */
  @Override
  public void close() {
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
      return new Destaged(segments, pieces, replaced, nextAddress, journal.damages());
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
    Iterator<JournalRun> runs = lane.runs().iterator();
    JournalRun run = runs.hasNext() ? runs.next() : null;
    for (Piece piece : lane.pieces()) {
      while (run != null && run.firstSequence() < piece.firstSequence()) {
        last = copy(lane, run, last);
        run = runs.hasNext() ? runs.next() : null;
      }
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
                add(lane, sequence, buffer, at, false);
                return true;
              });
        } catch (SegmentException.Damaged e) {
          throw new SegmentException.NotRewritable(piece.segmentAddress(), e);
        } catch (IOException e) {
          if (adding || e instanceof NoFileHandleException || e instanceof SegmentException) {
            throw e;
          }
          throw new SegmentException.Unread(SegmentFormat.name(piece.segmentAddress()), e, false);
        }
        replaced.add(piece);
      } else {
        // A kept piece lies between: what follows must not reach across it.
        endPiece();
      }
    }
    while (run != null) {
      last = copy(lane, run, last);
      run = runs.hasNext() ? runs.next() : null;
    }
    endPiece();
  }

  /** Copies what is needed of a run behind a sequence; the last sequence of the run. */
  private long copy(LanePlan lane, JournalRun run, long behind) throws IOException {
    if (run.firstSequence() <= behind) {
      throw new IllegalArgumentException(
          "destination %d lane %d: run from sequence %d follows %d"
              .formatted(lane.destinationId(), lane.lane(), run.firstSequence(), behind));
    }
    if (lane.needed().next(run.firstSequence()) <= run.lastSequence()) {
      journal.read(
          lane, run, (sequence, from, at, damaged) -> add(lane, sequence, from, at, damaged));
    }
    return run.lastSequence();
  }

  private void add(LanePlan lane, long sequence, ByteBuffer from, int at, boolean damaged)
      throws IOException {
    adding = true;
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
    if (damaged) {
      current.neverExpires();
    }
    adding = false;
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
