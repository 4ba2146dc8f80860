package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.SequenceRange;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What waits for its next attempt: single messages, which are in flight to nobody meanwhile, whole
 * subscriptions and, where messages have keys, single group buckets, which give nothing out. All of
 * it is in memory: after a restart the wait is over at once, while the attempts are kept. At most
 * {@link #MAX_MESSAGES} messages wait; what comes beyond is free at once. As many subscriptions and
 * group buckets wait at most; with one more, the one whose wait ends first goes on at once.
 */
@OwnedBy("shard")
public final class Withheld implements TurnPart {
  static final int MAX_MESSAGES = 100_000;

  /** What becomes of a message whose link has not come back in time; it is free again by then. */
  interface Due {
    void due(Subscription subscription, int lane, long sequence);
  }

  /** It is only free again. */
  static final Due IS_FREE = (subscription, lane, sequence) -> {};

  /** A message; what waits for a lost link has a due. */
  private record Waiting(
      long dueNanos, Subscription subscription, int lane, long sequence, @Nullable Due due) {}

  private final Ready ready;
  private final TurnTime time;
  private final PriorityQueue<Waiting> messages =
      new PriorityQueue<>(Comparator.comparingLong(Waiting::dueNanos));

  /** A subscription as a whole, or a group bucket of it; -1 for what has no key. */
  private record Part(Subscription subscription, boolean whole, int key) {}

  /** Until when a part gives nothing out; the number tells apart what ends together. */
  private record Pause(long untilNanos, long number, Part part) {}

  private final Map<Part, Pause> paused = new HashMap<>();

  /** The same, those first that end first. */
  private final TreeSet<Pause> inTime =
      new TreeSet<>(Comparator.comparingLong(Pause::untilNanos).thenComparingLong(Pause::number));

  private long pauses;

  public Withheld(Ready ready, TurnTime time) {
    this.ready = ready;
    this.time = time;
  }

  /** A free message waits; whether there was room for it. */
  boolean withhold(Subscription subscription, int lane, long sequence, long delayMillis) {
    return withhold(subscription, lane, sequence, delayMillis, null);
  }

  /**
   * A free message waits for the link that was lost with it, which may {@link #release} it; whether
   * there was room for it.
   */
  boolean withhold(
      Subscription subscription, int lane, long sequence, long delayMillis, @Nullable Due due) {
    var of = subscription.destination().lane(lane);
    if (of == null || messages.size() >= MAX_MESSAGES || !subscription.isFree(lane, sequence)) {
      return false;
    }
    subscription.take(of, sequence, 1);
    subscription.toNobody(lane, sequence, 1);
    messages.add(
        new Waiting(time.nowNanos() + delayMillis * 1_000_000L, subscription, lane, sequence, due));
    return true;
  }

  /** A subscription gives nothing out for so long, or as long as it does not already. */
  void pause(Subscription subscription, long delayMillis) {
    subscription.pause(true);
    pause(new Part(subscription, true, 0), delayMillis);
  }

  /** A group bucket gives nothing out for so long; -1 for messages without a key. */
  void pause(Subscription subscription, int key, long delayMillis) {
    subscription.withhold(key, true);
    pause(new Part(subscription, false, key), delayMillis);
  }

  private void pause(Part part, long delayMillis) {
    long until = time.nowNanos() + delayMillis * 1_000_000L;
    Pause known = paused.get(part);
    if (known != null && known.untilNanos() >= until) {
      return;
    }
    Pause pause = new Pause(until, pauses++, part);
    paused.put(part, pause);
    inTime.add(pause);
    if (known != null) {
      inTime.remove(known);
    } else if (paused.size() > MAX_MESSAGES) {
      resume(inTime.first());
    }
  }

  /** Messages that wait. */
  public int size() {
    return messages.size();
  }

  /** Subscriptions and group buckets that wait. */
  int paused() {
    return paused.size();
  }

  /** When something is due next, {@code Long.MAX_VALUE} for never. */
  @Override
  public long nextNanos() {
    long next = messages.isEmpty() ? Long.MAX_VALUE : messages.element().dueNanos();
    return inTime.isEmpty() ? next : Math.min(next, inTime.first().untilNanos());
  }

  /** Frees what is due. */
  @Override
  public void turn() {
    ready.guard().check();
    long now = time.nanos();
    while (!messages.isEmpty() && messages.element().dueNanos() - now <= 0) {
      Waiting next = messages.remove();
      free(next);
      if (next.due() != null && !next.subscription().isClosed()) {
        next.due().due(next.subscription(), next.lane(), next.sequence());
      }
    }
    while (!inTime.isEmpty() && inTime.first().untilNanos() - now <= 0) {
      resume(inTime.first());
    }
  }

  /** Frees all that waits in a destination. */
  public void release(Destination destination) {
    ready.guard().check();
    messages.removeIf(
        each -> {
          boolean there = each.subscription().destination() == destination;
          if (there) {
            free(each);
          }
          return there;
        });
    for (Pause each : List.copyOf(inTime)) {
      if (each.part().subscription().destination() == destination) {
        resume(each);
      }
    }
  }

  /** Frees what of some messages waits for a link, which is back. */
  public void release(Subscription subscription, List<SequenceRange> ranges) {
    ready.guard().check();
    messages.removeIf(
        each -> {
          boolean named =
              each.due() != null && each.subscription() == subscription && isIn(ranges, each);
          if (named) {
            free(each);
          }
          return named;
        });
  }

  private static boolean isIn(List<SequenceRange> ranges, Waiting waiting) {
    for (SequenceRange range : ranges) {
      if (range.lane() == waiting.lane()
          && waiting.sequence() >= range.from()
          && waiting.sequence() < range.from() + range.count()) {
        return true;
      }
    }
    return false;
  }

  /** Frees all. */
  @Override
  public void end() {
    ready.guard().check();
    messages.forEach(this::free);
    messages.clear();
    List.copyOf(inTime).forEach(this::resume);
  }

  private void free(Waiting waiting) {
    Subscription subscription = waiting.subscription();
    if (!subscription.isClosed() && subscription.isHeld(waiting.lane(), waiting.sequence())) {
      subscription.giveBack(waiting.lane(), waiting.sequence(), 1, false);
      ready.add(subscription);
    }
  }

  private void resume(Pause pause) {
    Part part = pause.part();
    paused.remove(part);
    inTime.remove(pause);
    Subscription subscription = part.subscription();
    if (part.whole()) {
      subscription.pause(false);
    } else {
      subscription.withhold(part.key(), false);
    }
    if (!subscription.isClosed()) {
      ready.add(subscription);
    }
  }
}
