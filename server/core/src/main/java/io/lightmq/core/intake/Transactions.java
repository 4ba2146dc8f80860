package io.lightmq.core.intake;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Attempts;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
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
  private final Settlements settlements;
  private final Placing placing;
  private final DelayedRuns delayed;
  private final Matchings matchings;
  private final Landing landing;
  private final Attempts attempts;
  private final TurnTime time;

  public Transactions(
      Settlements settlements,
      Placing placing,
      DelayedRuns delayed,
      Matchings matchings,
      Landing landing,
      Attempts attempts,
      TurnTime time) {
    this.settlements = settlements;
    this.placing = placing;
    this.delayed = delayed;
    this.matchings = matchings;
    this.landing = landing;
    this.attempts = attempts;
    this.time = time;
  }

  /** The bytes that a commit records at most, or its refusal does. */
  long recordBytes(PeerSession session, Command.Commit next) {
    // If it is rolled back, what it acknowledges counts as failed attempts instead.
    long bytes =
        RecordBytes.of(next, session.user().length)
            + Math.max(
                settlements.recordBytes(session, next.acked()),
                Attempts.recordBytes(session, next.acked()));
    for (Command.StagedRun run : next.runs()) {
      bytes += RecordBytes.ofSkips(placing.find(run.destinationId()), run.count());
    }
    return bytes;
  }

  /**
   * Whether there is room for the unlogged messages of a commit, if ever there can be; the overflow
   * is asked for it if there is none.
   */
  boolean findsRoom(PeerSession session, Command.Commit command) {
    boolean fits = fits(session, command);
    if (!fits) {
      placing.wantRoom();
    }
    return fits;
  }

  private boolean fits(PeerSession session, Command.Commit command) {
    long count = 0;
    long bytes = 0;
    for (Command.StagedRun run : command.runs()) {
      Destination destination = placing.find(run.destinationId());
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
   * Plans a commit whose number is next and that waits no longer; changes nothing.
   *
   * @throws Refusal if it is rolled back
   */
  Plan planNow(PeerSession session, Link link, Command.Commit command) {
    Landing.Planned planned = plan(session, link, command);
    if (planned instanceof Landing.Wait wait) {
      placing.wantRoom();
      throw placing.transactionFull(wait.bytes());
    }
    return (Plan) planned;
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
    Destination to = placing.find(run.destinationId());
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
    placing.checkTransaction(bytes);
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

  /** What a commit acknowledges that is rolled back was tried in vain, unless it wanted room. */
  void rollBack(PeerSession session, Command.Commit command, Refusal refusal) {
    for (Command.Acked acked : command.acked()) {
      Consumer consumer = Settlements.consumer(session, acked);
      if (consumer != null && refusal.code().isWantOfRoom()) {
        attempts.refused(consumer, acked.ranges());
      } else if (consumer != null) {
        attempts.failed(session, consumer, acked.ranges(), null);
      }
    }
  }

  private static Refusal rolledBack(String why) {
    return new Refusal(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction is rolled back: " + why);
  }
}
