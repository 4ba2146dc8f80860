package io.lightmq.core.shard;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.GroupUse;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Overflow;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Figure;
import io.lightmq.core.moves.Delays;
import io.lightmq.core.moves.Mover;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.sessions.NamedBudget;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Withheld;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.core.transaction.StagedUse;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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

  /** Names of tiers and kinds, of which there are few. */
  private static final Map<Enum<?>, String> LOWER = new ConcurrentHashMap<>();

  /** The parts of an owner that are looked at. */
  record Parts(
      Sessions sessions,
      Appending appending,
      Mover mover,
      Withheld withheld,
      Delays delays,
      NamedBudget budget) {}

  private final Replica replica;
  private final Journal journal;
  private final CommandQueue queue;
  private final Window window;
  private final Overflow overflow;
  private final Parts parts;
  private final TurnTime time;
  private final Location location = new Location();
  private BrokerMetrics.DiskUse disk = new BrokerMetrics.DiskUse(0, 0);
  private long lastId;
  private final Shown shown = new Shown();
  private boolean taking;

  MetricsTaker(
      Replica replica,
      Journal journal,
      CommandQueue queue,
      Window window,
      Overflow overflow,
      Parts parts) {
    this.replica = replica;
    this.journal = journal;
    this.queue = queue;
    this.window = window;
    this.overflow = overflow;
    this.parts = parts;
    this.time = replica.member().time();
  }

  /** Sets what the disk said last. */
  void disk(BrokerMetrics.DiskUse use) {
    disk = use;
  }

  /** Begins a picture; false if the one before is not complete and goes on. */
  boolean begin() {
    if (taking) {
      return false;
    }
    lastId = Destinations.BEFORE_ALL;
    damaged = 0;
    taking = true;
    return true;
  }

  /** What is set aside, counted so far. */
  private long damaged;

  /** Takes the next slice; the picture when that was the last, else null. */
  @Nullable BrokerMetrics step() {
    Destinations all = replica.state().destinations();
    int items = 0;
    Destination next = all.after(lastId);
    while (items < SLICE && next != null) {
      lastId = next.id();
      damaged += next.damaged().count();
      items += Math.min(SLICE, next.damaged().kept());
      if (!next.isHidden()) {
        items += take(next);
      }
      items++;
      next = all.after(lastId);
    }
    if (next != null) {
      return null;
    }
    taking = false;
    return picture(shown.take());
  }

  private BrokerMetrics picture(Shown.Picture destinations) {
    DirectMemory memory = replica.member().memory();
    Journal.Times times = journal.times();
    Checkpoints checkpoints = replica.checkpoints();
    long segmentBytes = 0;
    List<SegmentInfo> segments = checkpoints.segments();
    for (SegmentInfo segment : segments) {
      segmentBytes += segment.bytes();
    }
    return new BrokerMetrics(
        time.nanos(),
        new BrokerMetrics.Load(
            parts.sessions().all().size(), queue.size(), parts.appending().paused()),
        new BrokerMetrics.DirectUse(memory.total(), memory.usedByPurpose()),
        new BrokerMetrics.JournalUse(
            journal.usedBytes(),
            journal.capacityBytes(),
            journal.appended() - journal.durable(),
            window.capacity(),
            new BrokerMetrics.IoUse(times.writes().count(), times.writes().totalNanos()),
            new BrokerMetrics.IoUse(times.forces().count(), times.forces().totalNanos())),
        new BrokerMetrics.CheckpointUse(
            checkpoints.done(),
            checkpoints.failed(),
            checkpoints.lastNanos(),
            checkpoints.newestOffset(),
            segmentBytes,
            segments.size()),
        disk,
        new BrokerMetrics.OverflowUse(
            overflow.files().usedBytes(),
            overflow.files().limitBytes(),
            overflow.files().count(),
            overflow.movedMessages(),
            overflow.failures()),
        figures(),
        destinations.destinations(),
        destinations.others());
  }

  /** What was counted, and what is there now. */
  private Map<Figure, Long> figures() {
    Map<Figure, Long> all = replica.counters().figures();
    all.put(Figure.DAMAGED_NOW, damaged);
    all.put(Figure.REJECTED_SNAPSHOTS, (long) replica.rejectedSnapshots());
    all.put(Figure.CLOCK_STEPS, time.steps());
    all.put(Figure.MOVES, parts.mover().size());
    all.put(Figure.WAITING_MOVES, parts.mover().failing());
    all.put(Figure.WITHHELD, (long) parts.withheld().size());
    all.put(Figure.DELAYED, parts.delays().waiting());
    all.put(Figure.NAMED_BYTES, parts.budget().used());
    all.put(Figure.NAMED_LIMIT_BYTES, parts.budget().limit());
    all.put(Figure.NAMED_REFUSED, parts.budget().refused());
    StagedUse staged =
        replica
            .state()
            .transactions()
            .use(time.millis(), replica.member().settings().intervals().preparedAlarmMillis());
    all.put(Figure.STAGED_TRANSACTIONS, (long) staged.open());
    all.put(Figure.STAGED_BYTES, staged.bytes());
    all.put(Figure.PREPARED_BRANCHES, (long) staged.prepared());
    all.put(Figure.PREPARED_OLDEST, staged.oldestMillis() / 1_000);
    all.put(Figure.PREPARED_OVERDUE, (long) staged.overdue());
    all.put(Figure.HEURISTIC_BRANCHES, (long) staged.decided());
    return all;
  }

  /** How many destinations are shown one by one, and about as many subscriptions. */
  void show(int most) {
    shown.most(most);
  }

  /** Looks at a destination and returns how many subscriptions it has. */
  private int take(Destination destination) {
    Counters.Published published = replica.counters().look(destination.id());
    List<Subscription> wanted = shown.offer(destination);
    if (wanted != null) {
      List<BrokerMetrics.SubscriptionUse> subscriptions = new ArrayList<>(wanted.size());
      for (Subscription subscription : wanted) {
        subscriptions.add(take(destination, subscription, published));
      }
      shown.add(
          new BrokerMetrics.DestinationUse(
              destination.name(),
              lower(destination.settings().tier()),
              new BrokerMetrics.PublishedUse(published.messages, published.bytes),
              subscriptions));
    }
    return destination.subscriptions().size();
  }

  private BrokerMetrics.SubscriptionUse take(
      Destination destination, Subscription subscription, Counters.Published published) {
    Counters.Settled settled = replica.counters().look(destination.id(), subscription.id());
    long backlog = subscription.backlog();
    long oldest = backlog == 0 ? 0 : oldestMillis(destination, subscription);
    long age = oldest == 0 ? 0 : Math.max(0, time.millis() - oldest);
    long newest = Math.max(newestMillis(destination, published), oldest);
    String name = subscription.name();
    List<GroupUse> groups = subscription.views().groupUse();
    return new BrokerMetrics.SubscriptionUse(
        name == null ? "" : name,
        lower(subscription.kind()),
        subscription.consumers(),
        new BrokerMetrics.BacklogUse(
            backlog, subscription.inFlight(), age, oldest == 0 ? 0 : newest - oldest),
        new BrokerMetrics.SettledUse(settled.acknowledged, settled.expired, settled.suppressed),
        new BrokerMetrics.SelectorUse(
            subscription.selectorEvaluations(), subscription.selectorNanos()),
        new BrokerMetrics.GroupBucketUse(
            groups.stream().mapToInt(GroupUse::moving).sum(),
            groups.stream().mapToLong(GroupUse::moves).sum()));
  }

  /** When the newest message came, be it stored or not; 0 if that is not known. */
  private static long newestMillis(Destination destination, Counters.Published published) {
    long newest = published.newestMillis;
    for (DurableLane lane : destination.durableLanes()) {
      newest = Math.max(newest, lane.newestMillis());
    }
    return newest;
  }

  /** When the oldest unacknowledged message of the durable lanes came; 0 if there is none. */
  private long oldestMillis(Destination destination, Subscription subscription) {
    long oldest = 0;
    for (DurableLane lane : destination.durableLanes()) {
      if (subscription.backlog(lane) > 0) {
        long millis = oldestMillis(lane, subscription.firstUnacknowledged(lane));
        oldest = oldest == 0 ? millis : Math.min(oldest, millis);
      }
    }
    return oldest;
  }

  /** When a message came: from its bytes, else from samples. */
  private long oldestMillis(DurableLane lane, long first) {
    if (lane.locate(first, location)
        && location.piece() == null
        && location.firstSequence() == first
        && window.contains(location.journalOffset())) {
      return window.getLong(location.journalOffset() + Entry.ENQUEUED_AT);
    }
    long sampled = lane.cameAt(first);
    return sampled == 0 ? replica.snapshotMillis() : sampled;
  }

  private static String lower(Enum<?> value) {
    return LOWER.computeIfAbsent(value, MetricsTaker::lowerCase);
  }

  private static String lowerCase(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
