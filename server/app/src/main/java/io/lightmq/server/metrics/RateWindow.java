package io.lightmq.server.metrics;

import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.wire.entry.DestinationName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The newest readings of a broker, at most a minute of them, for rates: what was produced and what
 * was consumed is always divided by the same time. Readings are of what a picture shows, and there
 * are none while nobody asks for rates. One thread.
 */
final class RateWindow {
  private static final int READINGS = 7;
  private static final double NANOS_PER_SECOND = 1e9;

  private final Deque<Reading> readings = new ArrayDeque<>();

  private record Key(DestinationName destination, @Nullable String subscription) {}

  private record Reading(long takenNanos, Map<Key, Long> counts) {}

  /** Takes a reading, if it is a new one. */
  void add(BrokerMetrics metrics) {
    Reading newest = readings.peekLast();
    if (newest != null && newest.takenNanos() == metrics.takenNanos()) {
      return;
    }
    Map<Key, Long> counts = new HashMap<>();
    for (DestinationUse destination : metrics.destinations()) {
      counts.put(new Key(destination.name(), null), destination.published().messages());
      for (SubscriptionUse subscription : destination.subscriptions()) {
        counts.put(
            new Key(destination.name(), subscription.name()),
            subscription.settled().acknowledged());
      }
    }
    readings.add(new Reading(metrics.takenNanos(), counts));
    if (readings.size() > READINGS) {
      readings.remove();
    }
  }

  /** Forgets all: nobody asks. */
  void clear() {
    readings.clear();
  }

  /** Messages a second that came to a destination; 0 until there are two readings of it. */
  double produced(DestinationUse destination) {
    return rate(new Key(destination.name(), null));
  }

  /** Messages a second that were acknowledged in a subscription. */
  double consumed(DestinationUse destination, SubscriptionUse subscription) {
    return rate(new Key(destination.name(), subscription.name()));
  }

  private double rate(Key key) {
    Reading last = readings.peekLast();
    Long to = last == null ? null : last.counts().get(key);
    if (last == null || to == null) {
      return 0;
    }
    for (Reading first : readings) {
      Long from = first.counts().get(key);
      double seconds = (last.takenNanos() - first.takenNanos()) / NANOS_PER_SECOND;
      if (from != null && seconds > 0) {
        return Math.max(0, to - from) / seconds;
      }
    }
    return 0;
  }
}
