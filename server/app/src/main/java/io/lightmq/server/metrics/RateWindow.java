package io.lightmq.server.metrics;

import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The newest readings of a broker, at most a minute of them, for rates: what was produced and what
 * was consumed is always divided by the same time. One thread.
 */
final class RateWindow {
  private static final int READINGS = 7;
  private static final double NANOS_PER_SECOND = 1e9;

  private final Deque<Reading> readings = new ArrayDeque<>();

  private record Reading(long takenNanos, Map<String, Long> produced, Map<String, Long> consumed) {}

  void add(BrokerMetrics metrics) {
    Reading newest = readings.peekLast();
    if (newest != null && newest.takenNanos() == metrics.takenNanos()) {
      return;
    }
    Map<String, Long> produced = new HashMap<>();
    Map<String, Long> consumed = new HashMap<>();
    for (DestinationUse destination : metrics.destinations()) {
      produced.put(key(destination), destination.published());
      for (SubscriptionUse subscription : destination.subscriptions()) {
        consumed.put(key(destination, subscription), subscription.acknowledged());
      }
    }
    readings.add(new Reading(metrics.takenNanos(), produced, consumed));
    if (readings.size() > READINGS) {
      readings.remove();
    }
  }

  /** Messages a second that came to a destination; 0 until there are two readings of it. */
  double produced(DestinationUse destination) {
    return rate(true, key(destination));
  }

  /** Messages a second that were acknowledged in a subscription. */
  double consumed(DestinationUse destination, SubscriptionUse subscription) {
    return rate(false, key(destination, subscription));
  }

  private double rate(boolean produced, String key) {
    Reading first = readings.peekFirst();
    Reading last = readings.peekLast();
    if (first == null || last == null) {
      return 0;
    }
    Long from = count(first, produced, key);
    Long to = count(last, produced, key);
    double seconds = (last.takenNanos() - first.takenNanos()) / NANOS_PER_SECOND;
    if (to == null || seconds <= 0) {
      return 0;
    }
    return Math.max(0, to - (from == null ? 0 : from)) / seconds;
  }

  private static @Nullable Long count(Reading reading, boolean produced, String key) {
    return (produced ? reading.produced() : reading.consumed()).get(key);
  }

  private static String key(DestinationUse destination) {
    return destination.name().kind() + "\n" + destination.name().name();
  }

  private static String key(DestinationUse destination, SubscriptionUse subscription) {
    return key(destination) + "\n" + subscription.name();
  }
}
