package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A queue or topic: a durable and a volatile lane and the subscriptions to them. */
@OwnedBy("shard")
public final class Destination {
  /** The durable lane's code; the priorities get lanes of their own later. */
  public static final int DURABLE_LANE = 4;

  /** The volatile lane's code. */
  public static final int VOLATILE_LANE = 0x84;

  private static final int VERSION = 1;

  /** Where a message goes. */
  public enum Placement {
    /** Into the durable lane, by a record. */
    DURABLE,
    /** Into the volatile lane, in memory. */
    VOLATILE,
    /** Nowhere: nobody wants it. */
    NOWHERE
  }

  private final long id;
  private final DestinationName name;
  private final OffHeap memory;
  private final DurableLane durable;
  private final VolatileLane swift;
  private final Map<Long, Subscription> subscriptions = new LinkedHashMap<>();
  private DestinationSettings settings;
  private int durableSubscriptions;

  Destination(
      long id,
      DestinationName name,
      DestinationSettings settings,
      Awaiting awaiting,
      OffHeap memory,
      VolatileStore store) {
    this.id = id;
    this.name = name;
    this.settings = settings;
    this.memory = memory;
    this.durable = new DurableLane(this, awaiting, DURABLE_LANE, memory);
    this.swift = new VolatileLane(this, awaiting, VOLATILE_LANE, memory, store);
  }

  /** Unique in the shard, never reused. */
  public long id() {
    return id;
  }

  /** Kind and name. */
  public DestinationName name() {
    return name;
  }

  /** Its kind. */
  public DestinationKind kind() {
    return name.kind();
  }

  /** What is set for it now. */
  public DestinationSettings settings() {
    return settings;
  }

  /** Applies new settings, which count from the next message on. */
  public void set(DestinationSettings changed) {
    settings = changed;
  }

  /** The lane of the persistent messages. */
  public DurableLane durable() {
    return durable;
  }

  /** The lane of what lives in memory only. */
  public VolatileLane swift() {
    return swift;
  }

  /**
   * The mark that a volatile message waits for that comes now: it is given after all that was there
   * before. Null if it can be given at once.
   */
  public @Nullable Mark awaited() {
    Mark before = durable.awaited();
    Mark beside = swift.awaited();
    return before == null || (beside != null && beside.compareTo(before) > 0) ? beside : before;
  }

  /** Where a message goes now. */
  public Placement placement(boolean persistent) {
    if (subscriptions.isEmpty()) {
      return Placement.NOWHERE;
    }
    return persistent && durableSubscriptions > 0 && !kind().isTemporary()
        ? Placement.DURABLE
        : Placement.VOLATILE;
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
    if (kind().isQueue() != (subscriptionKind == SubscriptionKind.QUEUE)
        || (kind().isQueue() && !subscriptions.isEmpty())) {
      throw new IllegalStateException(
          "%s cannot have a subscription of kind %s besides its %d"
              .formatted(name, subscriptionKind, subscriptions.size()));
    }
    Subscription opened =
        new Subscription(
            subscriptionId, this, subscriptionKind, clientId, subscriptionName, noLocal, memory);
    add(opened);
    return opened;
  }

  private void add(Subscription opened) {
    if (subscriptions.putIfAbsent(opened.id(), opened) != null) {
      throw new IllegalStateException("subscription " + opened.id() + " exists already");
    }
    durableSubscriptions += opened.kind().isDurable() ? 1 : 0;
  }

  /** Ends a subscription; what only it needed is needed no more. */
  public void close(Subscription subscription) {
    if (subscriptions.remove(subscription.id(), subscription)) {
      durableSubscriptions -= subscription.kind().isDurable() ? 1 : 0;
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

  /** Forgets sequences that every subscription has behind it. */
  public void trim() {
    long durableBelow = durable.extents.end();
    long volatileBelow = swift.extents.end();
    for (Subscription subscription : subscriptions.values()) {
      durableBelow = Math.min(durableBelow, subscription.firstUnacknowledged());
      volatileBelow = Math.min(volatileBelow, subscription.firstVolatileUnacknowledged());
    }
    durable.extents.trim(durableBelow);
    swift.extents.trim(volatileBelow);
    for (Subscription subscription : subscriptions.values()) {
      subscription.trim(durableBelow, volatileBelow);
    }
  }

  /**
   * The durable lane's part of a checkpoint that is decided now, or null if nothing of it lies in
   * the journal nor in a segment to be rewritten.
   *
   * @param rewritten whether one of its pieces is in a segment that is rewritten
   */
  public @Nullable LaneCheckpoint checkpoint(boolean rewritten) {
    if (durable.runs.isEmpty() && !rewritten) {
      return null;
    }
    return new LaneCheckpoint(this, rewritten);
  }

  /** How many entries of a piece somebody needs, at least; 0 only if nobody needs any. */
  public long needed(Piece piece) {
    long most = 0;
    for (Subscription subscription : subscriptions.values()) {
      most =
          Math.max(
              most,
              subscription
                  .durableCursor()
                  .unacknowledged(piece.firstSequence(), piece.lastSequence() + 1));
    }
    return Math.min(most, piece.count());
  }

  void clear() {
    for (Subscription subscription : subscriptions.values()) {
      subscription.clear();
    }
    subscriptions.clear();
    durableSubscriptions = 0;
    durable.clear();
    swift.clear();
  }

  /**
   * Writes the durable state: byte version 1, long id, byte kind, UTF name, settings, extents of
   * the durable lane, varint durable subscriptions, each of them. Places of entries are not in it.
   */
  public void encode(DataOutput out) throws IOException {
    out.writeByte(VERSION);
    out.writeLong(id);
    out.writeByte(kind().code());
    out.writeUTF(name.name());
    settings.encode(out);
    durable.extents.encode(out);
    Formats.writeVarint(out, durableSubscriptions);
    for (Subscription subscription : subscriptions.values()) {
      if (subscription.kind().isDurable()) {
        subscription.encode(out);
      }
    }
  }

  static Destination decode(DataInput in, Awaiting awaiting, OffHeap memory, VolatileStore store)
      throws IOException {
    Formats.version("destinations", in.readUnsignedByte(), VERSION);
    long id = in.readLong();
    DestinationName name;
    int kind = in.readUnsignedByte();
    String text = in.readUTF();
    try {
      name = new DestinationName(DestinationKind.of(kind), text);
    } catch (IllegalArgumentException e) {
      throw new IOException("destination " + id + " has kind " + kind + " and name " + text, e);
    }
    DestinationSettings settings = DestinationSettings.decode(in);
    Destination destination = new Destination(id, name, settings, awaiting, memory, store);
    destination.durable.extents.decode(in);
    destination.durable.recount();
    int count = Formats.readCount(in, "subscriptions", 1_000_000);
    for (int i = 0; i < count; i++) {
      destination.add(Subscription.decode(in, destination, memory));
    }
    return destination;
  }
}
