package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Origin;

/**
 * What a lane has taken over from another one: sequences of its own whose entries lie under the
 * other's name, in runs of the journal as long as it has any. What of them lies in segments is
 * among the lane's pieces. It ends with the first checkpoint that began behind the take-over.
 */
@OwnedBy("shard")
final class Reference {
  private final long first;
  private final long end;
  private final Origin origin;
  private final RunList runs;

  /**
   * Refers to sequences.
   *
   * @param runs by the sequences of the origin; taken over
   */
  Reference(long first, long end, Origin origin, RunList runs) {
    this.first = first;
    this.end = end;
    this.origin = origin;
    this.runs = runs;
  }

  long first() {
    return first;
  }

  /** Behind the last sequence. */
  long end() {
    return end;
  }

  Origin origin() {
    return origin;
  }

  /** Where its entries lie in the journal, by the sequences of the origin. */
  RunList runs() {
    return runs;
  }

  /** The first sequence that lies in the journal, or {@code Long.MAX_VALUE}. */
  long firstInJournal() {
    return runs.isEmpty() ? Long.MAX_VALUE : runs.firstSequence() + origin.shift();
  }

  /** Finds an entry's place in the journal; false if it is not there. */
  boolean locate(long sequence, Location into) {
    if (!runs.locate(sequence - origin.shift(), into)) {
      return false;
    }
    into.takenOver(origin);
    return true;
  }
}
