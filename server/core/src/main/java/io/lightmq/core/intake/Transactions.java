package io.lightmq.core.intake;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.Subscription;
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
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Plans transactions: all that one does is checked before the first byte of it is recorded. */
@OwnedBy("shard")
public final class Transactions {
  private final Settlements settlements;
  private final Placing placing;
  private final DelayedRuns delayed;
  private final StagedRuns staged;
  private final Matchings matchings;
  private final Landing landing;
  private final Attempts attempts;
  private final TurnTime time;

  public Transactions(
      Settlements settlements,
      Placing placing,
      DelayedRuns delayed,
      StagedRuns staged,
      Matchings matchings,
      Landing landing,
      Attempts attempts,
      TurnTime time) {
    this.settlements = settlements;
    this.placing = placing;
    this.delayed = delayed;
    this.staged = staged;
    this.matchings = matchings;
    this.landing = landing;
    this.attempts = attempts;
    this.time = time;
  }

  /** The bytes that a commit records at most, or its refusal does. */
  long recordBytes(PeerSession session, Command.Commit next) {
    // If it is rolled back, what it acknowledges counts as failed attempts instead.
    long bytes =
        RecordBytes.of(next.runs(), session.user().length)
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
          && !mayBeStaged(command, destination)
          && destination.placement(run.persistent()) == Destination.Placement.UNLOGGED) {
        count += run.count();
        bytes +=
            run.messages().buffer().remaining()
                + (long) run.count() * (Entry.HEADER_BYTES + session.user().length);
      }
    }
    return count == 0 || !placing.mayFit(count, bytes) || placing.fits(count, bytes);
  }

  /** Whether messages of a part are recorded with the transaction, whoever wants them. */
  private static boolean mayBeStaged(Command.Commit command, Destination destination) {
    return !command.isWhole() && !destination.kind().isTemporary();
  }

  /**
   * Plans a commit whose number is next and that waits no longer; changes nothing.
   *
   * @throws Refusal if it is rolled back
   */
  Plan planNow(PeerSession session, Link link, Command.Commit command) {
    return now(plan(session, link, command));
  }

  /**
   * A plan that waits no longer.
   *
   * @throws Refusal if there is no room for it
   */
  Plan now(Landing.Planned planned) {
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
      plan(session, Part.of(command), i, missing, parcels);
    }
    return landing.plan(
        link.id(),
        command.number(),
        parcels,
        () -> {
          checkSize(command.runs());
          return acknowledged(session, command.acked());
        });
  }

  /** What a part of a transaction brings. */
  record Part(
      Command command,
      List<Command.StagedRun> runs,
      List<Command.Acked> acked,
      long arrivedMillis) {
    static Part of(Command.Stage command) {
      return new Part(command, command.runs(), command.acked(), command.arrivedMillis());
    }

    static Part of(Command.Commit command) {
      return new Part(command, command.runs(), command.acked(), command.arrivedMillis());
    }
  }

  /**
   * Plans what a part stages of a transaction; changes nothing.
   *
   * @throws Refusal if it cannot be staged
   */
  Plan planStage(PeerSession session, Link link, Plan.Stage stage, Part part) {
    List<Parcel> parcels = new ArrayList<>(part.runs().size());
    Map<DestinationName, MissingQueue> missing = new LinkedHashMap<>();
    for (int i = 0; i < part.runs().size(); i++) {
      Command.StagedRun run = part.runs().get(i);
      Destination to = sentTo(run);
      if (!to.kind().isTemporary() || part.command() instanceof Command.Stage) {
        staged.split(
            stage.transaction(),
            sender(session, part, run),
            to,
            placing.check(session, run.count(), run.messages().buffer()),
            matchings.of(part.command(), i),
            missing,
            parcels);
      }
    }
    return now(
        landing.plan(
            link.id(),
            stage,
            parcels,
            () -> {
              if (!isLoneMessage(part)) {
                checkSize(part.runs());
              }
              return acknowledged(session, part.acked());
            }));
  }

  /**
   * Plans the commit of what was staged, with what a part brings that is never staged; changes
   * nothing.
   *
   * @param memory what the transaction acknowledges that no record tells
   * @param kept what of a prepared one waits for temporary destinations
   * @throws Refusal if it is rolled back, or a prepared one finds no room now
   */
  Plan planRelease(
      PeerSession session,
      Link link,
      long number,
      Part part,
      StagedTransaction transaction,
      List<Settlements.Accepted> memory,
      List<Parcel> kept) {
    List<Parcel> parcels = new ArrayList<>(kept);
    for (int i = 0; i < part.runs().size(); i++) {
      if (sentTo(part.runs().get(i)).kind().isTemporary()) {
        plan(session, part, i, new LinkedHashMap<>(), parcels);
      }
    }
    return planRelease(link.id(), number, parcels, release(transaction, memory, false), memory);
  }

  /**
   * Plans the commit of a prepared branch that an administrator decides; changes nothing.
   *
   * @throws Refusal if it cannot be committed
   */
  Plan planDecided(
      StagedTransaction transaction, List<Settlements.Accepted> memory, List<Parcel> kept) {
    return planRelease(null, 0, kept, release(transaction, memory, true), memory);
  }

  private Plan planRelease(
      @Nullable UUID link,
      long number,
      List<Parcel> parcels,
      Plan.Release release,
      List<Settlements.Accepted> memory) {
    Landing.Planned planned =
        landing.plan(
            link,
            number,
            release,
            parcels,
            () ->
                memory.stream()
                    .filter(each -> !each.subscription().isClosed())
                    .map(each -> new Plan.Settled(each, Reason.ACKNOWLEDGED))
                    .toList());
    if (planned instanceof Landing.Wait wait && release.transaction().isPrepared()) {
      placing.wantRoom();
      throw new Refusal(
          FaultCode.RETRY_LATER,
          "the branch stays prepared: there is no memory now for its "
              + wait.bytes()
              + " bytes of messages for temporary destinations; decide it again");
    }
    return now(planned);
  }

  private Plan.Release release(
      StagedTransaction transaction, List<Settlements.Accepted> memory, boolean decided) {
    checkThere(transaction, memory);
    return new Plan.Release(transaction, staged.targets(transaction), decided);
  }

  /**
   * Refuses to keep or commit a transaction of which something is gone that was deleted. What ends
   * with its consumers or its connection had nobody else to acknowledge to.
   *
   * @param memory what the transaction acknowledges that no record tells
   * @throws Refusal if a destination or durable subscription is gone that it touches
   */
  void checkThere(StagedTransaction transaction, List<Settlements.Accepted> memory) {
    for (Settlements.Accepted held : memory) {
      Subscription in = held.subscription();
      if (in.isClosed() && in.isLasting() && !transaction.isPrepared()) {
        throw subscriptionGone();
      }
    }
    for (HeldMessages held : transaction.held()) {
      if (held.subscription().isClosed()) {
        throw subscriptionGone();
      }
    }
    staged.checkThere(transaction);
  }

  private static Refusal subscriptionGone() {
    return rolledBack("a subscription is gone in which it acknowledges");
  }

  private Destination sentTo(Command.StagedRun run) {
    Destination to = placing.find(run.destinationId());
    if (to == null) {
      throw rolledBack(Placing.goneText(run.destinationId()));
    }
    return to;
  }

  private Sender sender(PeerSession session, Part part, Command.StagedRun run) {
    return Sender.of(session, time.arrived(part.arrivedMillis()), run.persistent(), time);
  }

  private void plan(
      PeerSession session,
      Part part,
      int place,
      Map<DestinationName, MissingQueue> missing,
      List<Parcel> parcels) {
    Command.StagedRun run = part.runs().get(place);
    Runs.Checked checked = placing.check(session, run.count(), run.messages().buffer());
    Destination to = sentTo(run);
    var known = matchings.of(part.command(), place);
    Sender sender = sender(session, part, run);
    if (checked.delayed()) {
      delayed.split(sender, to, checked, known, missing, parcels);
    } else {
      parcels.add(Parcel.to(sender, to, checked, placing.select(sender, to, checked, known)));
    }
  }

  /** Whether a part stages one message alone, which may be as long as any. */
  private static boolean isLoneMessage(Part part) {
    return part.command() instanceof Command.Stage
        && part.runs().size() == 1
        && part.runs().get(0).count() == 1;
  }

  private List<Plan.Settled> acknowledged(PeerSession session, List<Command.Acked> named) {
    List<Settlements.Accepted> accepted = new ArrayList<>(named.size());
    List<Plan.Settled> settled = new ArrayList<>(named.size());
    for (Command.Acked acked : named) {
      Settlements.Accepted each = look(session, acked, accepted);
      accepted.add(each);
      settled.add(new Plan.Settled(each, Reason.ACKNOWLEDGED));
    }
    return settled;
  }

  private void checkSize(List<Command.StagedRun> runs) {
    long bytes = 0;
    for (Command.StagedRun run : runs) {
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
  void rollBack(PeerSession session, List<Command.Acked> named, Refusal refusal) {
    for (Command.Acked acked : named) {
      Consumer consumer = Settlements.consumer(session, acked);
      if (consumer != null && refusal.code().isWantOfRoom()) {
        attempts.refused(consumer, acked.ranges());
      } else if (consumer != null) {
        attempts.failed(session, consumer, acked.ranges(), null);
      }
    }
  }

  static Refusal rolledBack(String why) {
    return new Refusal(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction is rolled back: " + why);
  }
}
