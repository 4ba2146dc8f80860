package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Piece;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A durable lane: state of the journal. Its entries lie in pieces of segments and, behind these, in
 * runs of the journal.
 */
@OwnedBy("shard")
public final class DurableLane extends Lane {
  /** The longest entry whose place a lane can remember. */
  public static final int MAX_ENTRY_BYTES = RunList.MAX_ENTRY_BYTES;

  private final OffHeap memory;
  RunList runs;
  private List<Piece> pieces = List.of();
  private @Nullable AgeSamples ages;
  private long newestMillis;

  DurableLane(Destination destination, AwaitedLanes awaiting, int code, OffHeap memory) {
    super(destination, awaiting, code);
    this.memory = memory;
    this.runs = new RunList(memory);
  }

  /**
   * Applies a run: sequences that continue the lane. Their places follow by {@link #entry}, then
   * {@link #await} or, at start, {@link #show}.
   */
  public void append(long firstSequence, int count) {
    destination().guard().check();
    extend(firstSequence, count);
  }

  /** Whether anything was ever in it; if not, a snapshot does not have it. */
  boolean wasUsed() {
    return extents.end() > 0;
  }

  /**
   * Where an appended entry lies in the journal, rising by sequence and offset, and when it
   * expires, 0 for never.
   */
  public void entry(long sequence, long journalOffset, int bytes, long expiryMillis) {
    runs.append(sequence, journalOffset, bytes);
    expires(sequence, expiryMillis);
  }

  /** What was appended up to a sequence came at a time, by the broker's clock. */
  public void came(long lastSequence, long millis) {
    destination().guard().check();
    AgeSamples known = ages;
    if (known == null) {
      if (destination().isHidden()) {
        return; // nobody asks how old a message is that is not due
      }
      known = new AgeSamples();
      ages = known;
    }
    newestMillis = Math.max(newestMillis, millis);
    if (known.mayForget(millis)) {
      known.forgetBelow(destination().firstNeeded(this));
    }
    known.sample(lastSequence, millis);
  }

  /** When a message came, or somewhat earlier; 0 if it came before what is known. */
  public long cameAt(long sequence) {
    return ages == null ? 0 : ages.cameAt(sequence);
  }

  /** What is known of when messages came. */
  @Nullable AgeSamples ages() {
    return ages;
  }

  /** When the newest message came; 0 if it came before what is known. */
  public long newestMillis() {
    return newestMillis;
  }

  /** Finds an entry's place; false if the sequence was never stored or is not kept any more. */
  public boolean locate(long sequence, Location into) {
    if (sequence >= runs.firstSequence()) {
      return runs.locate(sequence, into);
    }
    int low = 0;
    int high = pieces.size() - 1;
    while (low <= high) {
      int mid = (low + high) >>> 1;
      Piece piece = pieces.get(mid);
      if (sequence < piece.firstSequence()) {
        high = mid - 1;
      } else if (sequence > piece.lastSequence()) {
        low = mid + 1;
      } else {
        into.inPiece(piece);
        return true;
      }
    }
    return false;
  }

  /** The lane's pieces, rising by sequence. */
  public List<Piece> pieces() {
    return pieces;
  }

  /**
   * Switches to new places: all pieces that the lane has now, and no runs below a checkpoint's
   * offset any more.
   */
  public void install(List<Piece> all, long checkpointOffset) {
    destination().guard().check();
    long behind = -1;
    for (Piece piece : all) {
      if (piece.firstSequence() <= behind) {
        throw new IllegalArgumentException(
            "piece from sequence %d of destination %d lane %d begins before %d, where the piece before it ends"
                .formatted(piece.firstSequence(), piece.destinationId(), piece.lane(), behind));
      }
      behind = piece.lastSequence();
    }
    pieces = List.copyOf(all);
    runs.dropBelow(checkpointOffset);
  }

  /** Switches to new places: some pieces are replaced, others come. */
  public void install(Collection<Piece> replaced, Collection<Piece> added, long checkpointOffset) {
    List<Piece> all = new ArrayList<>(pieces);
    all.removeAll(Set.copyOf(replaced));
    all.addAll(added);
    all.sort(Comparator.comparingLong(Piece::firstSequence));
    install(all, checkpointOffset);
  }

  /** Takes over where the entries lie, and when they came, from the same lane that is given up. */
  public void takePlaces(DurableLane same) {
    destination().guard().check();
    ages = same.ages;
    newestMillis = same.newestMillis;
    runs.clear();
    runs = same.runs;
    pieces = same.pieces;
    same.runs = new RunList(memory);
    same.pieces = List.of();
  }

  void clear() {
    pieces = List.of();
    runs.clear();
  }
}
