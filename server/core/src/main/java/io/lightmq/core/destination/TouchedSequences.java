package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What of a lane consumers of one subscription may have been given since the last unclean stop. A
 * message is touched before it is given out, durably. After an unclean stop all that is touched and
 * not acknowledged is flagged, for it may have been seen.
 *
 * <p>Nobody waits for the force if it is asked for early enough, and what is asked for too early is
 * flagged although nobody saw it. So what lies ahead is asked for in parts: at least 256 messages,
 * and eight times as many as were given while the part before became durable, 4096 at most. Half of
 * it is left when the next part is asked for. So the forces that nobody else asks for take a
 * quarter of the time at most.
 */
@OwnedBy("shard")
final class TouchedSequences {
  /** The most that is asked for ahead, as a multiple of the least. */
  static final int MOST_AHEAD = 16;

  private final Lane lane;
  private final OffHeap memory;
  private final SequenceSet touched;
  private final SequenceSet flagged;

  /** What is asked for and not durable. */
  private final SequenceSet requested;

  private int ahead;

  /** Behind what was given last; or up to where nothing was free when somebody asked. */
  private long position;

  /** What may be given and was looked up last. */
  private long freeFrom;

  private long freeEnd;

  /** All from one to the other is asked for. */
  private long askedFrom;

  private long askedEnd;

  /** Behind all that was ever asked for. */
  private long farthest;

  // The newest part that was asked for: where it begins, where the position was, what was left.
  private long part = -1;
  private long partAt;
  private long partLeft;

  TouchedSequences(Lane lane, OffHeap memory) {
    this.lane = lane;
    this.memory = memory;
    this.ahead = memory.touchedAhead;
    this.touched = new SequenceSet(memory);
    this.flagged = new SequenceSet(memory);
    this.requested = new SequenceSet(memory);
  }

  SequenceSet touched() {
    return touched;
  }

  /** What may have been seen before an unclean stop. */
  SequenceSet flagged() {
    return flagged;
  }

  // ---- giving out ----

  /** Behind the last of those that may be given from one on, below an end; the first if none. */
  long mayGive(long first, long end) {
    if (first < freeFrom || first >= freeEnd) {
      long stop = touched.contains(first) ? touched.nextAbsent(first) : first;
      freeFrom = first;
      freeEnd = requested.isEmpty() ? stop : requested.nextPresent(first, stop);
    }
    return Math.min(end, freeEnd);
  }

  /** Nothing can be given before one is touched: asks for it, if nobody has. */
  void wants(long first, Subscription subscription, Subscription.Touches touches) {
    if (!requested.contains(first)) {
      ask(first, first + ahead, first, subscription, touches);
    }
  }

  /** All up to an end is given now: asks for what comes behind it, if that is time. */
  void given(long end, Subscription subscription, Subscription.Touches touches) {
    position = end;
    if (end >= askedFrom && askedEnd - end >= ahead / 2) {
      return;
    }
    askedFrom = end;
    askedEnd = nextUnasked(end);
    if (askedEnd - end < ahead / 2) {
      if (askedEnd == end) {
        grow(); // one pull has taken all that was ahead
      }
      askedEnd = end + ahead;
      ask(end, askedEnd, end, subscription, touches);
    }
  }

  /** Nothing is free up to an end. */
  void dry(long end) {
    position = Math.max(position, end);
  }

  /**
   * A run was appended, and consumers wait: asks for it in the same batch, unless so much is before
   * it that it is not given at once.
   */
  void appended(long first, long count, Subscription subscription, Subscription.Touches touches) {
    if (first + count + ahead / 2 <= farthest) {
      return;
    }
    long before = lane.extents.count(Math.min(position, first), first);
    if (before <= ahead / 2) {
      ask(first, first + ahead, position, subscription, touches);
    }
  }

  private void ask(
      long from, long to, long at, Subscription subscription, Subscription.Touches touches) {
    for (long next = nextUnasked(from); next < to; next = nextUnasked(next)) {
      long end = touched.nextPresent(next, requested.nextPresent(next, to));
      requested.add(next, end - next);
      part = next;
      partAt = at;
      partLeft = next - at;
      touches.touch(subscription, lane.code(), next, (int) (end - next));
    }
    farthest = Math.max(farthest, to);
  }

  private long nextUnasked(long from) {
    long at = from;
    while (true) {
      long next = requested.nextAbsent(touched.nextAbsent(at));
      if (next == at) {
        return at;
      }
      at = next;
    }
  }

  // ---- records ----

  void touch(long from, long count) {
    touched.add(from, count);
  }

  void touchDurable(long from, long count) {
    requested.remove(from, count);
    if (from == part) {
      adapt();
    }
  }

  /** What was given while a part became durable says how far ahead the next one has to be. */
  private void adapt() {
    part = -1;
    long given = position - partAt;
    if (partLeft <= 0 || given < 0) {
      return; // nobody was ahead
    }
    if (given * 4 > partLeft) {
      grow();
    } else if (given * 32 < partLeft) {
      ahead = Math.max(memory.touchedAhead, ahead / 2);
    }
  }

  private void grow() {
    ahead = Math.min(MOST_AHEAD * memory.touchedAhead, ahead * 2);
  }

  void flag() {
    flagged.addAll(touched);
  }

  // ---- life ----

  void trim(long below) {
    touched.dropBelow(below);
    flagged.dropBelow(below);
  }

  /** Writes both sets, of what is touched and of what is flagged, from a sequence on. */
  void encode(DataOutput out, long below) throws IOException {
    touched.encode(out, below);
    flagged.encode(out, below);
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @param blocks whether the sets have the numbers of blocks, as brokers wrote it that touched
   *     whole blocks
   */
  void decode(DataInput in, boolean blocks) throws IOException {
    decode(in, blocks, touched);
    decode(in, blocks, flagged);
  }

  private void decode(DataInput in, boolean blocks, SequenceSet into) throws IOException {
    if (!blocks) {
      into.decode(in);
      return;
    }
    SequenceSet keys = new SequenceSet(memory);
    keys.decode(in);
    long most = Long.MAX_VALUE >>> SequenceSet.BLOCK_BITS;
    for (long key = keys.nextPresent(0, most); key < most; key = keys.nextPresent(key + 1, most)) {
      into.add(key << SequenceSet.BLOCK_BITS, SequenceSet.BLOCK);
    }
    keys.clear();
  }

  void clear() {
    touched.clear();
    flagged.clear();
    requested.clear();
  }
}
