package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Weight;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A queue or topic: its lanes, which are made when first used, and the subscriptions to them. */
@OwnedBy("shard")
public final class Destination {
  /** What the names of destinations begin with that only the broker uses and nobody sees. */
  public static final String HIDDEN = "$lightmq.";

  /** What the names of those begin with in which messages are staged. */
  public static final String STAGED = HIDDEN + "tx.";

  /** Where a message goes. */
  public enum Placement {
    /** Into a durable lane, by a record. */
    DURABLE,
    /** Into an unlogged lane, in memory. */
    UNLOGGED,
    /** Nowhere: nobody wants it. */
    NOWHERE
  }

  private final long id;
  private final DestinationName name;
  private final boolean staged;
  private final Guard guard;
  private final OffHeap memory;
  private final Lanes lanes;
  private final NamedHeap named;

  /** What it has added to the sum. */
  private long namedBytes;

  private final Map<Long, Subscription> subscriptions = new LinkedHashMap<>();
  private final Map<Selector, Filter> filters = new LinkedHashMap<>();
  private final DamagedMessages damaged;
  private final Weight weight = new Weight();
  private int partialSubscriptions;
  private int partialDurableSubscriptions;
  private DestinationSettings settings;
  private int durableSubscriptions;
  private long moves;
  private long newestPicture;
  private boolean grouped;
  private boolean groupedDurably;

  Destination(
      long id,
      DestinationName name,
      DestinationSettings settings,
      Guard guard,
      AwaitedLanes awaiting,
      OffHeap memory,
      UnloggedStore store,
      NamedHeap named) {
    this.id = id;
    this.name = name;
    this.staged = name.name().startsWith(STAGED);
    this.settings = settings;
    this.guard = guard;
    this.memory = memory;
    this.named = named;
    this.lanes = new Lanes(this, awaiting, memory, store);
    charge(NamedHeap.DESTINATION + NamedHeap.text(name.name()));
    this.damaged = new DamagedMessages(this);
  }

  /** Who may touch it, its lanes, its subscriptions and what these have. */
  Guard guard() {
    return guard;
  }

  /** The sum that it is part of. */
  NamedHeap named() {
    return named;
  }

  /** Unique in the shard, never reused. */
  public long id() {
    return id;
  }

  /** Kind and name. */
  public DestinationName name() {
    return name;
  }

  public DestinationKind kind() {
    return name.kind();
  }

  /** What is set for it now. */
  public DestinationSettings settings() {
    return settings;
  }

  /** Whether only the broker uses it; it is in no listing. */
  public boolean isHidden() {
    return name.name().startsWith(HIDDEN);
  }

  /**
   * Whether the messages of a transaction are staged in it: all of them are in one shard epoch, so
   * that another lane can take them over at once.
   */
  public boolean isStaged() {
    return staged;
  }

  /** None of its messages yet. */
  public LaneSequences newSequences() {
    return new LaneSequences(guard, memory);
  }

  /** Whether its dead letters would go to itself; they stay where they are then. */
  public boolean isDeadLetterQueueOfItself() {
    return kind() == DestinationKind.QUEUE && name.name().equals(settings.deadLetter());
  }

  /** Applies new settings, which count from the next message on. */
  public void set(DestinationSettings changed) {
    guard.check();
    settings = changed;
    subscriptions.values().forEach(each -> each.suppress(changed.suppression()));
  }

  /**
   * The lane of the persistent messages of a priority; made if it was never used, which nobody can
   * see before something is in it.
   */
  public DurableLane durable(int priority) {
    DurableLane lane = lanes.findDurable(priority);
    if (lane == null) {
      guard.check();
      lane = came(lanes.addDurable(priority));
    }
    return lane;
  }

  /** The lane of what lives in memory only and has a priority; made if it was never used. */
  public UnloggedLane unlogged(int priority) {
    UnloggedLane lane = lanes.findUnlogged(priority);
    if (lane == null) {
      guard.check();
      lane = came(lanes.addUnlogged(priority));
    }
    return lane;
  }

  /** What the lanes would take that messages of some priorities need and that are not there. */
  public long laneBytes(boolean persistent, int priorities) {
    long bytes = 0;
    for (int rest = priorities; rest != 0; rest &= rest - 1) {
      int priority = Integer.numberOfTrailingZeros(rest);
      Lane lane = persistent ? lanes.findDurable(priority) : lanes.findUnlogged(priority);
      bytes += lane == null ? laneBytes() : 0;
    }
    return bytes;
  }

  /** The same for a queue that is not there. */
  public static long laneBytesOfNewQueue(int priorities) {
    return (long) (NamedHeap.LANE + NamedHeap.CURSOR) * Integer.bitCount(priorities);
  }

  private long laneBytes() {
    return NamedHeap.LANE + (long) NamedHeap.CURSOR * subscriptions.size();
  }

  private int laneCount() {
    return lanes.durable().size() + lanes.unlogged().size();
  }

  /** What one more subscription takes. */
  public long subscriptionBytes(@Nullable String subscription, @Nullable String clientId) {
    return NamedHeap.ofSubscription(subscription, clientId) + (long) NamedHeap.CURSOR * laneCount();
  }

  private void charge(long bytes) {
    named.add(bytes);
    namedBytes += bytes;
  }

  private <L extends Lane> L came(L lane) {
    charge(laneBytes());
    for (Subscription subscription : subscriptions.values()) {
      subscription.add(lane);
    }
    return lane;
  }

  /** The lane of a code, or null if it was never used. */
  public @Nullable Lane lane(int code) {
    return lanes.find(code);
  }

  /** The durable lanes in use, rising by priority. */
  public List<DurableLane> durableLanes() {
    return lanes.durable();
  }

  /** The unlogged lanes in use, rising by priority. */
  public List<UnloggedLane> unloggedLanes() {
    return lanes.unlogged();
  }

  /** Whether a message with a key ever came. */
  public boolean isGrouped() {
    return grouped;
  }

  /** Whether one came that is in a record. */
  public boolean isGroupedDurably() {
    return groupedDurably;
  }

  /**
   * A message with a key comes, before it is appended. That it came is never forgotten, if the
   * message is in a record; else until the process ends.
   */
  public void group(boolean durably) {
    guard.check();
    groupedDurably |= durably && (staged || !isHidden());
    if (isHidden()) {
      return;
    }
    if (!grouped) {
      grouped = true;
      subscriptions.values().forEach(Subscription::group);
    }
  }

  /** Rises whenever something becomes visible in a lane. */
  long moves() {
    return moves;
  }

  /** Something became visible in a lane. */
  void moved() {
    moves++;
  }

  /**
   * The mark that unlogged messages of some priorities wait for that come now: each is given after
   * all of its priority that was there before. Null if they can be given at once.
   *
   * @param priorities a bit for each
   */
  public @Nullable Mark awaited(int priorities) {
    Mark strongest = null;
    for (int rest = priorities; rest != 0; rest &= rest - 1) {
      strongest = Lanes.strongest(strongest, lanes.awaited(Integer.numberOfTrailingZeros(rest)));
    }
    return strongest;
  }

  /** Where a message goes now. */
  public Placement placement(boolean persistent) {
    if (subscriptions.isEmpty()) {
      return Placement.NOWHERE;
    }
    return persistent && durableSubscriptions > 0 && !kind().isTemporary()
        ? Placement.DURABLE
        : Placement.UNLOGGED;
  }

  /**
   * Opens a subscription: of a queue at the beginning, of a topic at the tail.
   *
   * @param subscriptionId never used before in the shard
   */
  public Subscription open(
      long subscriptionId,
      SubscriptionKind subscriptionKind,
      @Nullable String clientId,
      @Nullable String subscriptionName,
      boolean noLocal) {
    return open(
        subscriptionId,
        subscriptionKind,
        clientId,
        subscriptionName,
        noLocal ? new Interest(null, true, 0) : Interest.ALL);
  }

  /**
   * Opens a subscription: of a queue at the beginning, of a topic at the tail.
   *
   * @param subscriptionId never used before in the shard
   */
  public Subscription open(
      long subscriptionId,
      SubscriptionKind subscriptionKind,
      @Nullable String clientId,
      @Nullable String subscriptionName,
      Interest interest) {
    if (kind().isQueue() != (subscriptionKind == SubscriptionKind.QUEUE)
        || (kind().isQueue() && !subscriptions.isEmpty())) {
      throw new IllegalStateException(
          "%s cannot have a subscription of kind %s besides its %d"
              .formatted(name, subscriptionKind, subscriptions.size()));
    }
    guard.check();
    Subscription opened =
        new Subscription(
            subscriptionId, this, subscriptionKind, clientId, subscriptionName, interest, memory);
    add(opened);
    return opened;
  }

  /** Takes a subscription in. */
  void add(Subscription opened) {
    if (subscriptions.putIfAbsent(opened.id(), opened) != null) {
      throw new IllegalStateException("subscription " + opened.id() + " exists already");
    }
    durableSubscriptions += opened.kind().isDurable() ? 1 : 0;
    charge(subscriptionBytes(opened.name(), opened.clientId()));
    count(opened, 1);
  }

  private void count(Subscription partial, int change) {
    if (partial.isPartial()) {
      partialSubscriptions += change;
      partialDurableSubscriptions += partial.kind().isDurable() ? change : 0;
    }
  }

  /** The filter of an interest, shared by all subscriptions with an equal selector. */
  @Nullable Filter filter(Interest interest) {
    Selector selector = interest.selector();
    if (selector == null) {
      return null;
    }
    Filter filter = filters.get(selector);
    if (filter == null) {
      filter = new Filter(selector, guard);
      filters.put(selector, filter);
      weight.add(selector);
    }
    filter.users++;
    return filter;
  }

  /** The selectors of the subscriptions, each once. */
  public Collection<Filter> filters() {
    return Collections.unmodifiableCollection(filters.values());
  }

  /** What evaluating all of them costs. */
  public Weight weight() {
    return weight;
  }

  /** Subscriptions that outlive their consumers. */
  public int durableSubscriptions() {
    return durableSubscriptions;
  }

  /** Subscriptions that do not want everything. */
  public int partialSubscriptions() {
    return partialSubscriptions;
  }

  /** Those of them that outlive their consumers: records name what they do not want. */
  public int partialDurableSubscriptions() {
    return partialDurableSubscriptions;
  }

  /** Ends a subscription; what only it needed is needed no more. */
  public void close(Subscription subscription) {
    guard.check();
    if (subscriptions.remove(subscription.id(), subscription)) {
      durableSubscriptions -= subscription.kind().isDurable() ? 1 : 0;
      charge(-subscriptionBytes(subscription.name(), subscription.clientId()));
      count(subscription, -1);
      Filter filter = subscription.filter();
      if (filter != null) {
        filter.users--;
        if (filter.users == 0) {
          filters.remove(filter.selector());
          weight.remove(filter.selector());
        }
      }
      subscription.clear();
    }
  }

  /** All subscriptions, in the order of their opening. */
  public Collection<Subscription> subscriptions() {
    return Collections.unmodifiableCollection(subscriptions.values());
  }

  /** The subscription of an id, or null. */
  public @Nullable Subscription subscription(long subscriptionId) {
    return subscriptions.get(subscriptionId);
  }

  /** The single subscription of a queue. */
  public Subscription queueSubscription() {
    if (!kind().isQueue() || subscriptions.size() != 1) {
      throw new IllegalStateException(name + " has " + subscriptions.size() + " subscriptions");
    }
    return subscriptions.values().iterator().next();
  }

  /** The most messages that one subscription has not acknowledged. */
  public long backlog() {
    long most = 0;
    for (Subscription subscription : subscriptions.values()) {
      most = Math.max(most, subscription.backlog());
    }
    return most;
  }

  /** The first sequence that a subscription needs which outlives the process; else the end. */
  long firstNeeded(DurableLane lane) {
    long first = lane.extents.end();
    for (Subscription subscription : subscriptions.values()) {
      if (subscription.kind().isDurable()) {
        first = Math.min(first, subscription.firstUnacknowledged(lane));
      }
    }
    return first;
  }

  /** Forgets sequences that every subscription has behind it. */
  public void trim() {
    guard.check();
    lanes.durable().forEach(this::trim);
    lanes.unlogged().forEach(this::trim);
  }

  private void trim(Lane lane) {
    long below = lane.extents.end();
    for (Subscription subscription : subscriptions.values()) {
      below = Math.min(below, subscription.firstUnacknowledged(lane));
    }
    lane.trim(below);
    for (Subscription subscription : subscriptions.values()) {
      subscription.cursor(lane).trim(below);
    }
  }

  /**
   * A durable lane's part of a checkpoint that is decided now, or null if nothing of it lies in the
   * journal nor in a segment to be rewritten.
   *
   * @param rewritten whether one of its pieces is in a segment that is rewritten
   */
  public @Nullable LaneCheckpoint checkpoint(DurableLane lane, boolean rewritten) {
    guard.check();
    if (lane.isOutOfJournal() && !rewritten) {
      return null;
    }
    return new LaneCheckpoint(this, lane, rewritten);
  }

  /** What of it could not be read and is set aside. */
  public DamagedMessages damaged() {
    return damaged;
  }

  /** How many entries of a piece somebody needs, at least; 0 only if nobody needs any. */
  public long needed(Piece piece) {
    Lane lane = lanes.find(piece.lane());
    if (lane == null) {
      return 0;
    }
    long most = 0;
    for (Subscription subscription : subscriptions.values()) {
      most =
          Math.max(
              most,
              subscription
                  .cursor(lane)
                  .unacknowledged(piece.firstSequence(), piece.lastSequence() + 1));
    }
    return Math.min(most, piece.count());
  }

  /**
   * Whether a snapshot asks for the first time.
   *
   * @param picture rises from snapshot to snapshot, above 0
   */
  public boolean isNewTo(long picture) {
    guard.check();
    boolean isNew = newestPicture != picture;
    newestPicture = picture;
    return isNew;
  }

  /** Pictures of the keys that its durable subscriptions remember now; see {@link #encode}. */
  public List<DuplicatePicture> keyPictures() {
    guard.check();
    List<DuplicatePicture> pictures = new ArrayList<>(0);
    if (settings.suppression() != null) {
      for (Subscription subscription : subscriptions.values()) {
        Duplicates duplicates = subscription.duplicates();
        if (subscription.kind().isDurable() && duplicates != null && duplicates.remembered() > 0) {
          pictures.add(duplicates.picture());
        }
      }
    }
    return pictures;
  }

  void clear() {
    for (Subscription subscription : subscriptions.values()) {
      subscription.clear();
    }
    subscriptions.clear();
    filters.clear();
    weight.clear();
    partialSubscriptions = 0;
    partialDurableSubscriptions = 0;
    durableSubscriptions = 0;
    charge(-namedBytes);
    lanes.clear();
  }

  /** Writes the durable state; see {@link DestinationFormat}. */
  public void encode(DataOutput out) throws IOException {
    guard.check();
    DestinationFormat.encode(this, out);
  }
}
