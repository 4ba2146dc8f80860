package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * What a view with keys knows of one lane: each message that was looked at and is not acknowledged
 * is in one of 64 sets by its key, or in the set of those without one. Finding the next free one of
 * some group buckets costs a few operations for each of them, and nothing for the others.
 *
 * <p>It takes one byte for each message with a key, and a bitmap of 512 bytes for each group bucket
 * in each block of 4096, outside the heap.
 */
@OwnedBy("shard")
final class GroupLane {
  private static final long NONE = Level.NONE;

  /** The place of the messages without a key in {@link #at}. */
  private static final int LOOSE = GroupScan.BUCKETS;

  private final Cursor cursor;
  private final OffHeap memory;
  private final SequenceSet loose;

  /** Everything below it matches and has no key; none of it is in the set. */
  private final long since;

  /** What {@link GroupScan} said of messages with a key. */
  private final BlockTable codes;

  private final @Nullable SequenceSet[] sets = new @Nullable SequenceSet[GroupScan.BUCKETS];

  /** Nothing below is free; by group bucket. */
  private final long[] at = new long[GroupScan.BUCKETS + 1];

  /** Group buckets in which something may be free. */
  private long ready;

  private boolean looseReady;

  /** Group buckets in which something is not visible yet. */
  private long unseen;

  private boolean looseUnseen;
  private long size;

  /** Of the bitmaps of group buckets. */
  private long setBytes;

  /**
   * Knows nothing of any key.
   *
   * @param loose what is known to match, all of it without a key
   * @param since everything below matches, without being in that set, and has no key
   */
  GroupLane(Cursor cursor, OffHeap memory, SequenceSet loose, long since) {
    this.cursor = cursor;
    this.memory = memory;
    this.loose = loose;
    this.since = since;
    this.codes = new BlockTable(memory, 0);
    this.looseReady = true;
  }

  /** Messages with a key that are known. */
  long size() {
    return size;
  }

  /** Bytes outside the heap, of full blocks 512 more than there are. */
  long bytes() {
    return codes.bytes() + setBytes + loose.mostOffHeapBytes();
  }

  /** From where on everything has to be looked at. */
  long since() {
    return since;
  }

  /** An unacknowledged message was looked at and matches. */
  void add(long sequence, int code) {
    if (code == GroupScan.LOOSE) {
      loose.add(sequence);
      at[LOOSE] = Math.min(at[LOOSE], sequence);
      looseReady = true;
      return;
    }
    int key = GroupScan.keyOf(code);
    SequenceSet set = sets[key];
    if (set == null) {
      set = new SequenceSet(memory);
      sets[key] = set;
    }
    long before = set.mostOffHeapBytes();
    if (set.add(sequence)) {
      size++;
      setBytes += set.mostOffHeapBytes() - before;
    }
    codes.set(sequence, code);
    at[key] = Math.min(at[key], sequence);
    ready |= 1L << key;
  }

  /** Messages are acknowledged. */
  void remove(long from, long to) {
    if (!loose.isEmpty()) {
      loose.remove(from, to - from);
    }
    if (size == 0) {
      return;
    }
    if (to - from > SequenceSet.BLOCK) {
      for (SequenceSet set : sets) {
        if (set != null) {
          remove(set, from, to - from);
        }
      }
      codes.clear(from, to);
      return;
    }
    for (long s = codes.next(from, to); s < to; s = codes.next(s + 1, to)) {
      SequenceSet set = sets[GroupScan.keyOf(codes.set(s, 0))];
      if (set != null) {
        remove(set, s, 1);
      }
    }
  }

  private void remove(SequenceSet set, long from, long count) {
    long before = set.mostOffHeapBytes();
    size -= set.remove(from, count);
    setBytes += set.mostOffHeapBytes() - before;
  }

  /** Messages are free again. */
  void back(long from, long to) {
    at[LOOSE] = Math.min(at[LOOSE], from);
    looseReady = true;
    if (size == 0) {
      return;
    }
    if (to - from > SequenceSet.BLOCK) {
      for (int key = 0; key < sets.length; key++) {
        SequenceSet set = sets[key];
        long first = set == null ? to : set.nextPresent(from, to);
        if (first < to) {
          back(key, first);
        }
      }
      return;
    }
    for (long s = codes.next(from, to); s < to; s = codes.next(s + 1, to)) {
      back(GroupScan.keyOf(codes.get(s)), s);
    }
  }

  private void back(int key, long sequence) {
    at[key] = Math.min(at[key], sequence);
    ready |= 1L << key;
  }

  /** Something became visible. */
  void moved() {
    ready |= unseen;
    unseen = 0;
    looseReady |= looseUnseen;
    looseUnseen = false;
  }

  /** Group buckets in which something may be free. */
  long ready() {
    return ready;
  }

  /** Whether a message without a key may be free. */
  boolean isLooseReady() {
    return looseReady;
  }

  /** Whether something of a group bucket is free and visible. */
  boolean isFree(int key) {
    return (ready & (1L << key)) != 0 && find(key, cursor.lane.visibleEnd()) != NONE;
  }

  /** Known messages of some group buckets, free or not. */
  long known(long keys) {
    long sum = 0;
    for (long rest = keys; rest != 0; rest &= rest - 1) {
      SequenceSet set = sets[Long.numberOfTrailingZeros(rest)];
      sum += set == null ? 0 : set.size();
    }
    return sum;
  }

  /** Messages without a key that may be free, at most. */
  long knownLoose() {
    return at[LOOSE] < since ? cursor.ready() : loose.size();
  }

  /** The group bucket of a known message, -1 without a key. */
  int key(long sequence) {
    int code = codes.get(sequence);
    return code == GroupScan.LOOSE ? -1 : GroupScan.keyOf(code);
  }

  /** Whether a known message is the last of its group. */
  boolean isLast(long sequence) {
    return GroupScan.isLast(codes.get(sequence));
  }

  /** Whether a consumer holds any message of a group bucket, or an open transaction does. */
  boolean isHeld(int key, Holding holding) {
    SequenceSet set = sets[key];
    return set != null
        && !set.isEmpty()
        && (holding.meets(cursor.lane.code(), set) || cursor.meetsStaged(set));
  }

  /** The first visible and free message of some group buckets or, if asked, without a key. */
  long next(long keys, boolean withLoose) {
    long end = cursor.lane.visibleEnd();
    while (true) {
      long best = NONE;
      int of = -1;
      if (withLoose && looseReady) {
        best = at[LOOSE];
        of = LOOSE;
      }
      for (long rest = ready & keys; rest != 0; rest &= rest - 1) {
        int key = Long.numberOfTrailingZeros(rest);
        if (at[key] < best) {
          best = at[key];
          of = key;
        }
      }
      if (of < 0) {
        return NONE;
      }
      if (find(of, end) == best) {
        return best;
      }
    }
  }

  /** The first free message of a group bucket; notes where it is, or that there is none. */
  private long find(int of, long end) {
    if (of == LOOSE) {
      long found = findLoose(end);
      looseReady = found != NONE;
      looseUnseen |= !looseReady && (end < since || loose.nextPresent(end, NONE) != NONE);
      at[LOOSE] = looseReady ? found : end;
      return found;
    }
    SequenceSet set = sets[of];
    long found = set == null ? NONE : Level.matching(cursor, set, at[of], end);
    if (found == NONE) {
      ready &= ~(1L << of);
      if (set != null && set.nextPresent(end, NONE) != NONE) {
        unseen |= 1L << of;
      }
    }
    at[of] = found == NONE ? end : found;
    return found;
  }

  private long findLoose(long end) {
    long from = at[LOOSE];
    if (from < since) {
      long found = Level.deliverable(cursor, from, Math.min(since, end));
      if (found != NONE) {
        return found;
      }
      from = since;
    }
    return Level.matching(cursor, loose, from, end);
  }

  /**
   * How many consecutive messages can be given to one consumer from one that {@link #next} found
   * on: up to the last of a group.
   */
  int run(long first, long keys, boolean withLoose, long bound, int most) {
    long end = Math.min(bound, cursor.lane.extents.extentEnd(first));
    end = Math.min(end, first + most);
    if (first < since) {
      return Level.freeRun(cursor, null, first, Math.min(end, since));
    }
    long s = first;
    while (s < end && isMine(s, keys, withLoose)) {
      s++;
      if (isLast(s - 1)) {
        break;
      }
    }
    return (int) (s - first);
  }

  private boolean isMine(long sequence, long keys, boolean withLoose) {
    if (cursor.acknowledged.contains(sequence) || cursor.inFlight.contains(sequence)) {
      return false;
    }
    int code = codes.get(sequence);
    return code == GroupScan.LOOSE
        ? withLoose && loose.contains(sequence)
        : (keys & (1L << GroupScan.keyOf(code))) != 0;
  }

  /** Forgets all that is known. */
  void clear() {
    for (SequenceSet set : sets) {
      if (set != null) {
        set.clear();
      }
    }
    loose.clear();
    codes.clear();
    size = 0;
    setBytes = 0;
    ready = 0;
    unseen = 0;
    looseReady = true;
    looseUnseen = false;
    at[LOOSE] = 0;
  }
}
