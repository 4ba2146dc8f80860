package io.lightmq.core.state;

import io.lightmq.core.destination.DamagedMessages;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Interest;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.AttemptTakenBack;
import io.lightmq.core.record.ShardRecord.Attempted;
import io.lightmq.core.record.ShardRecord.Committed;
import io.lightmq.core.record.ShardRecord.Decided;
import io.lightmq.core.record.ShardRecord.Delivered;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.DestinationDeleted;
import io.lightmq.core.record.ShardRecord.DestinationSet;
import io.lightmq.core.record.ShardRecord.Dropped;
import io.lightmq.core.record.ShardRecord.Entries;
import io.lightmq.core.record.ShardRecord.Epoch;
import io.lightmq.core.record.ShardRecord.Forgotten;
import io.lightmq.core.record.ShardRecord.Held;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.record.ShardRecord.Part;
import io.lightmq.core.record.ShardRecord.Prepared;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Purged;
import io.lightmq.core.record.ShardRecord.Refused;
import io.lightmq.core.record.ShardRecord.Released;
import io.lightmq.core.record.ShardRecord.SetAside;
import io.lightmq.core.record.ShardRecord.StagedUnwanted;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.core.record.ShardRecord.SubscriptionClosed;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.record.ShardRecord.SubscriptionOwned;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.InvalidSelectorException;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.transaction.Links;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.SequenceRange;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The durable state of a shard: what {@link #apply} makes of the records, in journal order and
 * without looking at anything else. Deciding is done elsewhere, on what is seen here.
 */
@OwnedBy("shard")
public final class ShardState {

  /** Told of what a record changes before it does, so that a snapshot can encode it first. */
  interface ChangeListener {
    /** The destination is about to change. */
    void beforeChange(Destination destination);

    /** The transaction is about to change. */
    void beforeChange(StagedTransaction transaction);
  }

  /** Told of where messages are about to lie under another name. */
  public interface TakeOvers {
    /** What lies in the lanes of a destination is about to be others'. */
    void beforeTakeOver(Destination given);
  }

  private final Guard guard;
  private final Destinations destinations;
  private final Links links;
  private final StagedTransactions transactions;
  private final TransactionChanges transactionChanges;
  private final Map<SubscriptionKey, Subscription> durableSubscriptions = new HashMap<>();
  private final ClientIdOwners clientIdOwners = new ClientIdOwners();
  private long epoch;
  private boolean stopped;
  private boolean deliveriesKnown = true;
  private long nextSubscriptionId = 1;

  /** Ids that this process has given to what lives in memory only; in no record. */
  private long unloggedIds;

  private @Nullable ChangeListener listener;
  private @Nullable TakeOvers takeOvers;
  private long pictures;

  public ShardState(Destinations destinations) {
    this.guard = destinations.guard();
    this.destinations = destinations;
    this.transactions = new StagedTransactions(guard);
    this.transactionChanges =
        new TransactionChanges(destinations, transactions, this::tell, this::beforeTakeOver);
    this.links = new Links(guard);
  }

  /** Who may touch this state, and whatever an owner has beside it. */
  public Guard guard() {
    return guard;
  }

  /** All destinations. */
  public Destinations destinations() {
    return destinations;
  }

  /** All links. */
  public Links links() {
    return links;
  }

  /** What is kept of transactions before they are committed. */
  public StagedTransactions transactions() {
    return transactions;
  }

  /** The shard epoch: the number of the start, raised when a counter runs out. */
  public long epoch() {
    return epoch;
  }

  /** Whether the last record said that the shard was closed in order. */
  public boolean stopped() {
    return stopped;
  }

  /**
   * Says whether all that was delivered is known here: an owner knows it, and says at its start
   * what may have been before. Whoever was only shown records does not, since it is in none but
   * that of an orderly end.
   */
  public void deliveriesKnown(boolean known) {
    guard.check();
    deliveriesKnown = known;
  }

  /** Whether the last record is an orderly end, and what was delivered before it is known. */
  public boolean endedKnowingDeliveries() {
    return stopped && deliveriesKnown;
  }

  /** The lowest subscription id that was never used. */
  public long nextSubscriptionId() {
    return nextSubscriptionId;
  }

  /** How many ids this process has given to what lives in memory only. */
  public long unloggedIds() {
    return unloggedIds;
  }

  /** The number of the next such id. */
  public long takeUnloggedId() {
    guard.check();
    return unloggedIds++;
  }

  /** A durable subscription by its name, or null. */
  public @Nullable Subscription durableSubscription(SubscriptionKey key) {
    return durableSubscriptions.get(key);
  }

  /** Whether a durable subscription belongs to a client id. */
  public boolean hasDurableOf(String clientId) {
    return clientIdOwners.knows(clientId);
  }

  /** Whose the client ids of durable subscriptions are. */
  public ClientIdOwners clientIdOwners() {
    return clientIdOwners;
  }

  /** A number that no snapshot of this state had. */
  long nextPicture() {
    return ++pictures;
  }

  /** Watches changes while a snapshot is being encoded; null for not any more. */
  void watch(@Nullable ChangeListener changes) {
    listener = changes;
  }

  /** Watches where messages come to lie under another name; null for not any more. */
  public void watchTakeOvers(@Nullable TakeOvers watcher) {
    guard.check();
    takeOvers = watcher;
  }

  private void beforeTakeOver(Destination given) {
    if (takeOvers != null) {
      takeOvers.beforeTakeOver(given);
    }
  }

  /** Sets what a snapshot said, before anything is applied. */
  void restore(long snapshotEpoch, boolean snapshotStopped, long subscriptionId) {
    guard.check();
    epoch = snapshotEpoch;
    stopped = snapshotStopped;
    nextSubscriptionId = subscriptionId;
    for (Destination destination : destinations.all()) {
      for (Subscription subscription : destination.subscriptions()) {
        remember(subscription);
      }
    }
  }

  // ---- apply ----

  /**
   * Changes the state by one record. Whatever follows from records is fed here, so live work, a
   * start and whoever only follows the journal have the same.
   *
   * @param bytes the batch that has the record, in which its entries lie
   */
  public void apply(ShardRecord record, BatchBytes bytes) {
    guard.check();
    stopped = false;
    if (record instanceof Published r) {
      published(r, bytes);
    } else if (record instanceof Acked r) {
      Subscription subscription = changing(r.destinationId(), r.subscriptionId());
      subscription.remember(r.seen().keys(), r.seen().atMillis());
      subscription.acknowledge(r.ranges());
    } else if (record instanceof Committed r) {
      for (Part part : r.parts()) {
        apply((ShardRecord) part, bytes);
      }
      if (r.link() != null && r.number() > 0) {
        links.taken(r.link(), r.number());
      }
    } else if (record instanceof Touched r) {
      changing(r.destinationId(), r.subscriptionId()).seen().touch(r.lane(), r.from(), r.count());
    } else if (record instanceof Attempted r) {
      changing(r.destinationId(), r.subscriptionId()).attempted(r.ranges());
    } else if (record instanceof AttemptTakenBack r) {
      changing(r.destinationId(), r.subscriptionId()).takeBackAttempts(r.ranges());
    } else if (record instanceof LinkAttached r) {
      links.attached(r);
    } else if (record instanceof LinkClosed r) {
      links.closed(r.link());
    } else if (record instanceof Refused r) {
      links.refused(r.link(), r.number(), r.code(), r.text());
    } else {
      applyRare(record);
    }
  }

  private void applyRare(ShardRecord record) {
    if (record instanceof Started r) {
      started(r);
    } else if (record instanceof Stopped r) {
      stopped(r);
    } else if (record instanceof Epoch r) {
      epoch = r.next();
    } else if (record instanceof DestinationCreated r) {
      Destination created = destinations.create(r.destinationId(), r.name(), r.settings());
      if (created.kind().isQueue()) {
        created.open(created.id(), SubscriptionKind.QUEUE, null, null, false);
      }
      StagedQueue staged = StagedQueue.of(created);
      if (staged != null) {
        changing(transactions.get(staged.transaction()));
        transactions.came(staged);
      }
    } else if (record instanceof DestinationSet r) {
      changing(r.destinationId()).set(r.settings());
    } else if (record instanceof DestinationDeleted r) {
      deleted(changing(r.destinationId()));
    } else if (record instanceof SubscriptionOpened r) {
      opened(r);
    } else if (record instanceof SubscriptionOwned r) {
      Subscription owned = changing(r.destinationId(), r.subscriptionId());
      owned.owned(r.owner());
      clientIdOwners.owned(owned);
    } else if (record instanceof SubscriptionClosed r) {
      closed(changing(r.destinationId(), r.subscriptionId()));
    } else if (record instanceof Purged r) {
      purged(r);
    } else if (record instanceof SetAside r) {
      setAside(r);
    } else {
      applyOfTransaction(record);
    }
  }

  private void applyOfTransaction(ShardRecord record) {
    if (record instanceof TransactionBegun r) {
      transactions.begun(r, nextSubscriptionId);
    } else if (record instanceof Held r) {
      changing(transactions.get(r.transaction()));
      transactions.held(changing(r.destinationId(), r.subscriptionId()), r);
    } else if (record instanceof StagedUnwanted r) {
      changing(transactions.get(r.transaction()))
          .unwanted(
              r.stagedId(),
              r.unwanted().subscriptionId(),
              r.lane(),
              r.firstSequence(),
              r.unwanted().messages());
    } else if (record instanceof Prepared r) {
      changing(transactions.get(r.transaction()));
      transactions.prepared(r.transaction(), r.atMillis());
    } else if (record instanceof Released r) {
      changing(transactions.get(r.transaction()));
      transactionChanges.released(r);
    } else if (record instanceof Dropped r) {
      transactionChanges.dropped(changing(transactions.get(r.transaction())));
    } else if (record instanceof Decided r) {
      changing(transactions.get(r.transaction()));
      transactions.decided(r.transaction(), r.committed());
    } else if (record instanceof Forgotten r) {
      changing(transactions.get(r.transaction()));
      transactions.forgotten(r.transaction());
    } else {
      throw new IllegalStateException("nobody applies " + record);
    }
  }

  private void stopped(Stopped record) {
    if (record.counted()) {
      for (Destination destination : destinations.all()) {
        for (Subscription each : destination.subscriptions()) {
          if (each.seen().hasDeliveries()) {
            tell(destination);
            each.seen().forgetDeliveries();
          }
        }
      }
      for (Delivered each : record.delivered()) {
        changing(each.destinationId(), each.subscriptionId())
            .seen()
            .delivered(each.deliveries(), each.ranges());
      }
      deliveriesKnown = true;
    }
    stopped = true;
  }

  private void started(Started record) {
    if (record.epoch() <= epoch) {
      throw new IllegalStateException(
          "shard epoch " + record.epoch() + " begins after " + epoch + "; epochs only rise");
    }
    epoch = record.epoch();
    for (StagedTransaction transaction : List.copyOf(transactions.all())) {
      if (transaction.branchState() == null) {
        transactionChanges.dropped(changing(transaction));
      }
    }
    if (!record.clean()) {
      for (Destination destination : destinations.all()) {
        tell(destination);
        destination.subscriptions().forEach(each -> each.seen().flagTouched());
      }
    }
  }

  private void published(Published record, BatchBytes bytes) {
    if (!LaneCode.isDurable(record.lane())) {
      throw new IllegalStateException(
          "a record publishes into lane " + record.lane() + ", which is unlogged");
    }
    DurableLane lane = changing(record.destinationId()).durable(LaneCode.priority(record.lane()));
    Entries entries = record.entries();
    if (entries.grouped()) {
      lane.destination().group(true);
    }
    lane.append(record.firstSequence(), entries.count());
    long offset = entries.offset();
    long sequence = record.firstSequence();
    for (int length : entries.lengths()) {
      lane.entry(sequence++, offset, length, bytes.getLong(offset + Entry.EXPIRY_AT));
      offset += length;
    }
    if (lane.destination().isStaged()) {
      staged(record, lane.destination());
      return;
    }
    for (Unwanted unwanted : record.unwanted()) {
      subscription(lane.destination(), unwanted.subscriptionId())
          .pass(lane, record.firstSequence(), unwanted.messages());
    }
    lane.came(sequence - 1, bytes.getLong(entries.offset() + Entry.ENQUEUED_AT));
    if (record.link() != null) {
      links.taken(record.link(), record.number());
    }
  }

  private void staged(Published record, Destination queue) {
    StagedQueue staged = StagedQueue.of(queue);
    if (staged == null) {
      throw new IllegalStateException(queue.name() + " is of no transaction");
    }
    StagedTransaction transaction = changing(transactions.get(staged.transaction()));
    transactions.staged(
        transaction, queue.id(), record.entries().count(), record.entries().bytes());
    for (Unwanted unwanted : record.unwanted()) {
      transaction.unwanted(
          queue.id(),
          unwanted.subscriptionId(),
          record.lane(),
          record.firstSequence(),
          unwanted.messages());
    }
  }

  private void opened(SubscriptionOpened record) {
    ShardRecord.Replaced replaced = record.replaces();
    if (replaced != null) {
      closed(changing(replaced.destinationId(), replaced.subscriptionId()));
    }
    nextSubscriptionId = Math.max(nextSubscriptionId, record.subscriptionId() + 1);
    Interest interest = new Interest(selector(record), record.noLocal(), 0);
    Subscription opened =
        changing(record.destinationId())
            .open(
                record.subscriptionId(), record.kind(), record.clientId(), record.name(), interest);
    opened.owned(record.owner());
    remember(opened);
  }

  private static @Nullable Selector selector(SubscriptionOpened record) {
    String text = record.selector();
    if (text == null) {
      return null;
    }
    try {
      return Selector.parse(text);
    } catch (InvalidSelectorException e) {
      throw new IllegalStateException(
          "a record opens subscription " + record.subscriptionId() + " with a bad selector", e);
    }
  }

  private void closed(Subscription subscription) {
    forget(subscription);
    subscription.destination().close(subscription);
  }

  private void setAside(SetAside record) {
    DamagedMessages damaged = changing(record.destinationId()).damaged();
    switch (record.action()) {
      case SET_ASIDE -> damaged.setAside(record.ranges());
      case GIVEN_BACK -> damaged.giveBack(record.ranges());
      case DROPPED -> damaged.drop(record.ranges());
    }
  }

  private void purged(Purged record) {
    purge(changing(record.destinationId(), record.subscriptionId()), record);
  }

  /** Acknowledges what a purge takes. */
  public static void purge(Subscription subscription, Purged record) {
    long from = 0;
    for (SequenceRange kept : record.kept()) {
      if (kept.from() > from) {
        subscription.acknowledge(record.lane(), from, kept.from() - from);
      }
      from = kept.from() + kept.count();
    }
    if (from <= record.through()) {
      subscription.acknowledge(record.lane(), from, record.through() - from + 1);
    }
  }

  private void deleted(Destination destination) {
    destination.subscriptions().forEach(this::forget);
    destinations.delete(destination);
  }

  private void remember(Subscription subscription) {
    String name = subscription.name();
    if (subscription.kind().isDurable() && name != null) {
      durableSubscriptions.put(new SubscriptionKey(subscription.clientId(), name), subscription);
      clientIdOwners.opened(subscription);
    }
  }

  private void forget(Subscription subscription) {
    String name = subscription.name();
    if (subscription.kind().isDurable() && name != null) {
      durableSubscriptions.remove(new SubscriptionKey(subscription.clientId(), name));
      clientIdOwners.closed(subscription);
    }
  }

  private Destination changing(long destinationId) {
    Destination destination = destinations.find(destinationId);
    if (destination == null) {
      throw new IllegalStateException("a record names destination " + destinationId + ", unknown");
    }
    tell(destination);
    return destination;
  }

  private Subscription changing(long destinationId, long subscriptionId) {
    return subscription(changing(destinationId), subscriptionId);
  }

  private static Subscription subscription(Destination destination, long subscriptionId) {
    Subscription subscription = destination.subscription(subscriptionId);
    if (subscription == null) {
      throw new IllegalStateException(
          "a record names subscription "
              + subscriptionId
              + " of destination "
              + destination.id()
              + ", unknown");
    }
    return subscription;
  }

  private StagedTransaction changing(StagedTransaction transaction) {
    if (listener != null) {
      listener.beforeChange(transaction);
    }
    return transaction;
  }

  private void tell(Destination destination) {
    if (listener != null) {
      listener.beforeChange(destination);
    }
  }
}
