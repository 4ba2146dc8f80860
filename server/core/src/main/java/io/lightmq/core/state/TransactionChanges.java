package io.lightmq.core.state;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.LaneSequences;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Released;
import io.lightmq.core.record.ShardRecord.ReleasedLane;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.wire.entry.SequenceRange;
import java.util.List;
import java.util.function.Consumer;

/** How transactions end that are kept before they are committed; a part of {@link ShardState}. */
final class TransactionChanges {
  private final Destinations destinations;
  private final StagedTransactions transactions;
  private final Consumer<Destination> tell;
  private final Consumer<Destination> beforeTakeOver;

  /**
   * Ends those of one state.
   *
   * @param tell told of a destination that is about to change
   * @param beforeTakeOver told of one whose lanes are about to be taken over
   */
  TransactionChanges(
      Destinations destinations,
      StagedTransactions transactions,
      Consumer<Destination> tell,
      Consumer<Destination> beforeTakeOver) {
    this.destinations = destinations;
    this.transactions = transactions;
    this.tell = tell;
    this.beforeTakeOver = beforeTakeOver;
  }

  /** What was staged is in its destinations, what is held is acknowledged. */
  void released(Released record) {
    StagedTransaction transaction = transactions.get(record.transaction());
    for (HeldMessages held : transaction.held()) {
      tell.accept(held.subscription().destination());
      held.acknowledge();
    }
    for (StagedQueue queue : transaction.queues()) {
      tell.accept(queue.queue());
      beforeTakeOver.accept(queue.queue());
    }
    for (ReleasedLane lane : record.lanes()) {
      release(transaction, lane, record.atMillis());
    }
    end(transaction);
  }

  private void release(StagedTransaction transaction, ReleasedLane released, long atMillis) {
    Destination staged = destination(released.stagedId());
    Destination to = destination(released.destinationId());
    tell.accept(to);
    if (staged.isGroupedDurably()) {
      to.group(true);
    }
    DurableLane from = staged.durable(LaneCode.priority(released.lane()));
    DurableLane into = to.durable(LaneCode.priority(released.lane()));
    long shift = released.firstSequence() - from.firstExisting();
    long last = released.firstSequence() + released.count() - 1;
    List<SequenceRange> aside = staged.damaged().within(from, from.firstExisting(), from.last());
    List<SequenceRange> gone = LaneSequences.acknowledged(staged.queueSubscription(), from);
    into.takeOver(from, released.firstSequence(), atMillis);
    if (into.last() != last) {
      throw new IllegalStateException(
          "a record releases "
              + released.count()
              + " messages up to "
              + last
              + ", not "
              + into.last());
    }
    for (Subscription each : to.subscriptions()) {
      gone.forEach(range -> each.acknowledge(into.code(), range.from() + shift, range.count()));
    }
    transaction.forEachUnwanted(
        staged.id(),
        (subscriptionId, messages) -> {
          Subscription passing = to.subscription(subscriptionId);
          if (passing != null) {
            messages.forEach(
                (lane, first, count) -> {
                  if (lane == into.code()) {
                    passing.acknowledge(lane, first + shift, count);
                  }
                });
          }
        });
    if (!aside.isEmpty()) {
      to.damaged()
          .setAside(
              aside.stream()
                  .map(each -> new SequenceRange(each.lane(), each.from() + shift, each.count()))
                  .toList());
    }
  }

  /** What was staged is gone, what is held is free again. */
  void dropped(StagedTransaction transaction) {
    for (HeldMessages held : transaction.held()) {
      tell.accept(held.subscription().destination());
      held.giveBack();
    }
    transaction.queues().forEach(queue -> tell.accept(queue.queue()));
    end(transaction);
  }

  private void end(StagedTransaction transaction) {
    List<StagedQueue> queues = List.copyOf(transaction.queues());
    transactions.ended(transaction);
    queues.forEach(queue -> destinations.delete(queue.queue()));
  }

  private Destination destination(long id) {
    Destination found = destinations.find(id);
    if (found == null) {
      throw new IllegalStateException("a record names destination " + id + ", unknown");
    }
    return found;
  }
}
