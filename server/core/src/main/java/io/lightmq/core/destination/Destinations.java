package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.DestinationName;
import java.io.DataInput;
import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** All destinations of a shard, by id and by name. Ids are never reused. */
@OwnedBy("shard")
public final class Destinations {
  /** Below the id of any destination. */
  public static final long BEFORE_ALL = Long.MIN_VALUE;

  private final Guard guard = new Guard();
  private final OffHeap memory;
  private final UnloggedStore store;
  private final AwaitedLanes awaiting = new AwaitedLanes();
  private final NamedHeap named = new NamedHeap();
  private final Map<Long, Destination> byId = new HashMap<>();

  /** The same by id, so that whoever looks at all of them can go on in a later turn. */
  private final NavigableMap<Long, Destination> inOrder = new TreeMap<>();

  private final Map<DestinationName, Destination> byName = new HashMap<>();
  private long nextId = 1;

  /** An empty registry whose destinations share the two memories. */
  public Destinations(OffHeap memory, UnloggedStore store) {
    this.memory = memory;
    this.store = store;
  }

  /**
   * Who may touch these, and all that is reached through them: whoever made them, until they are
   * handed over.
   */
  public Guard guard() {
    return guard;
  }

  /** The lowest id that no destination ever had; part of a snapshot. */
  public long nextId() {
    return nextId;
  }

  /** Raises the next id to what a snapshot says. */
  public void nextId(long atLeast) {
    guard.check();
    nextId = Math.max(nextId, atLeast);
  }

  /** The store of the unlogged lanes. */
  public UnloggedStore store() {
    return store;
  }

  /** The heap that all of them take. */
  public NamedHeap named() {
    return named;
  }

  /** Bytes outside the heap for cursors and places, not for unlogged entries. */
  public long offHeapBytes() {
    return memory.usedBytes();
  }

  /**
   * Applies a creation.
   *
   * @param id {@link #nextId} or higher; those of temporary destinations are in no record, come
   *     from a range of their own and leave the next id as it is
   */
  public Destination create(long id, DestinationName name, DestinationSettings settings) {
    guard.check();
    if (id < nextId) {
      throw new IllegalStateException(
          "destination id " + id + " for " + name + " is used up; the next is " + nextId);
    }
    Destination created =
        new Destination(id, name, settings, guard, awaiting, memory, store, named);
    add(created);
    return created;
  }

  private void add(Destination created) {
    if (byName.putIfAbsent(created.name(), created) != null) {
      throw new IllegalStateException(created.name() + " exists already");
    }
    byId.put(created.id(), created);
    inOrder.put(created.id(), created);
    if (!created.kind().isTemporary()) {
      nextId = Math.max(nextId, created.id() + 1);
    }
  }

  /** Applies a deletion: messages, subscriptions and memory go. Consumers are detached before. */
  public void delete(Destination destination) {
    guard.check();
    byId.remove(destination.id(), destination);
    inOrder.remove(destination.id(), destination);
    byName.remove(destination.name(), destination);
    destination.clear();
  }

  /** The destination of an id, or null. */
  public @Nullable Destination find(long id) {
    return byId.get(id);
  }

  /** The destination of a name, or null. */
  public @Nullable Destination find(DestinationName name) {
    return byName.get(name);
  }

  /**
   * The lane whose turn it is to be looked at, since something in it has expired; null if there is
   * none. It comes again when {@link Lane#lookedAt} was called. Hidden destinations have none.
   */
  public @Nullable Lane expiredLane(long nowMillis) {
    guard.check();
    return awaiting.due(nowMillis);
  }

  /** All destinations, rising by id. */
  public Collection<Destination> all() {
    return Collections.unmodifiableCollection(inOrder.values());
  }

  /** How many there are. */
  public int count() {
    return byId.size();
  }

  /**
   * The destination with the lowest id above one, null if there is none. For who looks at all of
   * them over many turns, in which others come and go; from {@link #BEFORE_ALL} on.
   */
  public @Nullable Destination after(long id) {
    Map.Entry<Long, Destination> next = inOrder.higherEntry(id);
    return next == null ? null : next.getValue();
  }

  /** The journal's marks have moved: tells each destination in which more became visible. */
  public void advance(long written, long durable, Consumer<Destination> moved) {
    guard.check();
    awaiting.advance(written, durable, moved);
  }

  /** Adds a destination that {@link Destination#encode} wrote. */
  public Destination decode(DataInput in) throws IOException {
    guard.check();
    Destination decoded = DestinationFormat.decode(in, guard, awaiting, memory, store, named);
    if (byId.containsKey(decoded.id())) {
      throw new IOException("destination " + decoded.id() + " is there twice");
    }
    add(decoded);
    return decoded;
  }

  /** Adds keys that {@link DuplicatePicture#next} wrote, once their destination is decoded. */
  public void decodeKeys(DataInput in) throws IOException {
    guard.check();
    long destinationId = in.readLong();
    long subscriptionId = in.readLong();
    Destination destination = byId.get(destinationId);
    Subscription subscription =
        destination == null ? null : destination.subscription(subscriptionId);
    Duplicates duplicates = subscription == null ? null : subscription.duplicates();
    if (duplicates == null) {
      throw new IOException(
          "keys of subscription %d of destination %d, which suppresses no duplicates"
              .formatted(subscriptionId, destinationId));
    }
    duplicates.decode(in);
  }
}
