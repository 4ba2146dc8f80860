package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The sequences of one lane whose bytes could not be read and which are set aside: nobody gets
 * them, nobody looks at them again, and nothing of them is deleted. Ranges that touch are one; how
 * many there may be is the shard's to bound, which knows the number of all lanes together.
 */
@OwnedBy("shard")
final class AsideRanges {
  private static final int MAX_RANGES = 1_000_000;

  /** Where each range ends, by its beginning. */
  private final TreeMap<Long, Long> ends = new TreeMap<>();

  private final NamedHeap all;
  private final boolean durable;
  private long sequences;

  AsideRanges(NamedHeap all, boolean durable) {
    this.all = all;
    this.durable = durable;
  }

  boolean isEmpty() {
    return ends.isEmpty();
  }

  int ranges() {
    return ends.size();
  }

  /** Sequences in all ranges, needed or not. */
  long sequences() {
    return sequences;
  }

  private void put(long from, long end) {
    ends.put(from, end);
    sequences += end - from;
    all.addAside(durable, 1);
  }

  private void remove(Map.Entry<Long, Long> range) {
    ends.remove(range.getKey());
    sequences -= range.getValue() - range.getKey();
    all.addAside(durable, -1);
  }

  boolean contains(long sequence) {
    return !ends.isEmpty() && nextAbsent(sequence) != sequence;
  }

  /** The first sequence from one on that is not set aside. */
  long nextAbsent(long from) {
    Map.Entry<Long, Long> before = ends.floorEntry(from);
    return before == null ? from : Math.max(from, before.getValue());
  }

  /** The first sequence from one on that is set aside, or a limit if there is none below it. */
  long nextPresent(long from, long limit) {
    if (ends.isEmpty()) {
      return limit;
    }
    if (nextAbsent(from) != from) {
      return Math.min(from, limit);
    }
    Long next = ends.ceilingKey(from);
    return next == null ? limit : Math.min(next, limit);
  }

  void add(long from, long end) {
    long low = from;
    long high = end;
    Map.Entry<Long, Long> before = ends.floorEntry(from);
    if (before != null && before.getValue() >= from) {
      low = before.getKey();
    }
    for (Map.Entry<Long, Long> each = ends.ceilingEntry(low);
        each != null && each.getKey() <= high;
        each = ends.ceilingEntry(low)) {
      high = Math.max(high, each.getValue());
      remove(each);
    }
    put(low, high);
  }

  void remove(long from, long end) {
    for (SequenceRange each : within(0, from, end)) {
      Map.Entry<Long, Long> whole = ends.floorEntry(each.from());
      long stop = each.from() + each.count();
      remove(whole);
      if (whole.getKey() < each.from()) {
        put(whole.getKey(), each.from());
      }
      if (stop < whole.getValue()) {
        put(stop, whole.getValue());
      }
    }
  }

  /**
   * Adds the next parts from a sequence on to a list, until it has so many.
   *
   * @param longest sequences in one part at most
   */
  void addNext(int lane, long from, int most, int longest, List<SequenceRange> parts) {
    long at = nextPresent(from, Long.MAX_VALUE);
    while (at != Long.MAX_VALUE && parts.size() < most) {
      int count = (int) Math.min(longest, nextAbsent(at) - at);
      parts.add(new SequenceRange(lane, at, count));
      at = nextPresent(at + count, Long.MAX_VALUE);
    }
  }

  /** What of a range is set aside. */
  List<SequenceRange> within(int lane, long from, long end) {
    List<SequenceRange> found = new ArrayList<>();
    for (long at = nextPresent(from, end); at < end; at = nextPresent(at, end)) {
      long stop = Math.min(end, nextAbsent(at));
      while (at < stop) {
        int count = (int) Math.min(1 << 30, stop - at);
        found.add(new SequenceRange(lane, at, count));
        at += count;
      }
    }
    return found;
  }

  void clear() {
    all.addAside(durable, -ends.size());
    ends.clear();
    sequences = 0;
  }

  /**
   * Varint ranges, each: varint distance from the end of the one before, varint length; without
   * what lies below a sequence.
   */
  void encode(DataOutput out, long below) throws IOException {
    long first = nextPresent(below, Long.MAX_VALUE);
    Map<Long, Long> rest = first == Long.MAX_VALUE ? Map.of() : ends.tailMap(ends.floorKey(first));
    Formats.writeVarint(out, rest.size());
    long behind = 0;
    for (Map.Entry<Long, Long> each : rest.entrySet()) {
      long from = Math.max(each.getKey(), first);
      Formats.writeVarint(out, from - behind);
      Formats.writeVarint(out, each.getValue() - from);
      behind = each.getValue();
    }
  }

  void decode(DataInput in) throws IOException {
    int count = Formats.readCount(in, "ranges that are set aside", MAX_RANGES);
    long behind = 0;
    for (int i = 0; i < count; i++) {
      long from = behind + Formats.readVarint(in);
      long length = Formats.readVarint(in);
      if (length < 1 || from + length < from) {
        throw new IOException(
            "a range that is set aside has %d sequences from %d".formatted(length, from));
      }
      add(from, from + length);
      behind = from + length;
    }
  }
}
