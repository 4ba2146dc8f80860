package io.lightmq.core.state;

import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Ranges that name each sequence once, made of what clients name as they like. */
public final class DistinctRanges {
  private static final Comparator<SequenceRange> ORDER =
      Comparator.comparingInt(SequenceRange::lane).thenComparingLong(SequenceRange::from);

  private DistinctRanges() {}

  /** The same sequences, each once; the ranges themselves if they rise without overlap. */
  public static List<SequenceRange> of(List<SequenceRange> ranges) {
    if (isDistinct(ranges)) {
      return ranges;
    }
    List<SequenceRange> sorted = new ArrayList<>(ranges);
    sorted.sort(ORDER);
    List<SequenceRange> distinct = new ArrayList<>(sorted.size());
    int lane = -1;
    long end = 0;
    for (SequenceRange range : sorted) {
      long from = range.lane() == lane ? Math.max(range.from(), end) : range.from();
      add(distinct, range.lane(), from, end(range));
      end = range.lane() == lane ? Math.max(end, end(range)) : end(range);
      lane = range.lane();
    }
    return distinct;
  }

  private static boolean isDistinct(List<SequenceRange> ranges) {
    for (int i = 1; i < ranges.size(); i++) {
      SequenceRange before = ranges.get(i - 1);
      SequenceRange range = ranges.get(i);
      if (range.lane() < before.lane()
          || (range.lane() == before.lane() && range.from() < end(before))) {
        return false;
      }
    }
    return true;
  }

  /** The sequences of some ranges that others do not name. */
  public static List<SequenceRange> without(
      List<SequenceRange> ranges, List<SequenceRange> others) {
    if (ranges.isEmpty() || others.isEmpty()) {
      return ranges;
    }
    List<SequenceRange> sorted = new ArrayList<>(of(ranges));
    sorted.sort(ORDER);
    List<SequenceRange> taken = new ArrayList<>(of(others));
    taken.sort(ORDER);
    List<SequenceRange> rest = new ArrayList<>(sorted.size());
    int next = 0;
    for (SequenceRange range : sorted) {
      while (next < taken.size() && isBefore(taken.get(next), range)) {
        next++;
      }
      long from = range.from();
      for (int i = next; i < taken.size() && overlaps(taken.get(i), range); i++) {
        add(rest, range.lane(), from, taken.get(i).from());
        from = Math.max(from, end(taken.get(i)));
      }
      add(rest, range.lane(), from, end(range));
    }
    return rest;
  }

  private static boolean isBefore(SequenceRange other, SequenceRange range) {
    return other.lane() < range.lane()
        || (other.lane() == range.lane() && end(other) <= range.from());
  }

  private static boolean overlaps(SequenceRange other, SequenceRange range) {
    return other.lane() == range.lane() && other.from() < end(range);
  }

  private static void add(List<SequenceRange> to, int lane, long from, long end) {
    if (from < end) {
      to.add(new SequenceRange(lane, from, (int) (end - from)));
    }
  }

  private static long end(SequenceRange range) {
    return range.from() + range.count();
  }
}
