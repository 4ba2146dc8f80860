package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.KeyUse;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.spi.Journal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Takes the shard's metrics as one immutable picture, over as many turns as its destinations need:
 * 100,000 of them take 60 ms and more, for which no message may wait. So the figures of two
 * destinations may be some turns apart; those of one are of one moment.
 */
@OwnedBy("shard")
final class MetricsTaker {
  /** Destinations and subscriptions in one turn; about half a millisecond. */
  static final int SLICE = 1_024;

  private static final int ENQUEUED_AT = 32;

  private final ShardParts parts;
  private final DirectMemory memory;
  private final CommandQueue queue;
  private final long rejectedSnapshots;
  private final long snapshotMillis;
  private final Location location = new Location();
  private BrokerMetrics.DiskUse disk = new BrokerMetrics.DiskUse(0, 0);
  private long lastId;
  private List<BrokerMetrics.DestinationUse> taken = new ArrayList<>();
  private boolean taking;

  /**
   * A taker.
   *
   * @param snapshotMillis when the snapshot was made from which start began; what it holds is at
   *     least that old
   */
  MetricsTaker(
      ShardParts parts,
      DirectMemory memory,
      CommandQueue queue,
      SnapshotStore.Loaded loaded,
      long snapshotMillis) {
    this.parts = parts;
    this.memory = memory;
    this.queue = queue;
    this.rejectedSnapshots = loaded.rejected().size();
    this.snapshotMillis = snapshotMillis;
  }

  /** Sets what the disk said last. */
  void disk(long usableBytes, long totalBytes) {
    disk = new BrokerMetrics.DiskUse(usableBytes, totalBytes);
  }

  /** Begins a picture; false if the one before is not complete and goes on. */
  boolean begin() {
    if (taking) {
      return false;
    }
    lastId = Destinations.BEFORE_ALL;
    taken = new ArrayList<>(parts.state().destinations().count());
    damaged = 0;
    asideRanges = 0;
    taking = true;
    return true;
  }

  /** What is set aside, counted so far. */
  private long damaged;

  private long asideRanges;

  /** Takes the next slice; the picture when that was the last, else null. */
  @Nullable BrokerMetrics step() {
    Destinations all = parts.state().destinations();
    int items = 0;
    Destination next = all.after(lastId);
    while (items < SLICE && next != null) {
      lastId = next.id();
      damaged += next.damaged().count();
      asideRanges += next.damaged().kept();
      if (!next.isHidden()) {
        BrokerMetrics.DestinationUse use = take(next);
        taken.add(use);
        items += use.subscriptions().size();
      }
      items++;
      next = all.after(lastId);
    }
    if (next != null) {
      return null;
    }
    taking = false;
    List<BrokerMetrics.DestinationUse> destinations = taken;
    taken = new ArrayList<>();
    return picture(destinations);
  }

  private BrokerMetrics picture(List<BrokerMetrics.DestinationUse> destinations) {
    Counters counters = parts.counters();
    counters.asideRanges = asideRanges;
    Journal journal = parts.journal();
    Journal.Times times = journal.times();
    Checkpoints checkpoints = parts.checkpoints();
    long segmentBytes = 0;
    List<SegmentInfo> segments = checkpoints.segments();
    for (SegmentInfo segment : segments) {
      segmentBytes += segment.bytes();
    }
    return new BrokerMetrics(
        parts.time().nanos(),
        parts.sessions().all().size(),
        queue.size(),
        parts.runner().paused(),
        memory.total(),
        memory.usedByPurpose(),
        new BrokerMetrics.JournalUse(
            journal.usedBytes(),
            journal.capacityBytes(),
            journal.appended() - journal.durable(),
            parts.window().capacity(),
            times.writes().count(),
            times.writes().totalNanos(),
            times.forces().count(),
            times.forces().totalNanos()),
        new BrokerMetrics.CheckpointUse(
            checkpoints.done(),
            checkpoints.failed(),
            checkpoints.lastNanos(),
            checkpoints.newestOffset(),
            segmentBytes,
            segments.size()),
        disk,
        new BrokerMetrics.OverflowUse(
            parts.overflow().files().usedBytes(),
            parts.overflow().files().limitBytes(),
            parts.overflow().files().count(),
            parts.overflow().movedMessages(),
            parts.overflow().failures()),
        new BrokerMetrics.Totals(
            counters.commands,
            counters.allMessages,
            counters.allBytes,
            counters.allAcknowledged,
            counters.allExpired,
            counters.allSuppressed,
            rejectedSnapshots,
            counters.damagedReads,
            damaged,
            counters.setAside,
            parts.time().steps(),
            new BrokerMetrics.Moves(
                counters.redelivered,
                counters.deadLettered,
                counters.moveFailures,
                parts.mover().size(),
                parts.mover().failing(),
                parts.withheld().size(),
                parts.delays().waiting())),
        destinations);
  }

  private BrokerMetrics.DestinationUse take(Destination destination) {
    Counters.Published published = parts.counters().published(destination.id());
    List<BrokerMetrics.SubscriptionUse> subscriptions = new ArrayList<>();
    for (Subscription subscription : destination.subscriptions()) {
      subscriptions.add(take(destination, subscription, published));
    }
    for (DurableLane lane : destination.durableLanes()) {
      long first = Long.MAX_VALUE;
      for (Subscription subscription : destination.subscriptions()) {
        first = Math.min(first, subscription.firstUnacknowledged(lane));
      }
      published.ages(lane.code()).forgetBelow(first);
    }
    return new BrokerMetrics.DestinationUse(
        destination.name(),
        lower(destination.settings().tier()),
        published.messages,
        published.bytes,
        subscriptions);
  }

  private BrokerMetrics.SubscriptionUse take(
      Destination destination, Subscription subscription, Counters.Published published) {
    Counters.Settled settled = parts.counters().settled(destination.id(), subscription.id());
    long backlog = subscription.backlog();
    long oldest = backlog == 0 ? 0 : oldestMillis(destination, subscription, published);
    long age = oldest == 0 ? 0 : Math.max(0, parts.time().millis() - oldest);
    long newest = Math.max(published.newestMillis, oldest);
    String name = subscription.name();
    List<KeyUse> keys = subscription.views().keyUse();
    return new BrokerMetrics.SubscriptionUse(
        name == null ? "" : name,
        lower(subscription.kind()),
        subscription.consumers(),
        backlog,
        subscription.inFlight(),
        settled.acknowledged,
        settled.expired,
        settled.suppressed,
        age,
        oldest == 0 ? 0 : newest - oldest,
        subscription.selectorEvaluations(),
        subscription.selectorNanos(),
        keys.stream().mapToInt(KeyUse::moving).sum(),
        keys.stream().mapToLong(KeyUse::moves).sum());
  }

  /** When the oldest unacknowledged message of the durable lanes came; 0 if there is none. */
  private long oldestMillis(
      Destination destination, Subscription subscription, Counters.Published published) {
    long oldest = 0;
    for (DurableLane lane : destination.durableLanes()) {
      if (subscription.backlog(lane) > 0) {
        long millis =
            oldestMillis(lane, subscription.firstUnacknowledged(lane), published.ages(lane.code()));
        oldest = oldest == 0 ? millis : Math.min(oldest, millis);
      }
    }
    return oldest;
  }

  /** When a message came: from its bytes, else from samples. */
  private long oldestMillis(DurableLane lane, long first, AgeSamples ages) {
    if (lane.locate(first, location)
        && location.piece() == null
        && location.firstSequence() == first
        && parts.window().contains(location.journalOffset())) {
      return parts.window().getLong(location.journalOffset() + ENQUEUED_AT);
    }
    long sampled = ages.cameAt(first);
    return sampled == 0 ? snapshotMillis : sampled;
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
