package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Arrays;

/**
 * Where in a lane which correlation or message ids are: hashes of the ids of all messages that were
 * unacknowledged from one sequence up to another one. A long backlog in segments is not in it.
 * Entries of acknowledged messages are dropped when it is full; if it is still full then, those of
 * the older half of the messages, which have to be looked at one by one again.
 */
@OwnedBy("shard")
final class IdLane {
  /** The most entries; 24 bytes of heap each. */
  static final int MAX_ENTRIES = 1 << 16;

  final Cursor cursor;
  private final Arrivals arrivals;

  private long from;
  private long frontier;
  private boolean live;

  /** The first entry of each bucket + 1; its length is a power of two. */
  private int[] heads = new int[64];

  private long[] hashes = new long[64];
  private long[] sequences = new long[64];

  /** The next entry of the same bucket + 1. */
  private int[] nexts = new int[64];

  private int entries;

  IdLane(Cursor cursor, Arrivals arrivals) {
    this.cursor = cursor;
    this.arrivals = arrivals;
    this.from = begin(cursor);
    reached(from);
  }

  /** What is in segments has hashes there, and is left to them if it is much. */
  private static long begin(Cursor cursor) {
    long first = cursor.firstUnacknowledged();
    if (cursor.lane instanceof DurableLane durable && !durable.pieces().isEmpty()) {
      long end = durable.pieces().get(durable.pieces().size() - 1).lastSequence() + 1;
      if (cursor.unacknowledged(first, end) > MAX_ENTRIES / 2) {
        return cursor.nextReadable(end);
      }
    }
    return first;
  }

  /** The first sequence that it covers. */
  long from() {
    return from;
  }

  /** Behind the last sequence that it covers. */
  long end() {
    return live ? arrivals.end() : frontier;
  }

  boolean isLive() {
    return live;
  }

  void reached(long sequence) {
    frontier = sequence;
    live = arrivals.isAll() && cursor.lane.extents.ceiling(sequence) >= arrivals.end();
  }

  void pause() {
    frontier = end();
    live = false;
  }

  /** Adds the id of the next message; {@link IdScan#NONE} is not kept. */
  void add(long sequence, long hash) {
    if (hash == IdScan.NONE) {
      return;
    }
    if (entries == hashes.length) {
      grow();
    }
    put(sequence, hash);
  }

  private void put(long sequence, long hash) {
    int bucket = (int) hash & (heads.length - 1);
    hashes[entries] = hash;
    sequences[entries] = sequence;
    nexts[entries] = heads[bucket];
    heads[bucket] = ++entries;
  }

  private void grow() {
    compact(from);
    if (entries > hashes.length / 2) {
      if (hashes.length < MAX_ENTRIES) {
        resize(hashes.length * 2);
      } else {
        long[] sorted = Arrays.copyOf(sequences, entries);
        Arrays.sort(sorted);
        from = sorted[entries / 2];
        compact(from);
      }
    }
  }

  private void resize(int length) {
    hashes = Arrays.copyOf(hashes, length);
    sequences = Arrays.copyOf(sequences, length);
    nexts = new int[length];
    heads = new int[length];
    rebuild(entries);
  }

  /** Drops what is acknowledged or lies below a sequence. */
  private void compact(long below) {
    int kept = 0;
    for (int i = 0; i < entries; i++) {
      if (sequences[i] >= below && cursor.isUnacknowledged(sequences[i])) {
        hashes[kept] = hashes[i];
        sequences[kept++] = sequences[i];
      }
    }
    rebuild(kept);
  }

  private void rebuild(int count) {
    Arrays.fill(heads, 0);
    entries = 0;
    for (int i = 0; i < count; i++) {
      put(sequences[i], hashes[i]);
    }
  }

  /** Adds the unacknowledged messages with a hash, from a sequence on, to a set. */
  void find(long hash, long least, SequenceSet into) {
    for (int i = heads[(int) hash & (heads.length - 1)] - 1; i >= 0; i = nexts[i] - 1) {
      if (hashes[i] == hash && sequences[i] >= least && cursor.isUnacknowledged(sequences[i])) {
        into.add(sequences[i]);
      }
    }
  }

  int entries() {
    return entries;
  }
}
