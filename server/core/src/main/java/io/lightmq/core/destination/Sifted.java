package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;

/**
 * How far a view with a selector has looked at one lane, and which messages of that match. While it
 * is live, all that arrives is looked at as it comes ({@link Views#arrived}).
 */
@OwnedBy("shard")
final class Sifted {
  final Cursor cursor;
  final SequenceSet matches;
  private final Arrivals arrivals;
  private long frontier;
  private boolean live;

  Sifted(Cursor cursor, Arrivals arrivals, OffHeap memory) {
    this.cursor = cursor;
    this.arrivals = arrivals;
    this.matches = new SequenceSet(memory);
  }

  /** Behind the last sequence that was looked at. */
  long end() {
    return live ? arrivals.end() : frontier;
  }

  boolean isLive() {
    return live;
  }

  /** Everything below a sequence has been looked at; live if that is all there is. */
  void reached(long sequence) {
    frontier = sequence;
    live = arrivals.isAll() && cursor.lane.extents.ceiling(sequence) >= arrivals.end();
  }

  /** What comes is not looked at any more; it is looked up later. */
  void pause() {
    frontier = end();
    live = false;
  }

  /** The next sequence to look at, or the lane's end if there is none. */
  long next() {
    return cursor.nextUnacknowledged(end());
  }
}
