package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
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

  void inJournal(long firstSequence, int count, long journalOffset, int bytes) {
    this.piece = null;
    this.firstSequence = firstSequence;
    this.count = count;
    this.journalOffset = journalOffset;
    this.bytes = bytes;
  }

  void inPiece(Piece piece) {
    this.piece = piece;
  }
}
