package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/**
 * Where the messages of a transaction lie until it is decided, and where they go then. Changes
 * nothing; queues that are missing are created when a plan is carried out.
 */
@OwnedBy("shard")
public final class StagedRuns {
  private final ShardState state;
  private final Subscribing subscribing;
  private final Placing placing;
  private final DelayedRuns delayed;

  public StagedRuns(
      ShardState state, Subscribing subscribing, Placing placing, DelayedRuns delayed) {
    this.state = state;
    this.subscribing = subscribing;
    this.placing = placing;
    this.delayed = delayed;
  }

  /**
   * Adds the parcels of a run, by hidden queues.
   *
   * @param missing the hidden queues that the plan creates so far; more may be added
   * @throws Refusal if there is no room for what it needs, now or when it is released
   */
  void split(
      long transaction,
      Sender sender,
      Destination named,
      Runs.Checked run,
      Map<Filter, BitSet> known,
      Map<DestinationName, MissingQueue> missing,
      List<Parcel> parcels) {
    if (named.kind().isTemporary()) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR,
          "messages for temporary destinations are not staged; they come with the commit");
    }
    placing.checkLanesOf(named, run);
    if (!run.delayed()) {
      add(transaction, StagedQueue.AT_ONCE, sender, named, run, known, missing, parcels);
      return;
    }
    Map<Long, List<Integer>> byHour = delayed.byHour(sender, run);
    delayed.checkRoom(named, byHour.keySet());
    byHour.forEach(
        (hour, places) ->
            add(transaction, hour, sender, named, run.only(places), known, missing, parcels));
  }

  private void add(
      long transaction,
      long hour,
      Sender sender,
      Destination named,
      Runs.Checked part,
      Map<Filter, BitSet> known,
      Map<DestinationName, MissingQueue> missing,
      List<Parcel> parcels) {
    DestinationName name = StagedQueue.name(transaction, named.id(), hour);
    Destination there = state.destinations().find(name);
    // Who wants a delayed message is decided when it is due.
    Runs.Checked marked =
        hour >= 0 || named.kind().isQueue() ? part : placing.skips(sender, named, part, known);
    parcels.add(
        Parcel.staged(sender, there, there != null ? null : missing(name, named, missing), marked));
  }

  private MissingQueue missing(
      DestinationName name, Destination named, Map<DestinationName, MissingQueue> missing) {
    MissingQueue known = missing.get(name);
    if (known == null) {
      long before = 0;
      for (MissingQueue each : missing.values()) {
        before += each.heapBytes();
      }
      known = subscribing.holder(name, DelayedRuns.holderSettings(named), before);
      missing.put(name, known);
    }
    return known;
  }

  /**
   * Refuses a transaction that sends to what is gone.
   *
   * @throws Refusal if a destination is gone
   */
  void checkThere(StagedTransaction transaction) {
    for (StagedQueue queue : transaction.queues()) {
      Destination unused = target(queue);
    }
  }

  private Destination target(StagedQueue queue) {
    Destination named = state.destinations().find(queue.destinationId());
    if (named == null) {
      throw Transactions.rolledBack(Placing.goneText(queue.destinationId()));
    }
    return named;
  }

  /**
   * Where what was staged of a transaction goes.
   *
   * @throws Refusal if a destination is gone
   */
  List<Plan.ReleasedQueue> targets(StagedTransaction transaction) {
    List<Plan.ReleasedQueue> targets = new ArrayList<>();
    for (StagedQueue queue : transaction.queues()) {
      Destination named = target(queue);
      targets.add(
          queue.isDelayed()
              ? new Plan.ReleasedQueue(
                  queue, delayed.holder(named, queue.hour()), delayed.missing(named, queue.hour()))
              : new Plan.ReleasedQueue(queue, named, null));
    }
    return targets;
  }
}
