package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.transaction.Link;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private final Delays delays;
  private final Matchings matchings;

  Transactions(
      BrokerSettings settings,
      ShardState state,
      Recorder recorder,
      Settlements settlements,
      Ready ready,
      Counters counters,
      Placing placing,
      Receipts receipts,
      Delays delays,
      Matchings matchings) {
    this.settings = settings;
    this.state = state;
    this.recorder = recorder;
    this.settlements = settlements;
    this.ready = ready;
    this.counters = counters;
    this.placing = placing;
    this.receipts = receipts;
    this.delays = delays;
    this.matchings = matchings;
  }

  /**
   * A run of the transaction and what of it is wanted.
   *
   * @param named the destination that the sender named; the run goes there or under a holder
   */
  private record Placed(
      Destination destination,
      Destination named,
      boolean persistent,
      Runs.Checked sent,
      Runs.Checked run) {
    boolean mayBeDurable() {
      return persistent && !named.kind().isTemporary();
    }

    Placement placement() {
      return Placing.placement(destination, mayBeDurable(), run);
    }
  }

  /** What a transaction will do, checked before the first byte of it is recorded. */
  private static final class Plan {
    final List<Placed> runs = new ArrayList<>();
    final List<Placed> durable = new ArrayList<>();
    final List<Placed> unlogged = new ArrayList<>();
    final List<Placed> nowhere = new ArrayList<>();
    final List<Settlements.Accepted> acked = new ArrayList<>();
    int records;
    int unloggedCount;
    long unloggedBytes;
    long durableBytes;
    @Nullable Mark mark;

    /** The strongest of all destinations that persistent messages are sent to, stored or not. */
    @Nullable Mark sent;

    void needs(Destination destination) {
      mark = strongest(mark, destination.settings().tier().mark());
    }

    void sends(Destination destination) {
      sent = strongest(sent, destination.settings().tier().mark());
    }

    /** If anything is recorded, the strongest of all its destinations counts for it. */
    void settleMark() {
      Mark recorded = mark;
      if (recorded != null && sent != null) {
        mark = strongest(recorded, sent);
      }
    }

    private static Mark strongest(@Nullable Mark known, Mark other) {
      return known == null || other.compareTo(known) > 0 ? other : known;
    }
  }

  /** Whether there is room for the unlogged messages of a commit, if ever there can be. */
  boolean fits(PeerSession session, Command.Commit command) {
    long count = 0;
    long bytes = 0;
    for (Command.StagedRun run : command.runs()) {
      Destination destination = state.destinations().find(run.destinationId());
      if (destination != null
          && destination.placement(run.persistent()) == Destination.Placement.UNLOGGED) {
        count += run.count();
        bytes +=
            run.messages().buffer().remaining()
                + (long) run.count() * (Entry.HEADER_BYTES + session.user().length);
      }
    }
    return count == 0 || !placing.mayFit(count, bytes) || placing.fits(count, bytes);
  }

  /**
   * Decides a commit whose number is next, and records it.
   *
   * @throws Refusal if it is rolled back; nothing of it is recorded then
   */
  void decide(PeerSession session, Link link, Command.Commit command) {
    Plan plan = new Plan();
    for (int i = 0; i < command.runs().size(); i++) {
      plan(session, command.runs().get(i), matchings.of(command, i), plan);
    }
    place(plan);
    checkSize(command);
    for (Command.Acked acked : command.acked()) {
      plan(session, acked, plan);
    }
    checkBatch(plan);
    if (plan.unloggedCount > 0 && !placing.fits(plan.unloggedCount, plan.unloggedBytes)) {
      throw new Refusal(
          FaultCode.MEMORY_FULL,
          "the transaction is rolled back: its "
              + plan.unloggedBytes
              + " bytes of non-persistent messages find no room beside "
              + state.destinations().store().usedBytes()
              + " of "
              + settings.memory().unloggedBytes()
              + ", and "
              + placing.overflowText());
    }
    plan.settleMark();
    apply(session, link, command.number(), command.correlation(), plan);
  }

  /**
   * Decides a run of which some messages are delayed: parts of it go under holders, all of it
   * counts together.
   *
   * @return false if it has to wait for memory
   */
  boolean decide(
      PeerSession session, Link link, Command.Publish command, Destination to, Runs.Checked run) {
    boolean persistent = command.number() > 0;
    Plan plan = new Plan();
    if (persistent) {
      plan.sends(to);
    }
    planDelayed(session, to, persistent, run, matchings.of(command, 0), plan);
    place(plan);
    if (plan.unloggedCount > 0 && !placing.fits(plan.unloggedCount, plan.unloggedBytes)) {
      return false;
    }
    checkBatch(plan);
    plan.settleMark();
    apply(session, link, command.number(), command.correlation(), plan);
    return true;
  }

  private void plan(
      PeerSession session, Command.StagedRun run, Map<Filter, BitSet> known, Plan plan) {
    Runs.Checked checked = placing.check(session, run.count(), run.messages().buffer());
    Destination destination = state.destinations().find(run.destinationId());
    if (destination == null) {
      throw rolledBack(Placing.goneText(run.destinationId()));
    }
    if (run.persistent()) {
      plan.sends(destination);
    }
    if (!checked.delayed()) {
      Runs.Checked wanted = placing.select(session, destination, checked, known);
      plan.runs.add(new Placed(destination, destination, run.persistent(), checked, wanted));
      return;
    }
    planDelayed(session, destination, run.persistent(), checked, known, plan);
  }

  /** Plans a run of which some messages are delayed: each goes under a holder or at once. */
  private void planDelayed(
      PeerSession session,
      Destination named,
      boolean persistent,
      Runs.Checked run,
      Map<Filter, BitSet> known,
      Plan plan) {
    delays
        .split(named, run)
        .forEach(
            (to, part) -> {
              Runs.Checked wanted = to == named ? placing.select(session, to, part, known) : part;
              plan.runs.add(new Placed(to, named, persistent, part, wanted));
            });
  }

  /**
   * Says of all runs where they go. The records come before the unlogged messages, so if one
   * persistent run of a destination is recorded, all of them are: their order has to hold.
   */
  private void place(Plan plan) {
    Set<Destination> recorded = new HashSet<>();
    for (Placed placed : plan.runs) {
      if (placed.placement() == Placement.DURABLE) {
        recorded.add(placed.destination());
      }
    }
    for (Placed placed : plan.runs) {
      Placement placement = placed.placement();
      boolean follows =
          placement == Placement.UNLOGGED
              && placed.mayBeDurable()
              && recorded.contains(placed.destination());
      place(placed, follows ? Placement.DURABLE : placement, plan);
    }
  }

  private void place(Placed placed, Placement placement, Plan plan) {
    Runs.Checked wanted = placed.run();
    placing.checkLanes(placed.destination(), placement, wanted.priorities());
    switch (placement) {
      case DURABLE -> {
        placing.checkDisk(); // its code tells that no application has failed
        int parts = Integer.bitCount(wanted.priorities());
        plan.durable.add(placed);
        plan.needs(placed.named());
        plan.durableBytes +=
            wanted.entryBytes() + RecordBytes.ofSkips(wanted) + (long) parts * Entry.HEADER_BYTES;
        plan.records += parts;
      }
      case UNLOGGED -> {
        plan.unlogged.add(placed);
        plan.unloggedCount += wanted.count();
        plan.unloggedBytes += wanted.entryBytes();
      }
      case NOWHERE -> plan.nowhere.add(placed);
    }
  }

  private void checkBatch(Plan plan) {
    if (plan.records > ShardRecord.MAX_PARTS) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "its runs and acknowledgements take "
              + plan.records
              + " parts of a record, which has "
              + ShardRecord.MAX_PARTS
              + " at most; send fewer messages of different destinations or priorities in one"
              + " transaction");
    }
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
    if (bytes > settings.limits().maxTransactionBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "the transaction has "
              + bytes
              + " bytes of messages, the limit is "
              + settings.limits().maxTransactionBytes());
    }
  }

  private void plan(PeerSession session, Command.Acked acked, Plan plan) {
    Settlements.Accepted accepted = settlements.look(session, acked, plan.acked);
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
      plan.durableBytes += RecordBytes.of(accepted.subscription(), accepted.recorded());
    }
  }

  private static Refusal rolledBack(String why) {
    return new Refusal(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction is rolled back: " + why);
  }

  private void apply(PeerSession session, Link link, long number, int correlation, Plan plan) {
    Mark mark = plan.mark;
    recorder.changing();
    if (mark != null) {
      record(session, link.id(), number, plan, mark);
    } else if (number > 0) {
      state.links().takenUnlogged(link.id(), number);
    }
    for (Placed placed : plan.unlogged) {
      placing.storeUnlogged(session, placed.destination(), placed.persistent(), placed.run());
    }
    for (Placed placed : plan.unlogged) {
      show(placed, mark);
    }
    for (Settlements.Accepted accepted : plan.acked) {
      settlements.settle(accepted);
      counters.acknowledged(
          accepted.subscription().destination().id(),
          accepted.subscription().id(),
          accepted.count());
    }
    count(plan.durable);
    count(plan.unlogged);
    count(plan.nowhere);
    receipts.answerBehind(awaited(plan), session.peer(), correlation);
  }

  /** The mark of the transaction, and of what its messages wait behind. */
  private static @Nullable Mark awaited(Plan plan) {
    Mark strongest = plan.mark;
    for (Placed placed : plan.unlogged) {
      Mark behind = placed.destination().awaited(placed.run().priorities());
      if (behind != null && (strongest == null || behind.compareTo(strongest) > 0)) {
        strongest = behind;
      }
    }
    return strongest;
  }

  private void show(Placed placed, @Nullable Mark mark) {
    int priorities = placed.run().priorities();
    if (mark == null) {
      Placing.showUnlogged(placed.destination(), priorities);
      ready.add(placed.destination());
      return;
    }
    for (int rest = priorities; rest != 0; rest &= rest - 1) {
      recorder.show(placed.destination().unlogged(Integer.numberOfTrailingZeros(rest)), mark);
    }
  }

  private void count(List<Placed> published) {
    for (Placed placed : published) {
      if (placed.destination().isHidden()) {
        delays.came(placed.destination());
        continue; // it is counted where it goes, when it is due
      }
      placing.count(placed.destination(), placed.sent());
    }
  }

  private void record(PeerSession session, UUID link, long number, Plan plan, Mark mark) {
    // Another shard epoch, if one is needed, has to begin before the transaction's record does.
    Map<DurableLane, Integer> counts = new LinkedHashMap<>();
    List<LaneRun> runs = new ArrayList<>();
    List<DurableLane> lanes = new ArrayList<>();
    for (Placed placed : plan.durable) {
      for (LaneRun run : placed.run().byPriority()) {
        DurableLane lane = placed.destination().durable(run.priority());
        runs.add(run);
        lanes.add(lane);
        counts.merge(lane, run.count(), Integer::sum);
      }
    }
    counts.forEach(recorder::firstSequence);
    Recorder.Transaction transaction = recorder.begin(link, number, plan.records, mark);
    for (int i = 0; i < runs.size(); i++) {
      LaneRun run = runs.get(i);
      DurableLane lane = lanes.get(i);
      transaction.publish(lane, placing.durableStamp(session, lane), run);
    }
    for (Settlements.Accepted accepted : plan.acked) {
      accepted.records(Reason.ACKNOWLEDGED).forEach(transaction::acknowledge);
    }
    transaction.commit();
  }
}
