package io.lightmq.core.delivery;

import io.lightmq.core.destination.GroupScan;
import io.lightmq.core.destination.IdScan;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.View;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Selector.IdEquality;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.segment.IdWanted;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of the backlog that a reader evaluates a selector on. The shard makes it and gives it to a
 * reader; the reader sets the result and gives it back.
 */
final class SiftTask implements EntryTaker {
  final View view;
  final Lane lane;
  final Selector.@Nullable Evaluator evaluator;
  final long siftedEnd;

  /** Whether the same was read before and failed. */
  boolean again;

  private final Work work = new Work();
  private final GroupScan keys = new GroupScan();
  final List<Fetch.Part> parts = new ArrayList<>();
  long messages;
  long estimatedBytes;

  /** So many of the parts are looked at. */
  int sifted;

  // The result: everything below was looked at, and why not all of it.
  long reached;
  long looked;
  long[] matches = new long[16];
  byte[] codes = new byte[16];
  int matchCount;
  @Nullable IOException failure;

  /** The entry before which it ended, because it takes long to look at; null if it did not. */
  @Nullable ByteBuffer longEntry;

  /** The hashes of the ids that its selector asks for, of all that was looked at. */
  private final @Nullable IdScan ids;

  /** What spans of segments can be passed over; null if an index learns from all of it. */
  @Nullable IdWanted passed;

  long[] seen = new long[16];
  long[] hashes = new long[16];
  int seenCount;

  SiftTask(View view, Lane lane, Selector.@Nullable Evaluator evaluator, long from) {
    IdEquality id = view.idEquality();
    this.ids = id == null ? null : new IdScan(id.header());
    this.view = view;
    this.lane = lane;
    this.evaluator = evaluator;
    this.reached = from;
    this.siftedEnd = view.siftedEnd(lane);
  }

  void add(Fetch.Part part, long bytes) {
    if (part instanceof Fetch.InOverflow unlogged) {
      unlogged.file().hold();
    }
    parts.add(part);
    messages += part.count();
    estimatedBytes += bytes;
  }

  /** Gives up the files that it holds, once it is back on the shard. */
  void release() {
    for (Fetch.Part part : parts) {
      if (part instanceof Fetch.InOverflow unlogged) {
        unlogged.file().release();
      }
    }
  }

  @Override
  public boolean put(ByteBuffer from, int at, int length) {
    long sequence = Entry.sequence(from, at);
    int messageAt = at + Entry.messageOffset(from, at);
    int messageBytes = Entry.messageBytes(from, at);
    if (evaluator != null && evaluator.isLong(from, messageAt, messageBytes)) {
      ByteBuffer copy = ByteBuffer.allocate(length);
      longEntry = copy.put(0, from, at, length);
      reached = sequence;
      return false;
    }
    looked++;
    if (evaluator == null || evaluator.matches(from, messageAt, messageBytes, work)) {
      match(sequence, keys.codeOf(from, messageAt, messageBytes));
    }
    if (ids != null) {
      see(sequence, ids.hash(from, messageAt, messageBytes));
    }
    reached = sequence + 1;
    return true;
  }

  private void see(long sequence, long hash) {
    if (seenCount == seen.length) {
      seen = Arrays.copyOf(seen, 2 * seenCount);
      hashes = Arrays.copyOf(hashes, 2 * seenCount);
    }
    seen[seenCount] = sequence;
    hashes[seenCount++] = hash;
  }

  private void match(long sequence, int code) {
    if (matchCount == matches.length) {
      matches = Arrays.copyOf(matches, 2 * matchCount);
      codes = Arrays.copyOf(codes, 2 * matchCount);
    }
    codes[matchCount] = (byte) code;
    matches[matchCount++] = sequence;
  }
}
