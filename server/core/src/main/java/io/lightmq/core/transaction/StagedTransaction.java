package io.lightmq.core.transaction;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.LaneSequences;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Held;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.BranchState;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A transaction that is kept before it is committed: its messages lie in hidden queues, what it
 * acknowledges is held. Or the name of one that an administrator has decided.
 */
@OwnedBy("shard")
public final class StagedTransaction {
  /** Sees who does not want messages that are staged. */
  @FunctionalInterface
  public interface Unwanted {
    /** Messages in a hidden queue that a subscription of their destination does not want. */
    void unwanted(long subscriptionId, LaneSequences messages);
  }

  /** So many messages, whose entries take so many bytes. */
  public record Amount(long messages, long bytes) {
    static final Amount NONE = new Amount(0, 0);

    Amount and(long moreMessages, long moreBytes) {
      return new Amount(messages + moreMessages, bytes + moreBytes);
    }
  }

  private final Guard guard;
  private final long id;
  private final TransactionName name;

  /** The lowest id that no subscription had when it began. */
  private final long subscriptionsBelow;

  /** Where its messages lie, by the ids of the queues. */
  private final Map<Long, StagedQueue> queues = new TreeMap<>();

  private final Map<Subscription, HeldMessages> held = new LinkedHashMap<>();

  /** Who does not want which of its messages: by hidden queue, then by subscription. */
  private final Map<Long, Map<Long, LaneSequences>> unwanted = new TreeMap<>();

  /** What is staged in each hidden queue. */
  private final Map<Long, Amount> amounts = new TreeMap<>();

  private long bytes;
  private long preparedMillis;
  private @Nullable BranchState branchState;
  private long newestPicture;

  StagedTransaction(Guard guard, long id, TransactionName name, long subscriptionsBelow) {
    this.guard = guard;
    this.id = id;
    this.name = name;
    this.subscriptionsBelow = subscriptionsBelow;
  }

  /** Unique in the shard, never reused. */
  public long id() {
    return id;
  }

  public TransactionName name() {
    return name;
  }

  /** What administrators call it: the branch id, or the id of a local transaction. */
  public String shownName() {
    return name instanceof TransactionName.OfUser branch
        ? branch.xid().toString()
        : String.valueOf(id);
  }

  /** The lowest id that no durable subscription had when it began: what is lower was asked. */
  public long subscriptionsBelow() {
    return subscriptionsBelow;
  }

  /** Whose branch it is; null for a local transaction. */
  public @Nullable String user() {
    return name instanceof TransactionName.OfUser branch ? branch.user() : null;
  }

  /** Where its messages lie, rising by the ids of the queues. */
  public Collection<StagedQueue> queues() {
    return Collections.unmodifiableCollection(queues.values());
  }

  /** What it acknowledges. */
  public Collection<HeldMessages> held() {
    return Collections.unmodifiableCollection(held.values());
  }

  /** Whether it acknowledges in a subscription. */
  public boolean touches(Subscription subscription) {
    return held.containsKey(subscription);
  }

  /** Whether it sends to a destination, or acknowledges in one of its subscriptions. */
  public boolean touches(Destination destination) {
    for (StagedQueue queue : queues.values()) {
      if (queue.destinationId() == destination.id()) {
        return true;
      }
    }
    for (Subscription each : held.keySet()) {
      if (each.destination() == destination) {
        return true;
      }
    }
    return false;
  }

  /** How many messages are staged of it. */
  public long messages() {
    return amounts.values().stream().mapToLong(Amount::messages).sum();
  }

  /** What is staged in a hidden queue. */
  public Amount amount(StagedQueue in) {
    return amounts.getOrDefault(in.queue().id(), Amount.NONE);
  }

  /** What their entries take. */
  public long bytes() {
    return bytes;
  }

  /** How many messages it acknowledges. */
  public long heldCount() {
    return held.values().stream().mapToLong(HeldMessages::size).sum();
  }

  /** Whether it is kept until it is decided. */
  public boolean isPrepared() {
    return branchState == BranchState.PREPARED;
  }

  /** What its user is told of it; null while it is neither prepared nor decided. */
  public @Nullable BranchState branchState() {
    return branchState;
  }

  /** When it was prepared, by the broker's clock. */
  public long preparedMillis() {
    return preparedMillis;
  }

  // ---- apply ----

  void came(StagedQueue queue) {
    queues.put(queue.queue().id(), queue);
  }

  void staged(long queueId, long count, long entryBytes) {
    amounts.merge(
        queueId,
        new Amount(count, entryBytes),
        (before, more) -> before.and(more.messages(), more.bytes()));
    bytes += entryBytes;
  }

  /** A subscription does not want some of the messages of a lane. */
  public void unwanted(long queueId, long subscriptionId, int lane, long first, BitSet places) {
    guard.check();
    LaneSequences of =
        unwanted
            .computeIfAbsent(queueId, id -> new TreeMap<>())
            .computeIfAbsent(subscriptionId, id -> queue(queueId).newSequences());
    for (int from = places.nextSetBit(0); from >= 0; ) {
      int end = places.nextClearBit(from);
      of.add(lane, first + from, end - from);
      from = places.nextSetBit(end);
    }
  }

  private Destination queue(long queueId) {
    StagedQueue queue = queues.get(queueId);
    if (queue == null) {
      throw new IllegalStateException(
          "queue " + queueId + " is none of the " + queues.size() + " of transaction " + id);
    }
    return queue.queue();
  }

  /** Shows who does not want which messages of a hidden queue. */
  public void forEachUnwanted(long queueId, Unwanted taker) {
    guard.check();
    unwanted.getOrDefault(queueId, Map.of()).forEach(taker::unwanted);
  }

  /** Whether something is known of a subscription for the messages of a hidden queue. */
  public boolean knows(long queueId, long subscriptionId) {
    return unwanted.getOrDefault(queueId, Map.of()).containsKey(subscriptionId);
  }

  void hold(Subscription subscription, Held record) {
    held.computeIfAbsent(subscription, HeldMessages::new)
        .hold(record.ranges(), record.seen().keys(), record.seen().atMillis());
  }

  void hold(HeldMessages decoded) {
    held.put(decoded.subscription(), decoded);
  }

  void prepared(long atMillis) {
    preparedMillis = atMillis;
    branchState = BranchState.PREPARED;
  }

  void branchState(@Nullable BranchState state, long atMillis) {
    branchState = state;
    preparedMillis = atMillis;
  }

  Map<Long, Amount> amounts() {
    return amounts;
  }

  Map<Long, Map<Long, LaneSequences>> unwanted() {
    return unwanted;
  }

  LaneSequences newUnwanted(long queueId, long subscriptionId) {
    return unwanted
        .computeIfAbsent(queueId, id -> new TreeMap<>())
        .computeIfAbsent(subscriptionId, id -> queue(queueId).newSequences());
  }

  /** Nothing of it is kept any more but, perhaps, its name. */
  void clear() {
    unwanted.values().forEach(each -> each.values().forEach(LaneSequences::clear));
    unwanted.clear();
    queues.clear();
    held.clear();
    amounts.clear();
    bytes = 0;
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
}
