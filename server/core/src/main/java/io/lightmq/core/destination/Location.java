package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Origin;
import io.lightmq.core.storage.segment.Piece;
import org.jspecify.annotations.Nullable;

/** Where an entry lies, as {@link DurableLane#locate} fills it in. Reused from call to call. */
@OwnedBy("shard")
public final class Location {
  private @Nullable Piece piece;
  private long firstSequence;
  private int count;
  private long journalOffset;
  private int bytes;
  private @Nullable Origin origin;

  /** The piece that spans the sequence; null if it lies in the journal. */
  public @Nullable Piece piece() {
    return piece;
  }

  /** The sequence of the journal run's first entry. */
  public long firstSequence() {
    return firstSequence;
  }

  /** Entries of the journal run. */
  public int count() {
    return count;
  }

  /** Where the journal run's first entry lies. */
  public long journalOffset() {
    return journalOffset;
  }

  /** Bytes of the journal run. */
  public int bytes() {
    return bytes;
  }

  /** Under which name the journal run's entries lie, if the lane has taken them over. */
  public @Nullable Origin origin() {
    return origin;
  }

  void inJournal(long firstSequence, int count, long journalOffset, int bytes) {
    this.piece = null;
    this.firstSequence = firstSequence;
    this.count = count;
    this.journalOffset = journalOffset;
    this.bytes = bytes;
    this.origin = null;
  }

  /** What was found in the journal, by the sequences of its origin, is a lane's that took it. */
  void takenOver(Origin from) {
    firstSequence += from.shift();
    origin = from;
  }

  void inPiece(Piece piece) {
    this.piece = piece;
  }
}
