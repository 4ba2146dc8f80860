package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.Link;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Plans transactions: all that one does is checked before the first byte of it is recorded. */
@OwnedBy("shard")
public final class Transactions {
  private final BrokerSettings settings;
  private final ShardState state;
  private final Settlements settlements;
  private final Placing placing;
  private final DelayedRuns delayed;
  private final Matchings matchings;
  private final Landing landing;
  private final TurnTime time;

  public Transactions(
      BrokerSettings settings,
      ShardState state,
      Settlements settlements,
      Placing placing,
      DelayedRuns delayed,
      Matchings matchings,
      Landing landing,
      TurnTime time) {
    this.settings = settings;
    this.state = state;
    this.settlements = settlements;
    this.placing = placing;
    this.delayed = delayed;
    this.matchings = matchings;
    this.landing = landing;
    this.time = time;
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
   * Plans a commit whose number is next; changes nothing.
   *
   * @throws Refusal if it is rolled back
   */
  public Landing.Planned plan(PeerSession session, Link link, Command.Commit command) {
    List<Parcel> parcels = new ArrayList<>(command.runs().size());
    Map<DestinationName, MissingQueue> missing = new LinkedHashMap<>();
    for (int i = 0; i < command.runs().size(); i++) {
      plan(session, command, i, missing, parcels);
    }
    return landing.plan(link.id(), command.number(), parcels, () -> acknowledged(session, command));
  }

  private void plan(
      PeerSession session,
      Command.Commit command,
      int place,
      Map<DestinationName, MissingQueue> missing,
      List<Parcel> parcels) {
    Command.StagedRun run = command.runs().get(place);
    Runs.Checked checked = placing.check(session, run.count(), run.messages().buffer());
    Destination to = state.destinations().find(run.destinationId());
    if (to == null) {
      throw rolledBack(Placing.goneText(run.destinationId()));
    }
    var known = matchings.of(command, place);
    Sender sender =
        Sender.of(session, time.arrived(command.arrivedMillis()), run.persistent(), time);
    if (checked.delayed()) {
      delayed.split(sender, to, checked, known, missing, parcels);
    } else {
      parcels.add(Parcel.to(sender, to, checked, placing.select(sender, to, checked, known)));
    }
  }

  private List<Plan.Settled> acknowledged(PeerSession session, Command.Commit command) {
    checkSize(command);
    List<Settlements.Accepted> accepted = new ArrayList<>(command.acked().size());
    List<Plan.Settled> settled = new ArrayList<>(command.acked().size());
    for (Command.Acked acked : command.acked()) {
      Settlements.Accepted each = look(session, acked, accepted);
      accepted.add(each);
      settled.add(new Plan.Settled(each, Reason.ACKNOWLEDGED));
    }
    return settled;
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

  private Settlements.Accepted look(
      PeerSession session, Command.Acked acked, List<Settlements.Accepted> before) {
    Settlements.Accepted accepted = settlements.look(session, acked, before);
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
    return accepted;
  }

  /** Why a commit is rolled back that found no room and waits no longer. */
  Refusal memoryFull(Landing.Wait wait) {
    return new Refusal(
        FaultCode.MEMORY_FULL,
        "the transaction is rolled back: its "
            + wait.bytes()
            + " bytes of non-persistent messages find no room beside "
            + state.destinations().store().usedBytes()
            + " of "
            + settings.memory().unloggedBytes()
            + ", and "
            + placing.overflowText());
  }

  private static Refusal rolledBack(String why) {
    return new Refusal(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction is rolled back: " + why);
  }
}
