package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.transaction.Link;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Decides transactions: all that one does is checked before the first byte of it is recorded. */
@OwnedBy("shard")
final class Transactions {
  private final BrokerSettings settings;
  private final ShardState state;
  private final Recorder recorder;
  private final Settlements settlements;
  private final Ready ready;
  private final Counters counters;
  private final Placing placing;
  private final Receipts receipts;

  Transactions(
      BrokerSettings settings,
      ShardState state,
      Recorder recorder,
      Settlements settlements,
      Ready ready,
      Counters counters,
      Placing placing,
      Receipts receipts) {
    this.settings = settings;
    this.state = state;
    this.recorder = recorder;
    this.settlements = settlements;
    this.ready = ready;
    this.counters = counters;
    this.placing = placing;
    this.receipts = receipts;
  }

  /** What a transaction will do, checked before the first byte of it is recorded. */
  private static final class Plan {
    final Map<Command.StagedRun, Destination> durable = new LinkedHashMap<>();
    final Map<Command.StagedRun, Destination> swift = new LinkedHashMap<>();
    final List<Settlements.Accepted> acked = new ArrayList<>();
    final Map<Destination, Integer> counts = new LinkedHashMap<>();
    int records;
    int volatileCount;
    long volatileBytes;
    long durableBytes;
    @Nullable Mark mark;

    void needs(Destination destination) {
      Mark wanted = destination.settings().tier().mark();
      Mark known = mark;
      mark = known == null || wanted.compareTo(known) > 0 ? wanted : known;
    }
  }

  /**
   * Decides a commit whose number is next, and records it.
   *
   * @throws Refusal if it is rolled back; nothing of it is recorded then
   */
  void decide(PeerSession session, Link link, Command.Commit command) {
    Plan plan = new Plan();
    for (Command.StagedRun run : command.runs()) {
      plan(session, run, plan);
    }
    checkSize(command);
    plan.durableBytes += RecordBytes.of(command.acked());
    checkBatch(plan);
    for (Command.Acked acked : command.acked()) {
      plan(session, acked, plan);
    }
    if (plan.volatileCount > 0 && !placing.fits(plan.volatileCount, plan.volatileBytes)) {
      throw rolledBack(
          "its "
              + plan.volatileBytes
              + " bytes of non-persistent messages find no room beside "
              + state.destinations().store().usedBytes()
              + " of "
              + settings.volatileBytes());
    }
    apply(session, link, command, plan);
  }

  private void plan(PeerSession session, Command.StagedRun run, Plan plan) {
    long bytes = placing.check(session, run.count(), run.messages().buffer());
    Destination destination = state.destinations().find(run.destinationId());
    if (destination == null) {
      throw rolledBack(Placing.goneText(run.destinationId()));
    }
    switch (destination.placement(run.persistent())) {
      case DURABLE -> {
        if (placing.diskFull()) {
          throw rolledBack(
              "less than " + settings.minFreeBytes() + " bytes are free on the broker's disk");
        }
        plan.durable.put(run, destination);
        plan.needs(destination);
        plan.counts.merge(destination, run.count(), Integer::sum);
        plan.durableBytes += bytes + Entry.HEADER_BYTES;
        plan.records++;
      }
      case VOLATILE -> {
        plan.swift.put(run, destination);
        plan.volatileCount += run.count();
        plan.volatileBytes += bytes;
      }
      case NOWHERE -> {}
    }
  }

  private void checkBatch(Plan plan) {
    if (plan.durableBytes > settings.maxBatchBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "its entries and acknowledgements take "
              + plan.durableBytes
              + " bytes, more than "
              + settings.maxBatchBytes()
              + ", the journal's longest batch");
    }
  }

  private void checkSize(Command.Commit command) {
    long bytes = 0;
    for (Command.StagedRun run : command.runs()) {
      bytes += run.messages().buffer().remaining() - 4L * run.count();
    }
    if (bytes > settings.maxTransactionBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "the transaction has "
              + bytes
              + " bytes of messages, the limit is "
              + settings.maxTransactionBytes());
    }
  }

  private void plan(PeerSession session, Command.Acked acked, Plan plan) {
    Settlements.Accepted accepted = settlements.look(session, acked);
    if (accepted == null) {
      throw rolledBack(
          "consumer "
              + acked.consumerId()
              + " or destination "
              + acked.destinationId()
              + " is gone");
    }
    if (accepted.refused() > 0) {
      throw rolledBack(
          accepted.refused()
              + " messages received by consumer "
              + acked.consumerId()
              + " are not in flight to it any more");
    }
    plan.acked.add(accepted);
    if (!accepted.recorded().isEmpty()) {
      plan.needs(accepted.subscription().destination());
      plan.records += accepted.records(Reason.ACKNOWLEDGED).size();
    }
  }

  private static Refusal rolledBack(String why) {
    return new Refusal(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction is rolled back: " + why);
  }

  private void apply(PeerSession session, Link link, Command.Commit command, Plan plan) {
    Mark mark = plan.mark;
    if (mark != null) {
      record(session, link.id(), command.number(), plan, mark);
    } else {
      state.links().taken(link.id(), command.number());
    }
    plan.swift.forEach(
        (run, destination) ->
            placing.storeVolatile(
                session, destination, run.persistent(), run.count(), run.messages().buffer()));
    for (Destination destination : new LinkedHashSet<>(plan.swift.values())) {
      if (mark != null) {
        recorder.show(destination.swift(), mark);
      } else {
        destination.swift().show();
        ready.add(destination);
      }
    }
    for (Settlements.Accepted accepted : plan.acked) {
      settlements.settle(accepted);
      counters.acknowledged(
          accepted.subscription().destination().id(),
          accepted.subscription().id(),
          accepted.count());
    }
    count(plan.durable, true);
    count(plan.swift, false);
    receipts.answerBehind(awaited(plan), session.peer(), command.correlation());
  }

  /** The mark of the transaction, and of what its messages wait behind. */
  private static @Nullable Mark awaited(Plan plan) {
    Mark strongest = plan.mark;
    for (Destination destination : plan.swift.values()) {
      Mark behind = destination.awaited();
      if (behind != null && (strongest == null || behind.compareTo(strongest) > 0)) {
        strongest = behind;
      }
    }
    return strongest;
  }

  private void count(Map<Command.StagedRun, Destination> published, boolean durable) {
    published.forEach(
        (run, destination) ->
            placing.count(destination, run.count(), run.messages().buffer().remaining(), durable));
  }

  private void record(PeerSession session, UUID link, long number, Plan plan, Mark mark) {
    // Another shard epoch, if one is needed, has to begin before the transaction's record does.
    plan.counts.forEach(
        (destination, count) -> recorder.firstSequence(destination.durable(), count));
    Recorder.Transaction transaction = recorder.begin(link, number, plan.records, mark);
    plan.durable.forEach(
        (run, destination) ->
            transaction.publish(
                destination,
                placing.stamp(session, destination, Destination.DURABLE_LANE, true),
                run.count(),
                run.messages().buffer()));
    for (Settlements.Accepted accepted : plan.acked) {
      accepted.records(Reason.ACKNOWLEDGED).forEach(transaction::acknowledge);
    }
    transaction.commit();
  }
}
