package io.lightmq.core.state;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Delivered;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes the record of an orderly end. How often messages were delivered stands in no record before,
 * and whoever begins behind it may have an older snapshot, or one of his own.
 */
public final class OrderlyEnd {
  /** The most bytes that it takes; with more of them it says nothing of deliveries. */
  public static final int MAX_BYTES = 1 << 18;

  private static final int RANGE_BYTES = 14;
  private static final int DELIVERED_BYTES = 24;

  private final List<Delivered> delivered = new ArrayList<>();
  private long bytes;

  private OrderlyEnd() {}

  /**
   * The record for a state of which nothing is in flight.
   *
   * @param most it takes so many bytes at most, or says nothing of deliveries
   */
  public static Stopped of(ShardState state, long most) {
    OrderlyEnd end = new OrderlyEnd();
    for (Destination destination : state.destinations().all()) {
      if (!destination.kind().isTemporary()) {
        for (Subscription subscription : destination.subscriptions()) {
          if (subscription.kind().isDurable() && !end.add(subscription, most)) {
            return Stopped.UNCOUNTED;
          }
        }
      }
    }
    return new Stopped(true, end.delivered);
  }

  /** The bytes that a record takes, at most. */
  public static long bytes(Stopped end) {
    long bytes = 0;
    for (Delivered each : end.delivered()) {
      bytes += DELIVERED_BYTES + (long) RANGE_BYTES * each.ranges().size();
    }
    return bytes;
  }

  /** Adds what a subscription has; false if it is too much. */
  private boolean add(Subscription subscription, long most) {
    Map<Integer, List<SequenceRange>> byCount = new TreeMap<>();
    subscription
        .seen()
        .forEachDelivered(
            (lane, from, count, deliveries) -> {
              bytes += RANGE_BYTES;
              if (bytes <= most) {
                byCount
                    .computeIfAbsent(deliveries, key -> new ArrayList<>())
                    .add(new SequenceRange(lane, from, count));
              }
            });
    byCount.forEach(
        (deliveries, ranges) -> {
          bytes += DELIVERED_BYTES;
          delivered.add(
              new Delivered(
                  subscription.destination().id(), subscription.id(), deliveries, ranges));
        });
    return bytes <= most && delivered.size() <= ShardRecord.MAX_DELIVERED;
  }
}
