package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.OtherUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Which destinations a picture of the metrics shows one by one: those with the largest backlogs, so
 * that a picture costs the same however many destinations clients have made. All others are added
 * up. Of one destination a tenth of so many subscriptions is shown, and of all together twice as
 * many, each time those with the largest backlogs; among equals the older ones, so that the choice
 * holds.
 */
@OwnedBy("shard")
public final class Shown {
  /** So many destinations unless told otherwise. */
  public static final int DEFAULT = 1_000;

  private record Kept(DestinationUse use, long backlog, long order) {}

  /** What a picture shows. */
  public record Picture(List<DestinationUse> destinations, OtherUse others) {}

  private final PriorityQueue<Kept> kept =
      new PriorityQueue<>(
          Comparator.comparingLong(Kept::backlog)
              .thenComparing(Comparator.comparingLong(Kept::order).reversed()));
  private int most = DEFAULT;
  private long order;
  private int rows;
  private long offeredBacklog;

  // What is added up.
  private long destinations;
  private long subscriptions;
  private long backlogs;
  private long inFlight;
  private long consumers;

  /** Sets how many destinations are shown. */
  public void most(int destinations) {
    most = destinations;
  }

  /** Those of its subscriptions that are to be shown; null if it is only added up. */
  public @Nullable List<Subscription> offer(Destination destination) {
    long backlog = 0;
    for (Subscription each : destination.subscriptions()) {
      backlog += each.backlog();
    }
    Kept least = kept.peek();
    if (kept.size() >= most && (least == null || backlog <= least.backlog())) {
      destinations++;
      destination.subscriptions().forEach(this::addUp);
      return null;
    }
    offeredBacklog = backlog;
    int mostOfOne = Math.max(1, most / 10);
    if (destination.subscriptions().size() <= mostOfOne) {
      return List.copyOf(destination.subscriptions());
    }
    return largest(destination, mostOfOne);
  }

  private List<Subscription> largest(Destination destination, int count) {
    record Ranked(Subscription subscription, long backlog, int place) {}
    PriorityQueue<Ranked> best =
        new PriorityQueue<>(
            Comparator.comparingLong(Ranked::backlog)
                .thenComparing(Comparator.comparingInt(Ranked::place).reversed()));
    int place = 0;
    for (Subscription each : destination.subscriptions()) {
      best.add(new Ranked(each, each.backlog(), place++));
      if (best.size() > count) {
        addUp(best.remove().subscription());
      }
    }
    return best.stream()
        .sorted(Comparator.comparingInt(Ranked::place))
        .map(Ranked::subscription)
        .toList();
  }

  private void addUp(Subscription each) {
    addUp(each.backlog(), each.inFlight(), each.consumers());
  }

  private void addUp(long backlog, long itsInFlight, int itsConsumers) {
    subscriptions++;
    backlogs += backlog;
    inFlight += itsInFlight;
    consumers += itsConsumers;
  }

  /** Shows what was offered last. */
  public void add(DestinationUse use) {
    kept.add(new Kept(use, offeredBacklog, order++));
    rows += use.subscriptions().size();
    while (kept.size() > most || (rows > 2 * most && kept.size() > 1)) {
      DestinationUse gone = kept.remove().use();
      rows -= gone.subscriptions().size();
      destinations++;
      for (SubscriptionUse each : gone.subscriptions()) {
        addUp(each.backlog().messages(), each.backlog().inFlight(), each.consumers());
      }
    }
  }

  /** The picture of all that was offered, oldest first; the next one begins. */
  public Picture take() {
    List<Kept> all = new ArrayList<>(kept);
    all.sort(Comparator.comparingLong(Kept::order));
    Picture picture =
        new Picture(
            all.stream().map(Kept::use).toList(),
            new OtherUse(destinations, subscriptions, backlogs, inFlight, consumers));
    kept.clear();
    rows = 0;
    order = 0;
    destinations = 0;
    subscriptions = 0;
    backlogs = 0;
    inFlight = 0;
    consumers = 0;
    return picture;
  }
}
