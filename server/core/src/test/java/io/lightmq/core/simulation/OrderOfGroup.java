package io.lightmq.core.simulation;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A group's messages are in one consumer's hands at a time, and each comes when those before it are
 * settled or in the same hands. Consumers with different selectors have groups of their own.
 */
final class OrderOfGroup implements Oracle {
  private record Group(Followed followed, IntRange range, String name) {}

  /** A queue that was deleted and made again has other lanes. */
  private record Lane(long destinationId, int lane) {}

  /** What came of a group in one lane. */
  private static final class Line {
    /** What was seen and is not known to be settled, by sequence. */
    final TreeMap<Long, Copy> open = new TreeMap<>();

    long highest = -1;
  }

  private final Map<Group, Map<Lane, Line>> groups = new HashMap<>();

  /** What may have gone with the answer to a pull that acknowledges; so many as may be missed. */
  private final Map<Followed, Set<Copy>> missed = new HashMap<>();

  @Override
  public void arrived(Arrival arrival) {
    String name = arrival.message().content.group();
    Followed followed = arrival.followed();
    if (name == null || !arrival.alive() || !followed.keepsGroups()) {
      return;
    }
    missed.computeIfAbsent(followed, each -> new HashSet<>()).remove(arrival.copy());
    Map<Lane, Line> group =
        groups.computeIfAbsent(
            new Group(followed, arrival.taker().range, name), key -> new HashMap<>());
    group.values().forEach(line -> checkHands(line, arrival));
    Copy.Place place = arrival.place();
    Lane in = new Lane(place.destinationId(), place.lane());
    Line line = group.computeIfAbsent(in, lane -> new Line());
    checkOrder(line, arrival, place.sequence());
    line.highest = Math.max(line.highest, place.sequence());
    if (arrival.copy().place != null) {
      line.open.remove(arrival.copy().place.sequence());
    }
    line.open.put(place.sequence(), arrival.copy());
  }

  private void checkHands(Line line, Arrival arrival) {
    for (Copy other : line.open.values()) {
      boolean elsewhere = other.holder != null && other.holder != arrival.taker();
      if (elsewhere && !other.mayBeGone) {
        throw violated(arrival + " comes while " + other);
      }
    }
  }

  private void checkOrder(Line line, Arrival arrival, long sequence) {
    line.open.values().removeIf(OrderOfGroup::isSettled);
    Copy copy = arrival.copy();
    for (Copy other : line.open.headMap(sequence).values()) {
      boolean waits = other != copy && other.holder != arrival.taker() && !isExempt(other);
      if (waits && !mayBeMissed(other)) {
        throw violated(arrival + " comes before " + other);
      }
    }
    if (!copy.came && sequence < line.highest && !isExempt(copy)) {
      throw violated(arrival + " comes for the first time after what lies behind it");
    }
  }

  private boolean mayBeMissed(Copy copy) {
    Set<Copy> known = missed.computeIfAbsent(copy.followed, each -> new HashSet<>());
    known.add(copy);
    return known.size() <= copy.followed.mayMiss;
  }

  private static boolean isSettled(Copy copy) {
    return copy.asked || copy.consumed || copy.mayBeGone || copy.message.mayBeLost;
  }

  /** Whether it may have left by itself, or may come when it can. */
  private static boolean isExempt(Copy copy) {
    return copy.mayBeExhausted()
        || copy.message.isKeyed()
        || copy.message.retried
        || copy.message.content.liveMillis() > 0
        || (copy.followed.destination.nonBlocking && copy.mostFailures > 0);
  }
}
