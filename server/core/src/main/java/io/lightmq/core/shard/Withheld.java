package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * What waits for its next attempt: single messages, which are in flight to nobody meanwhile, whole
 * subscriptions and, where messages have keys, single key views, which give nothing out. All of it
 * is in memory: after a restart the wait is over at once, while the attempts are kept. At most
 * {@link #MAX_MESSAGES} messages wait; what comes beyond is free at once.
 */
@OwnedBy("shard")
final class Withheld {
  static final int MAX_MESSAGES = 100_000;

  private record Waiting(long dueNanos, Subscription subscription, int lane, long sequence) {}

  private final Ready ready;
  private final TurnTime time;
  private final PriorityQueue<Waiting> messages =
      new PriorityQueue<>(Comparator.comparingLong(Waiting::dueNanos));

  /** A subscription as a whole, or a key view of it; -1 for what has no key. */
  private record Part(Subscription subscription, boolean whole, int key) {}

  /** Until when each of these gives nothing out. */
  private final Map<Part, Long> paused = new HashMap<>();

  Withheld(Ready ready, TurnTime time) {
    this.ready = ready;
    this.time = time;
  }

  /** A free message waits; whether there was room for it. */
  boolean withhold(Subscription subscription, int lane, long sequence, long delayMillis) {
    var of = subscription.destination().lane(lane);
    if (of == null || messages.size() >= MAX_MESSAGES || !subscription.isFree(lane, sequence)) {
      return false;
    }
    subscription.take(of, sequence, 1);
    subscription.toNobody(lane, sequence, 1);
    messages.add(
        new Waiting(time.nowNanos() + delayMillis * 1_000_000L, subscription, lane, sequence));
    return true;
  }

  /** A subscription gives nothing out for so long, or as long as it does not already. */
  void pause(Subscription subscription, long delayMillis) {
    subscription.pause(true);
    pause(new Part(subscription, true, 0), delayMillis);
  }

  /** A key view gives nothing out for so long; -1 for messages without a key. */
  void pause(Subscription subscription, int key, long delayMillis) {
    subscription.withhold(key, true);
    pause(new Part(subscription, false, key), delayMillis);
  }

  private void pause(Part part, long delayMillis) {
    paused.merge(part, time.nowNanos() + delayMillis * 1_000_000L, Math::max);
  }

  /** Messages that wait. */
  int size() {
    return messages.size();
  }

  /** Subscriptions and key views that wait. */
  int paused() {
    return paused.size();
  }

  /** When something is due next, {@code Long.MAX_VALUE} for never. */
  long nextNanos() {
    long next = messages.isEmpty() ? Long.MAX_VALUE : messages.element().dueNanos();
    for (long until : paused.values()) {
      next = Math.min(next, until);
    }
    return next;
  }

  /** Frees what is due. */
  void turn() {
    long now = time.nanos();
    while (!messages.isEmpty() && messages.element().dueNanos() - now <= 0) {
      free(messages.remove());
    }
    if (!paused.isEmpty()) {
      paused
          .entrySet()
          .removeIf(
              each -> {
                boolean over =
                    each.getKey().subscription().isClosed() || each.getValue() - now <= 0;
                if (over) {
                  resume(each.getKey());
                }
                return over;
              });
    }
  }

  /** Frees all that waits in a destination. */
  void release(Destination destination) {
    messages.removeIf(
        each -> {
          boolean there = each.subscription().destination() == destination;
          if (there) {
            free(each);
          }
          return there;
        });
    paused
        .keySet()
        .removeIf(
            each -> {
              boolean there = each.subscription().destination() == destination;
              if (there) {
                resume(each);
              }
              return there;
            });
  }

  /** Frees all, at the end. */
  void releaseAll() {
    messages.forEach(this::free);
    messages.clear();
    paused.keySet().forEach(this::resume);
    paused.clear();
  }

  private void free(Waiting waiting) {
    Subscription subscription = waiting.subscription();
    if (!subscription.isClosed() && subscription.isInFlight(waiting.lane(), waiting.sequence())) {
      subscription.giveBack(waiting.lane(), waiting.sequence(), 1, false);
      ready.add(subscription);
    }
  }

  private void resume(Part part) {
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
