package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * How far a view with a selector has looked at one lane, and which messages of that match. While it
 * is live, all that arrives is looked at as it comes ({@link Views#arrived}).
 */
@OwnedBy("shard")
final class Sifted {
  final Cursor cursor;
  final SequenceSet matches;
  private final Arrivals arrivals;

  /** Below {@link #jumpEnd} only these can match: an index said so. */
  final SequenceSet candidates;

  /** What is known of keys; null in a destination without any. */
  @Nullable GroupLane keys;

  private long jumpEnd;
  private long frontier;
  private boolean live;

  Sifted(Cursor cursor, Arrivals arrivals, OffHeap memory) {
    this.cursor = cursor;
    this.arrivals = arrivals;
    this.matches = new SequenceSet(memory);
    this.candidates = new SequenceSet(memory);
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
    return next(end());
  }

  /** The next sequence to look at from one on, or the lane's end if there is none. */
  long next(long from) {
    long at = from;
    if (at < jumpEnd) {
      at = candidates.nextPresent(at, jumpEnd);
      while (at < jumpEnd && (!cursor.isUnacknowledged(at) || cursor.lane.aside.contains(at))) {
        at = candidates.nextPresent(at + 1, jumpEnd);
      }
      if (at < jumpEnd) {
        return at;
      }
    }
    return cursor.nextReadable(at);
  }

  /** How many consecutive messages to look at begin with one of them, at most so many. */
  int run(long from, int most) {
    long end = Math.min(from + most, cursor.lane.extents.extentEnd(from));
    if (from < jumpEnd) {
      end = Math.min(end, Math.min(jumpEnd, candidates.nextAbsent(from)));
    }
    return cursor.readableRun(from, (int) (end - from));
  }

  /** Messages that nobody could read may be read again: all from one on is looked at anew. */
  void lookAgain(long from) {
    if (from >= end()) {
      return;
    }
    if (keys != null) {
      restart();
    } else {
      frontier = from;
      live = false;
      jumpEnd = 0;
      candidates.clear();
    }
  }

  /** The index knows where the id is, as far as it goes. */
  void jump(IdLane index, long hash) {
    long at = end();
    if (!live && at >= index.from() && at >= jumpEnd && at < index.end()) {
      candidates.clear();
      index.find(hash, at, candidates);
      jumpEnd = index.end();
    }
  }

  /** From where on everything was looked at that lies behind a sequence. */
  long wholeFrom(long sequence) {
    return Math.max(sequence, jumpEnd);
  }

  /** From now on messages have keys; what is known to match, and all below a sequence, has none. */
  void spread(GroupBuckets views, long since, OffHeap memory) {
    GroupLane made = new GroupLane(cursor, memory, matches, since);
    keys = made;
    views.add(made);
  }

  /** Messages that are known to match. */
  long known() {
    GroupLane of = keys;
    return matches.size() + (of == null ? 0 : of.size());
  }

  /** What it takes outside the heap to know these, if messages have keys. */
  long bytes() {
    GroupLane of = keys;
    return of == null ? 0 : of.bytes();
  }

  /** A message that was looked at matches and is not acknowledged. */
  void match(long sequence, int code) {
    GroupLane of = keys;
    if (of == null) {
      matches.add(sequence);
    } else {
      of.add(sequence, code);
    }
  }

  /** Messages are acknowledged; whether any was known. */
  boolean acknowledged(long from, long to) {
    long before = known();
    if (before == 0) {
      return false;
    }
    GroupLane of = keys;
    if (of == null) {
      matches.remove(from, to - from);
    } else {
      of.remove(from, to);
    }
    return known() < before;
  }

  /** Forgets what it knows and begins again, but for what has no key for sure. */
  void restart() {
    GroupLane of = keys;
    clear();
    live = false;
    jumpEnd = 0;
    reached(Math.max(cursor.firstUnacknowledged(), of == null ? 0 : of.since()));
  }

  void clear() {
    GroupLane of = keys;
    matches.clear();
    candidates.clear();
    if (of != null) {
      of.clear();
    }
  }
}
