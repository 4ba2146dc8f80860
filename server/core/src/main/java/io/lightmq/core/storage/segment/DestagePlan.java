package io.lightmq.core.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a checkpoint at journal offset P keeps, decided by the shard from its state at P. Read on
 * the destage thread, so all in it must be an immutable picture.
 *
 * @param offset P
 * @param lanes that have something in the journal below P or in a rewritten segment; any order
 * @param rewrite addresses of segments whose wanted entries are copied into the new ones; every
 *     lane with a piece in one of them must be among {@code lanes}
 * @param takeWhatComes whether what the device does not give of the journal is damaged; if not, the
 *     destage is given up for it
 */
public record DestagePlan(
    long offset, List<LanePlan> lanes, Set<Long> rewrite, boolean takeWhatComes) {
  public DestagePlan {
    lanes = List.copyOf(lanes);
    rewrite = Set.copyOf(rewrite);
  }

  /** A plan that may be tried again. */
  public DestagePlan(long offset, List<LanePlan> lanes, Set<Long> rewrite) {
    this(offset, lanes, rewrite, false);
  }

  /**
   * One lane's part of the plan.
   *
   * @param pieces all pieces that the lane has now, rising by sequence
   * @param runs the lane's entries in the journal below P, rising by sequence; they lie behind and,
   *     if the lane has taken entries over, between the pieces; iterated once
   * @param expectedBytes what the shard expects to be written for this lane; from {@link
   *     SegmentSettings#dedicatedBytes} on the lane's destination gets segments to itself
   * @param needed what somebody still needs at P; everything else is left out
   */
  public record LanePlan(
      long destinationId,
      int lane,
      long holderId,
      List<Piece> pieces,
      Iterable<JournalRun> runs,
      long expectedBytes,
      Wanted needed) {
    public LanePlan {
      pieces = List.copyOf(pieces);
    }
  }

  /**
   * Entries of one lane that lie back to back in the journal.
   *
   * @param firstSequence of the first entry; the others follow without a gap
   * @param journalOffset of the first byte of the first entry
   * @param bytes of all entries
   * @param origin under which name they lie, if the lane has taken them over
   */
  public record JournalRun(
      long firstSequence, int count, long journalOffset, long bytes, @Nullable Origin origin) {
    public JournalRun {
      if (firstSequence < 0 || count <= 0 || journalOffset < 0 || bytes <= 0) {
        throw new IllegalArgumentException(
            "run of %d entries from %d with %d bytes at %d is impossible"
                .formatted(count, firstSequence, bytes, journalOffset));
      }
    }

    /** A run whose entries lie under the name of the lane that has it. */
    public JournalRun(long firstSequence, int count, long journalOffset, long bytes) {
      this(firstSequence, count, journalOffset, bytes, null);
    }

    /** The last entry's sequence. */
    public long lastSequence() {
      return firstSequence + count - 1;
    }
  }

  /** The journal as the destage thread reads it. Everything below P must stay readable. */
  @FunctionalInterface
  public interface JournalBytes {
    /** Fills the buffer with the journal's bytes from an offset on. Blocks. */
    void read(long offset, ByteBuffer into) throws IOException;
  }
}
