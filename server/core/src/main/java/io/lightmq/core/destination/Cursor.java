package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * How far one subscription is in one lane: each sequence from {@code start} on is free, in flight
 * or acknowledged.
 *
 * <p>Counts of deliveries are exact; a snapshot keeps them, and the record of an orderly end, so
 * that such an end flags nothing.
 */
@OwnedBy("shard")
final class Cursor {
  static final int MAX_DELIVERIES = 255;
  static final int MAX_ATTEMPTS = 255;
  private static final int OLDEST_VERSION = 2;
  private static final int VERSION = 3;

  final Lane lane;
  private final OffHeap memory;
  final SequenceSet acknowledged;
  final SequenceSet inFlight;

  /** What is in flight to no consumer, and so is not being delivered. */
  private final SequenceSet toNobody;

  /** What of that transactions acknowledge which are not committed; null for nothing yet. */
  private @Nullable SequenceSet staged;

  private final BlockTable deliveries;

  /** Failed attempts to process, durable. */
  private final BlockTable attempts;

  /** What may have been seen. */
  final TouchedSequences touched;

  private final SequenceSet flagged;

  private long start;

  /** Messages of the lane before {@code start}, in the lane's own count. */
  private long before;

  private long acknowledgedCount;

  Cursor(Lane lane, OffHeap memory) {
    this.lane = lane;
    this.memory = memory;
    this.acknowledged = new SequenceSet(memory);
    this.inFlight = new SequenceSet(memory);
    this.toNobody = new SequenceSet(memory);
    this.deliveries = new BlockTable(memory, 0);
    this.attempts = new BlockTable(memory, 0);
    this.touched = new TouchedSequences(lane, memory);
    this.flagged = touched.flagged();
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

  /** Adds what of the lane is acknowledged and exists. */
  void addAcknowledged(LaneSequences into) {
    long end = lane.extents.end();
    long at = acknowledged.nextPresent(lane.extents.start(), end);
    while (at < end) {
      long stop = Math.min(end, acknowledged.nextAbsent(at));
      into.add(lane.code(), at, stop - at);
      at = acknowledged.nextPresent(stop, end);
    }
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

  /** The lowest unacknowledged sequence from one on that is not set aside, or the lane's end. */
  long nextReadable(long from) {
    long at = nextUnacknowledged(from);
    while (lane.aside.contains(at)) {
      at = nextUnacknowledged(lane.aside.nextAbsent(at));
    }
    return at;
  }

  /** How many consecutive sequences from a readable one on are so too, at most so many. */
  int readableRun(long from, int most) {
    long end = Math.min(from + most, lane.extents.extentEnd(from));
    return (int) (lane.aside.nextPresent(from, acknowledged.nextPresent(from, end)) - from);
  }

  // ---- what could not be read ----

  /**
   * Messages are set aside: what of them is free is in flight to nobody from now on. What a
   * consumer has in its hands stays so, and is held when it comes back.
   */
  void hold(long from, long to) {
    for (long at = nextUnacknowledged(from); at < to && lane.exists(at); ) {
      long end = acknowledged.nextPresent(at, Math.min(to, lane.extents.extentEnd(at)));
      for (long free = inFlight.nextAbsent(at); free < end; free = inFlight.nextAbsent(free)) {
        long taken = inFlight.nextPresent(free, end);
        inFlight.add(free, taken - free);
        toNobody.add(free, taken - free);
      }
      at = nextUnacknowledged(end);
    }
  }

  /**
   * The first message from one on that is in flight to no consumer, nor staged by a transaction; or
   * a limit.
   */
  long nextHeld(long from, long limit) {
    long at = toNobody.nextPresent(from, limit);
    while (staged != null && at < limit && staged.contains(at)) {
      at = toNobody.nextPresent(staged.nextAbsent(at), limit);
    }
    return at;
  }

  /** The first from a held one on that is not, or a limit. */
  long heldEnd(long from, long limit) {
    long end = Math.min(limit, toNobody.nextAbsent(from));
    return staged == null ? end : staged.nextPresent(from, end);
  }

  // ---- what transactions acknowledge ----

  /** What is unacknowledged of a range is in flight to nobody until a transaction is decided. */
  void stage(long from, long to) {
    if (staged == null) {
      staged = new SequenceSet(memory);
    }
    for (long at = nextUnacknowledged(from); at < to && lane.exists(at); ) {
      long end = acknowledged.nextPresent(at, Math.min(to, lane.extents.extentEnd(at)));
      inFlight.add(at, end - at);
      toNobody.add(at, end - at);
      staged.add(at, end - at);
      at = nextUnacknowledged(end);
    }
  }

  /** Whether any of some messages is staged. */
  boolean meetsStaged(SequenceSet others) {
    return staged != null && !staged.isEmpty() && staged.meets(others);
  }

  /** The first staged message from one on, or a limit. */
  long nextStaged(long from, long limit) {
    return staged == null ? limit : staged.nextPresent(from, limit);
  }

  /** Some messages from a staged one on are so no more, up to the returned one. */
  long unstage(long from, long limit) {
    if (staged == null) {
      return limit;
    }
    long end = Math.min(limit, staged.nextAbsent(from));
    staged.remove(from, end - from);
    return end;
  }

  long staged() {
    return staged == null ? 0 : staged.size();
  }

  /** Whether a message is in flight to no consumer. */
  boolean isHeld(long sequence) {
    return inFlight.contains(sequence) && toNobody.contains(sequence);
  }

  /** Shows all free messages, visible or not. */
  void forEachFree(Subscription.Ranges ranges) {
    long at = firstUnacknowledged();
    while (lane.exists(at)) {
      long stop = lane.extents.extentEnd(at);
      long from = at;
      while (from < stop) {
        from = Math.min(stop, acknowledged.nextAbsent(from));
        if (from < stop && inFlight.contains(from)) {
          from = Math.min(stop, inFlight.nextAbsent(from));
          continue;
        }
        long end = acknowledged.nextPresent(from, stop);
        end = inFlight.nextPresent(from, end);
        show(from, end, ranges);
        from = end;
      }
      at = lane.extents.ceiling(stop);
    }
  }

  /** Shows what is in flight, rising. */
  void forEachInFlight(Subscription.Ranges ranges) {
    long from = inFlight.nextPresent(0, Long.MAX_VALUE);
    while (from != Long.MAX_VALUE) {
      long end = inFlight.nextAbsent(from);
      show(from, end, ranges);
      from = inFlight.nextPresent(end, Long.MAX_VALUE);
    }
  }

  private void show(long first, long end, Subscription.Ranges ranges) {
    for (long from = first; from < end; ) {
      int count = (int) Math.min(1 << 30, end - from);
      ranges.range(lane.code(), from, count);
      from += count;
    }
  }

  /** Takes one part of an extent as acknowledged; returns how many were not before. */
  long acknowledge(long from, long to) {
    takenBack(from, to);
    clear(deliveries, from, to);
    clear(attempts, from, to);
    long added = acknowledged.add(from, to - from);
    acknowledgedCount += added;
    return added;
  }

  private static void clear(BlockTable counts, long from, long to) {
    if (!counts.isEmpty() && counts.anyBlock(from, to)) {
      counts.clear(from, to);
    }
  }

  private void takenBack(long from, long to) {
    inFlight.remove(from, to - from);
    if (!toNobody.isEmpty()) {
      toNobody.remove(from, to - from);
      if (staged != null) {
        staged.remove(from, to - from);
      }
    }
  }

  /** These messages, which are in flight, are so to no consumer. */
  void toNobody(long from, long count) {
    toNobody.add(from, count);
  }

  void returned(long from, long to, boolean counted) {
    takenBack(from, to);
    if (counted) {
      long at = flagged.isEmpty() ? to : flagged.nextPresent(from, to);
      for (; at < to; at = flagged.nextPresent(at + 1, to)) {
        deliveries.set(at, Math.max(deliveries.get(at), 1));
      }
      deliveries.raise(from, to, MAX_DELIVERIES);
    }
    holdAside(from, to);
  }

  /**
   * Messages may have been seen, of which nobody knows whether they were: they are flagged, and
   * count as delivered once at least. That they lay with a consumer which was lost is no delivery.
   */
  void mayBeSeen(long from, long to) {
    for (long at = from; at < to; at++) {
      if (deliveries.get(at) == 0) {
        deliveries.set(at, 1);
      }
    }
  }

  private void holdAside(long from, long to) {
    if (!lane.aside.isEmpty()) {
      for (SequenceRange each : lane.aside.within(lane.code(), from, to)) {
        hold(each.from(), each.from() + each.count());
      }
    }
  }

  // ---- failed attempts ----

  /** One more attempt has failed with each of these that is not acknowledged. */
  void attempted(long from, long to) {
    for (long at = nextUnacknowledged(from); at < to && lane.exists(at); ) {
      long end = acknowledged.nextPresent(at, Math.min(to, lane.extents.extentEnd(at)));
      attempts.raise(at, end, MAX_ATTEMPTS);
      at = nextUnacknowledged(end);
    }
  }

  /** The first from a message on with which another number of attempts has failed, or a limit. */
  long attemptsEnd(long from, long limit) {
    return attempts.runEnd(from, limit);
  }

  /** What was counted as a failed attempt was none, of each that is not acknowledged. */
  void takeBackAttempts(long from, long to) {
    for (long at = attempts.next(from, to); at < to; at = attempts.next(at + 1, to)) {
      if (isUnacknowledged(at)) {
        attempts.set(at, attempts.get(at) - 1);
      }
    }
  }

  /** Whether any attempt has failed with any of its messages. */
  boolean hasAttempts() {
    return !attempts.isEmpty();
  }

  /** How many attempts have failed. */
  int attempts(long sequence) {
    return attempts.isEmpty() ? 0 : attempts.get(sequence);
  }

  // ---- may have been seen ----

  /** Whether anything in a range may have been delivered before. */
  boolean anySeen(long from, long to) {
    return deliveries.anyBlock(from, to)
        || attempts.anyBlock(from, to)
        || (!flagged.isEmpty() && flagged.nextPresent(from, to) < to);
  }

  /** How often a message was or may have been delivered. */
  int deliveries(long sequence) {
    int counted = Math.max(deliveries.get(sequence), attempts(sequence));
    return counted == 0 && flagged.contains(sequence) ? 1 : counted;
  }

  // ---- life ----

  /** Forgets what lies below the first sequence that anybody needs. */
  void trim(long below) {
    acknowledged.dropBelow(below);
    touched.trim(below);
  }

  void clear() {
    acknowledged.clear();
    inFlight.clear();
    toNobody.clear();
    if (staged != null) {
      staged.clear();
    }
    deliveries.clear();
    attempts.clear();
    touched.clear();
  }

  /**
   * Without what lies below a sequence: byte version 3, long start, the sets acknowledged, touched
   * and flagged (of version 2 the last two name blocks of 4096); then runs of delivered messages
   * (what is in flight to a consumer counts as seen once at least): varint distance from the run
   * before + 1, varint length, byte deliveries; a 0 ends them. Runs of attempted messages follow in
   * the same way.
   */
  void encode(DataOutput out, long below) throws IOException {
    out.writeByte(VERSION);
    out.writeLong(start);
    acknowledged.encode(out, below);
    touched.encode(out, below);
    long behind = 0;
    for (long at = nextDelivered(0); at < Long.MAX_VALUE; at = nextDelivered(behind)) {
      long end = deliveredEnd(at);
      Formats.writeVarint(out, at - behind + 1);
      Formats.writeVarint(out, end - at);
      out.writeByte(seenNow(at));
      behind = end;
    }
    Formats.writeVarint(out, 0);
    encodeAttempts(out);
  }

  private void encodeAttempts(DataOutput out) throws IOException {
    long behind = 0;
    long at = attempts.next(0);
    while (at >= 0) {
      int count = attempts.get(at);
      long end = at + 1;
      while (attempts.get(end) == count) {
        end++;
      }
      Formats.writeVarint(out, at - behind + 1);
      Formats.writeVarint(out, end - at);
      out.writeByte(count);
      behind = end;
      at = attempts.next(end);
    }
    Formats.writeVarint(out, 0);
  }

  /** The first from a sequence on that was delivered, or the largest number. */
  private long nextDelivered(long from) {
    return Math.min(nextCounted(from), nextFlying(from));
  }

  /** Behind those that were delivered as often as this one. */
  private long deliveredEnd(long first) {
    int count = seenNow(first);
    long end = first + 1;
    while (seenNow(end) == count) {
      end++;
    }
    return end;
  }

  /** Shows what was delivered and is not acknowledged, rising. */
  void forEachDelivered(SeenMessages.Delivered taker) {
    for (long at = nextDelivered(0); at < Long.MAX_VALUE; ) {
      long end = deliveredEnd(at);
      int count = seenNow(at);
      show(at, end, (of, from, some) -> taker.delivered(of, from, some, count));
      at = nextDelivered(end);
    }
  }

  boolean hasDeliveries() {
    return !deliveries.isEmpty();
  }

  /** Forgets how often anything was delivered. */
  void forgetDeliveries() {
    deliveries.clear();
  }

  /** Each of these that is not acknowledged was delivered so often. */
  void delivered(long from, long to, int count) {
    for (long at = from; at < to; at++) {
      if (isUnacknowledged(at)) {
        deliveries.set(at, count);
      }
    }
  }

  private int seenNow(long sequence) {
    int counted = deliveries.get(sequence);
    return inFlight.contains(sequence) && !toNobody.contains(sequence)
        ? Math.max(1, deliveries(sequence))
        : counted;
  }

  private long nextCounted(long from) {
    return deliveries.next(from, Long.MAX_VALUE);
  }

  private long nextFlying(long from) {
    long flying = inFlight.nextPresent(from, Long.MAX_VALUE);
    while (flying != Long.MAX_VALUE && toNobody.contains(flying)) {
      flying = inFlight.nextPresent(toNobody.nextAbsent(flying), Long.MAX_VALUE);
    }
    return flying;
  }

  void decode(DataInput in) throws IOException {
    int version = in.readUnsignedByte();
    Formats.version("cursors", version, OLDEST_VERSION, VERSION);
    startAt(in.readLong());
    acknowledged.decode(in);
    touched.decode(in, version == OLDEST_VERSION);
    decodeCounts(in, "deliveries", deliveries);
    decodeCounts(in, "attempts", attempts);
    acknowledgedCount = lane.appended() - before - unacknowledged(start, lane.extents.end());
  }

  private void decodeCounts(DataInput in, String what, BlockTable counts) throws IOException {
    long behind = 0;
    for (long gap = Formats.readVarint(in); gap > 0; gap = Formats.readVarint(in)) {
      long at = behind + gap - 1;
      long length = Formats.readVarint(in);
      int count = in.readUnsignedByte();
      if (count == 0 || lane.extents.count(at, at + length) != length) {
        throw new IOException(
            "cursor has %d %s for %d sequences from %d".formatted(count, what, length, at));
      }
      for (long s = at; s < at + length; s++) {
        counts.set(s, count);
      }
      behind = at + length;
    }
  }
}
