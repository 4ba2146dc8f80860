package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/** Some messages of a destination, by their lanes; outside the heap. */
@OwnedBy("shard")
public final class LaneSequences {
  private final Guard guard;
  private final OffHeap memory;
  private final Map<Integer, SequenceSet> sets = new TreeMap<>();

  LaneSequences(Guard guard, OffHeap memory) {
    this.guard = guard;
    this.memory = memory;
  }

  /** What of a lane a subscription has acknowledged and exists, in ranges of one epoch each. */
  public static List<SequenceRange> acknowledged(Subscription subscription, DurableLane lane) {
    LaneSequences all = subscription.destination().newSequences();
    subscription.cursor(lane).addAcknowledged(all);
    List<SequenceRange> ranges = all.ranges();
    all.clear();
    return ranges;
  }

  /** Adds messages, which may be in it. */
  public void add(int lane, long from, long count) {
    guard.check();
    sets.computeIfAbsent(lane, code -> new SequenceSet(memory)).add(from, count);
  }

  /** Adds messages, which may be in it. */
  public void add(List<SequenceRange> ranges) {
    ranges.forEach(each -> add(each.lane(), each.from(), each.count()));
  }

  /** How many messages are in it. */
  public long size() {
    return sets.values().stream().mapToLong(SequenceSet::size).sum();
  }

  /** Shows all of them, rising by lane and sequence, in ranges as long as there are. */
  public void forEach(Subscription.Ranges taker) {
    forEach(() -> true, taker);
  }

  private void forEach(BooleanSupplier goesOn, Subscription.Ranges taker) {
    guard.check();
    sets.forEach(
        (lane, set) -> {
          long at = set.nextPresent(0, Long.MAX_VALUE);
          while (at != Long.MAX_VALUE && goesOn.getAsBoolean()) {
            long end = Math.min(set.nextAbsent(at), at + (1 << 30));
            taker.range(lane, at, (int) (end - at));
            at = set.nextPresent(end, Long.MAX_VALUE);
          }
        });
  }

  /** All of them, in ranges of one shard epoch each. */
  public List<SequenceRange> ranges() {
    return ranges(Integer.MAX_VALUE);
  }

  /** The first so many of them, or some more. */
  List<SequenceRange> ranges(int most) {
    List<SequenceRange> ranges = new ArrayList<>();
    forEach(
        () -> ranges.size() < most,
        (lane, from, count) -> {
          long epochEnd = ((from >>> 32) + 1) << 32;
          int first = (int) Math.min(count, epochEnd - from);
          ranges.add(new SequenceRange(lane, from, first));
          if (first < count) {
            ranges.add(new SequenceRange(lane, epochEnd, count - first));
          }
        });
    return ranges;
  }

  /** Gives its memory back. */
  public void clear() {
    guard.check();
    sets.values().forEach(SequenceSet::clear);
    sets.clear();
  }

  /** Byte lanes, each: byte code, its set. */
  public void encode(DataOutput out) throws IOException {
    guard.check();
    out.writeByte(sets.size());
    for (Map.Entry<Integer, SequenceSet> each : sets.entrySet()) {
      out.writeByte(each.getKey());
      each.getValue().encode(out);
    }
  }

  /** Adds what {@link #encode} wrote. */
  public void decode(DataInput in) throws IOException {
    guard.check();
    int lanes = in.readUnsignedByte();
    for (int i = 0; i < lanes; i++) {
      SequenceSet set = new SequenceSet(memory);
      sets.put(in.readUnsignedByte(), set);
      set.decode(in);
    }
  }
}
