package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * How far one subscription is in one lane: each sequence from {@code start} on is free, in flight
 * or acknowledged.
 *
 * <p>{@code touched} and {@code flagged} are sets of block keys. A block is touched before anything
 * from it is given out, durably; after an unclean start all that is unacknowledged in touched
 * blocks is flagged: it may have been seen. Counts of deliveries are exact but volatile; a snapshot
 * keeps them, so that a clean stop flags nothing.
 */
@OwnedBy("shard")
final class Cursor {
  static final int MAX_DELIVERIES = 255;
  private static final int VERSION = 1;

  final Lane lane;
  final SequenceSet acknowledged;
  final SequenceSet inFlight;
  private final BlockTable deliveries;
  private final SequenceSet touched;
  private final SequenceSet flagged;

  /** Touched blocks whose record is asked for but not durable. */
  private final SequenceSet requested;

  private long start;

  /** Messages of the lane before {@code start}, in the lane's own count. */
  private long before;

  private long acknowledgedCount;

  Cursor(Lane lane, OffHeap memory) {
    this.lane = lane;
    this.acknowledged = new SequenceSet(memory);
    this.inFlight = new SequenceSet(memory);
    this.deliveries = new BlockTable(memory, 0);
    this.touched = new SequenceSet(memory);
    this.flagged = new SequenceSet(memory);
    this.requested = new SequenceSet(memory);
  }

  /** Begins at a sequence: what exists below it is none of this cursor's. */
  void startAt(long sequence) {
    start = sequence;
    before = lane.appended() - lane.extents.count(sequence, lane.extents.end());
  }

  long start() {
    return start;
  }

  /** Messages that are not acknowledged, visible or not. */
  long backlog() {
    return lane.appended() - before - acknowledgedCount;
  }

  /** Visible messages that are neither acknowledged nor in flight. */
  long ready() {
    long settled = acknowledgedCount - acknowledgedUnseen();
    return Math.max(0, lane.visible() - before - settled - inFlight.size());
  }

  /** Acknowledged messages that are not visible yet: purged ones, and those that nobody wanted. */
  private long acknowledgedUnseen() {
    long end = lane.extents.end();
    return lane.visibleEnd() < end ? acknowledged.cardinality(lane.visibleEnd(), end) : 0;
  }

  boolean isUnacknowledged(long sequence) {
    return sequence >= start && lane.exists(sequence) && !acknowledged.contains(sequence);
  }

  /** Unacknowledged sequences in {@code from} to {@code to} - 1. */
  long unacknowledged(long from, long to) {
    long low = Math.max(from, start);
    long count = 0;
    for (long at = lane.extents.ceiling(low); at < to && lane.exists(at); ) {
      long end = Math.min(to, lane.extents.extentEnd(at));
      count += end - at - acknowledged.cardinality(at, end);
      at = lane.extents.ceiling(end);
    }
    return count;
  }

  /** The lowest unacknowledged sequence, or the lane's end. */
  long firstUnacknowledged() {
    return nextUnacknowledged(start);
  }

  /** The lowest unacknowledged sequence that is at least this one, or the lane's end. */
  long nextUnacknowledged(long from) {
    long at = Math.max(Math.max(from, start), lane.extents.start());
    while (true) {
      at = lane.extents.ceiling(at);
      if (!lane.exists(at)) {
        return Math.max(at, lane.extents.end());
      }
      long absent = acknowledged.nextAbsent(at);
      long end = lane.extents.extentEnd(at);
      if (absent < end) {
        return absent;
      }
      at = end;
    }
  }

  /** Takes one part of an extent as acknowledged; returns how many were not before. */
  long acknowledge(long from, long to) {
    inFlight.remove(from, to - from);
    clearDeliveries(from, to);
    long added = acknowledged.add(from, to - from);
    acknowledgedCount += added;
    return added;
  }

  private void clearDeliveries(long from, long to) {
    if (!deliveries.isEmpty() && deliveries.anyBlock(from, to)) {
      for (long at = deliveries.next(from); at >= 0 && at < to; at = deliveries.next(at + 1)) {
        deliveries.set(at, 0);
      }
    }
  }

  void returned(long from, long to, boolean counted) {
    inFlight.remove(from, to - from);
    if (counted) {
      for (long at = from; at < to; at++) {
        deliveries.set(at, Math.min(MAX_DELIVERIES, deliveries(at) + 1));
      }
    }
  }

  // ---- may have been seen ----

  /** Whether anything in a range may have been delivered before. */
  boolean anySeen(long from, long to) {
    return deliveries.anyBlock(from, to)
        || (!flagged.isEmpty() && flagged.nextPresent(key(from), key(to - 1) + 1) <= key(to - 1));
  }

  /** How often a message was or may have been delivered. */
  int deliveries(long sequence) {
    int counted = deliveries.get(sequence);
    return counted == 0 && flagged.contains(key(sequence)) ? 1 : counted;
  }

  static long key(long sequence) {
    return sequence >>> SequenceSet.BLOCK_BITS;
  }

  /** Whether the block's Touched record is durable. */
  boolean mayGive(long key) {
    return touched.contains(key) && !requested.contains(key);
  }

  /** Whether the block's Touched record has to be asked for; it then counts as asked for. */
  boolean request(long key) {
    return !touched.contains(key) && requested.add(key);
  }

  void touch(long key) {
    touched.add(key);
  }

  void touchDurable(long key) {
    requested.remove(key);
  }

  void flagTouched() {
    flagged.addAll(touched);
  }

  // ---- life ----

  /** Forgets what lies below the first sequence that anybody needs. */
  void trim(long below) {
    acknowledged.dropBelow(below);
    dropKeysBelow(touched, below);
    dropKeysBelow(flagged, below);
  }

  private static void dropKeysBelow(SequenceSet keys, long below) {
    long first = keys.nextPresent(0, key(below));
    if (first < key(below)) {
      keys.remove(first, key(below) - first);
    }
  }

  void clear() {
    acknowledged.clear();
    inFlight.clear();
    deliveries.clear();
    touched.clear();
    flagged.clear();
    requested.clear();
  }

  /**
   * Byte version 1, long start, the sets acknowledged, touched and flagged; then runs of delivered
   * messages (what is in flight counts one more): varint distance from the run before + 1, varint
   * length, byte deliveries; a 0 ends them.
   */
  void encode(DataOutput out) throws IOException {
    out.writeByte(VERSION);
    out.writeLong(start);
    acknowledged.encode(out);
    touched.encode(out);
    flagged.encode(out);
    long behind = 0;
    long at = nextSeen(0);
    while (at >= 0) {
      int count = seenNow(at);
      long end = at + 1;
      while (seenNow(end) == count) {
        end++;
      }
      Formats.writeVarint(out, at - behind + 1);
      Formats.writeVarint(out, end - at);
      out.writeByte(count);
      behind = end;
      at = nextSeen(end);
    }
    Formats.writeVarint(out, 0);
  }

  private int seenNow(long sequence) {
    int counted = deliveries.get(sequence);
    return inFlight.contains(sequence)
        ? Math.min(MAX_DELIVERIES, deliveries(sequence) + 1)
        : counted;
  }

  private long nextSeen(long from) {
    long counted = deliveries.next(from);
    long flying = inFlight.nextPresent(from, Long.MAX_VALUE);
    if (flying == Long.MAX_VALUE) {
      return counted;
    }
    return counted < 0 ? flying : Math.min(counted, flying);
  }

  void decode(DataInput in) throws IOException {
    Formats.version("cursors", in.readUnsignedByte(), VERSION);
    startAt(in.readLong());
    acknowledged.decode(in);
    touched.decode(in);
    flagged.decode(in);
    long behind = 0;
    for (long gap = Formats.readVarint(in); gap > 0; gap = Formats.readVarint(in)) {
      long at = behind + gap - 1;
      long length = Formats.readVarint(in);
      int count = in.readUnsignedByte();
      if (count == 0 || lane.extents.count(at, at + length) != length) {
        throw new IOException(
            "cursor has %d deliveries for %d sequences from %d".formatted(count, length, at));
      }
      for (long s = at; s < at + length; s++) {
        deliveries.set(s, count);
      }
      behind = at + length;
    }
    acknowledgedCount = lane.appended() - before - unacknowledged(start, lane.extents.end());
  }
}
