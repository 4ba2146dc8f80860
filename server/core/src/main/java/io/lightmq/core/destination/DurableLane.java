package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Origin;
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

  /** What it has taken over from others, rising; null for nothing, as nearly always. */
  private @Nullable List<Reference> references;

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

  /** How many sequences exist of a lane in which messages are staged. */
  public int count() {
    destination().guard().check();
    return Math.toIntExact(extents.count(0, extents.end()));
  }

  /** The first sequence that exists, or the end. */
  public long firstExisting() {
    return extents.start();
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
    if (references != null) {
      Reference reference = reference(references, sequence);
      if (reference != null) {
        return reference.locate(sequence, into) || locateInPieces(sequence, into);
      }
    }
    if (sequence >= runs.firstSequence()) {
      return runs.locate(sequence, into);
    }
    return locateInPieces(sequence, into);
  }

  private static @Nullable Reference reference(List<Reference> rising, long sequence) {
    int low = 0;
    int high = rising.size() - 1;
    while (low <= high) {
      int mid = (low + high) >>> 1;
      Reference reference = rising.get(mid);
      if (sequence < reference.first()) {
        high = mid - 1;
      } else if (sequence >= reference.end()) {
        low = mid + 1;
      } else {
        return reference;
      }
    }
    return null;
  }

  private boolean locateInPieces(long sequence, Location into) {
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

  /** Whether nothing of it lies in the journal. */
  boolean isOutOfJournal() {
    return firstInJournal() == Long.MAX_VALUE;
  }

  /** The first sequence that lies in the journal, or {@code Long.MAX_VALUE}. */
  long firstInJournal() {
    long first = runs.firstSequence();
    if (references != null) {
      for (Reference reference : references) {
        first = Math.min(first, reference.firstInJournal());
      }
    }
    return first;
  }

  /** What it has taken over, rising. */
  List<Reference> references() {
    return references == null ? List.of() : references;
  }

  /**
   * Applies that another lane's entries are this one's from now on, from a sequence that continues
   * it: all of that lane, which is given up. Their bytes stay as they are, and where they are.
   *
   * @param millis when they came, by the broker's clock
   */
  public void takeOver(DurableLane given, long firstSequence, long millis) {
    destination().guard().check();
    long from = given.extents.start();
    int count = Math.toIntExact(given.extents.end() - from);
    if (count == 0 || given.extents.count(from, given.extents.end()) != count) {
      throw new IllegalStateException(
          "lane %d of destination %d has %d sequences in %d: it cannot be taken over"
              .formatted(
                  given.code(),
                  given.destination().id(),
                  given.extents.count(from, given.extents.end()),
                  count));
    }
    append(firstSequence, count);
    long shift = firstSequence - from;
    given
        .earliestExpiries(from)
        .forEach((block, expiryMillis) -> expiresIn(given, block, shift, expiryMillis));
    if (!given.pieces.isEmpty()) { // mostly it lies in the journal, and this lane may have many
      List<Piece> all = new ArrayList<>(pieces);
      for (Piece piece : given.pieces) {
        all.add(piece.takenOver(destination().id(), code(), shift));
      }
      pieces = List.copyOf(all);
    }
    List<Reference> now = references == null ? new ArrayList<>(1) : references;
    Origin origin = new Origin(given.destination().id(), given.code(), shift);
    now.add(new Reference(firstSequence, firstSequence + count, origin, given.runs));
    references = now;
    given.runs = new RunList(given.memory);
    given.pieces = List.of();
    came(firstSequence, millis);
  }

  /** Something of a block of another lane expires at a time, at the earliest. */
  private void expiresIn(DurableLane given, long block, long shift, long expiryMillis) {
    long from = Math.max(block << SequenceSet.BLOCK_BITS, given.extents.start());
    long last = Math.min((block + 1) << SequenceSet.BLOCK_BITS, given.extents.end()) - 1;
    expires(from + shift, expiryMillis);
    expires(last + shift, expiryMillis);
  }

  /** Where the entries of lanes lie that were given up since a checkpoint began. */
  @FunctionalInterface
  public interface GivenPlaces {
    /** None. */
    GivenPlaces NONE = (destinationId, lane) -> null;

    /** The pieces of a lane as that checkpoint found it; null if it had nothing of it. */
    @Nullable List<Piece> of(long destinationId, int lane);
  }

  /** The same where the lane has taken over nothing since the checkpoint began. */
  public void install(List<Piece> all, long checkpointOffset) {
    install(all, GivenPlaces.NONE, checkpointOffset);
  }

  /**
   * Switches to new places: all pieces that the lane has now, and no runs below a checkpoint's
   * offset any more.
   *
   * @param own the lane's pieces as the checkpoint found it
   * @param given tells those of what it has taken over since
   */
  public void install(List<Piece> own, GivenPlaces given, long checkpointOffset) {
    destination().guard().check();
    List<Piece> all = references == null ? own : switchReferences(own, given, checkpointOffset);
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

  /** All pieces; what the checkpoint has found in this lane itself is no reference any more. */
  private List<Piece> switchReferences(List<Piece> own, GivenPlaces given, long checkpointOffset) {
    List<Piece> all = new ArrayList<>(own);
    List<Reference> left = new ArrayList<>();
    for (Reference reference : references()) {
      Origin origin = reference.origin();
      List<Piece> found = given.of(origin.destinationId(), origin.lane());
      if (found != null) {
        for (Piece piece : found) {
          all.add(piece.takenOver(destination().id(), code(), origin.shift()));
        }
      }
      reference.runs().dropBelow(checkpointOffset);
      if (found != null || !reference.runs().isEmpty()) {
        left.add(reference);
      }
    }
    references = left.isEmpty() ? null : left;
    all.sort(Comparator.comparingLong(Piece::firstSequence));
    return all;
  }

  /** Whether it looks for places under the names of other lanes. */
  public boolean refers() {
    return references != null;
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
    references = same.references;
    same.runs = new RunList(memory);
    same.pieces = List.of();
    same.references = null;
  }

  void clear() {
    pieces = List.of();
    runs.clear();
    references().forEach(each -> each.runs().clear());
    references = null;
  }
}
