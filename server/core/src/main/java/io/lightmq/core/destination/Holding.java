package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;

/** The messages that are in flight to one consumer. */
@OwnedBy("shard")
public final class Holding {
  private final Subscription subscription;
  private final SequenceSet durable;
  private final SequenceSet swift;

  Holding(Subscription subscription, OffHeap memory) {
    this.subscription = subscription;
    this.durable = new SequenceSet(memory);
    this.swift = new SequenceSet(memory);
  }

  /** Messages in flight. */
  public long size() {
    return durable.size() + swift.size();
  }

  /** Messages that {@link Subscription#take} has marked go to this consumer. */
  public void add(Lane lane, long from, long count) {
    set(lane.code()).add(from, count);
  }

  /** Whether a message is in flight to this consumer. */
  public boolean contains(int lane, long sequence) {
    return set(lane).contains(sequence);
  }

  /**
   * Looks which sequences this consumer may acknowledge: those in flight to it, and those that are
   * free, because it is late but nobody else has them. Changes nothing. A sequence that the ranges
   * name twice is accepted twice; applying it twice does no harm.
   */
  public Split split(List<SequenceRange> ranges) {
    long refused = 0;
    boolean whole = true;
    for (SequenceRange range : ranges) {
      whole &= isKnown(range.lane()) && isAll(range);
    }
    if (whole) {
      return new Split(ranges, 0);
    }
    List<SequenceRange> accepted = new ArrayList<>();
    for (SequenceRange range : ranges) {
      if (!isKnown(range.lane())) {
        refused += range.count();
        continue;
      }
      refused += split(range, accepted);
    }
    return new Split(accepted, refused);
  }

  private long split(SequenceRange range, List<SequenceRange> accepted) {
    int lane = range.lane();
    // Nothing outside of what exists is worth a look, however long the range claims to be.
    Lane of = subscription.lane(lane);
    long from = Math.max(range.from(), of.extents.ceiling(range.from()));
    if (from >= range.from() + range.count() || !of.exists(from)) {
      return range.count();
    }
    long end = Math.min(range.from() + range.count(), of.extents.extentEnd(from));
    long taken = 0;
    long runStart = -1;
    long at = from;
    while (at < end) {
      long mine = set(lane).contains(at) ? set(lane).nextAbsent(at) : at;
      long good = Math.min(end, mine > at ? mine : subscription.freeUntil(lane, at, end));
      if (good > at) {
        runStart = runStart < 0 ? at : runStart;
        taken += good - at;
        at = good;
      } else {
        if (runStart >= 0) {
          accepted.add(new SequenceRange(lane, runStart, (int) (at - runStart)));
          runStart = -1;
        }
        at = subscription.takenUntil(lane, at);
      }
    }
    if (runStart >= 0) {
      accepted.add(new SequenceRange(lane, runStart, (int) (end - runStart)));
    }
    return range.count() - taken;
  }

  private boolean isAll(SequenceRange range) {
    return set(range.lane()).cardinality(range.from(), range.from() + range.count())
        == range.count();
  }

  /** These sequences are this consumer's no more, since they are acknowledged. */
  public void settle(List<SequenceRange> accepted) {
    for (SequenceRange range : accepted) {
      set(range.lane()).remove(range.from(), range.count());
    }
  }

  /**
   * Frees what of these sequences is in flight to this consumer.
   *
   * @param counted whether that was a delivery
   * @return how many sequences were not in flight to it
   */
  public long giveBack(List<SequenceRange> ranges, boolean counted) {
    long refused = 0;
    for (SequenceRange range : ranges) {
      long given =
          isKnown(range.lane())
              ? giveBack(range.lane(), range.from(), range.from() + range.count(), counted)
              : 0;
      refused += range.count() - given;
    }
    return refused;
  }

  /** Frees everything that is in flight to this consumer. */
  public void giveBackAll(boolean counted) {
    if (!subscription.isClosed()) {
      giveBack(Destination.DURABLE_LANE, 0, Long.MAX_VALUE, counted);
      giveBack(Destination.VOLATILE_LANE, 0, Long.MAX_VALUE, counted);
    }
    clear();
  }

  private long giveBack(int lane, long from, long to, boolean counted) {
    SequenceSet set = set(lane);
    long given = 0;
    for (long at = set.nextPresent(from, to); at < to; at = set.nextPresent(at, to)) {
      long end = Math.min(to, set.nextAbsent(at));
      subscription.giveBack(lane, at, end - at, counted);
      given += end - at;
      at = end;
    }
    set.remove(from, to - from);
    return given;
  }

  /** Forgets everything, because the subscription has ended. */
  public void clear() {
    durable.clear();
    swift.clear();
  }

  private boolean isKnown(int lane) {
    return lane == Destination.DURABLE_LANE || lane == Destination.VOLATILE_LANE;
  }

  private SequenceSet set(int lane) {
    return lane == Destination.DURABLE_LANE ? durable : swift;
  }
}
