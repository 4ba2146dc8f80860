package io.lightmq.core.moves;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.intake.Matchings;
import io.lightmq.core.intake.Parcel;
import io.lightmq.core.intake.Placing;
import io.lightmq.core.intake.Plan;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Arrival;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.sessions.Target;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Has moves land: one record publishes the message where it goes and acknowledges it where it was,
 * so that a crash finds it in one of the two places and never in both or none.
 */
@OwnedBy("shard")
public final class MoveRecords {
  /** Knows the client ids of connections. */
  public interface ClientIds {
    /** The client id of a connection, or null if it has none or has ended. */
    @Nullable String clientId(long connectionId);
  }

  private final Landing landing;
  private final Placing placing;
  private final Admission admission;
  private final TurnTime time;
  private final ClientIds clientIds;
  private final Matchings matchings;

  public MoveRecords(
      Landing landing,
      Placing placing,
      Admission admission,
      TurnTime time,
      ClientIds clientIds,
      Matchings matchings) {
    this.landing = landing;
    this.placing = placing;
    this.admission = admission;
    this.time = time;
    this.clientIds = clientIds;
    this.matchings = matchings;
  }

  /**
   * Carries a move out; false if there is no room for it now.
   *
   * @throws Refusal if the target does not take it
   */
  boolean record(Move move, ByteBuffer entry, Mover.Goal goal) {
    Target to = goal.to();
    Runs.Checked sent = to == null ? null : run(entry, goal);
    Destination there = to == null ? null : to.there();
    if (there != null
        && sent != null
        && !matchings.isReady(move, new Matchings.Part(there, sent))) {
      return false;
    }
    Landing.Planned planned = plan(move, entry, goal, sent);
    if (planned instanceof Landing.Wait wait) {
      placing.wantRoom();
      throw placing.memoryFull(wait.bytes(), 0);
    }
    Plan plan = (Plan) planned;
    long bytes = plan.batchBytes();
    if (bytes > 0 && !admission.admit(bytes, plan.isPublishing())) {
      return false;
    }
    landing.carryOut(plan);
    matchings.forget(move);
    return true;
  }

  /** Plans a move; changes nothing. */
  public Landing.Planned plan(Move move, ByteBuffer entry, Mover.Goal goal) {
    return plan(move, entry, goal, goal.to() == null ? null : run(entry, goal));
  }

  private Landing.Planned plan(
      Move move, ByteBuffer entry, Mover.Goal goal, Runs.@Nullable Checked sent) {
    Target to = goal.to();
    List<Parcel> parcels =
        to == null || sent == null ? List.of() : List.of(parcel(move, entry, goal, to, sent));
    Plan.Settled settled = new Plan.Settled(settled(move), goal.reason());
    return landing.plan(null, 0, parcels, () -> List.of(settled));
  }

  private Parcel parcel(
      Move move, ByteBuffer entry, Mover.Goal goal, Target to, Runs.Checked sent) {
    long connection = Entry.connectionId(entry, 0);
    Sender sender = Sender.moved(entry, clientIds.clientId(connection), goal.expiryMillis(), time);
    MissingQueue missing = to.missing();
    if (missing != null) {
      return Parcel.to(sender, missing, sent);
    }
    Destination there = to.there();
    if (there == null) {
      throw new IllegalStateException("a target is there or missing");
    }
    return Parcel.to(sender, there, sent, wanted(move, sender, there, sent, entry, goal));
  }

  /** The message as a run. */
  private static Runs.Checked run(ByteBuffer entry, Mover.Goal goal) {
    ByteBuffer message = goal.message();
    ByteBuffer run = ByteBuffer.allocate(4 + message.remaining());
    run.putInt(message.remaining()).put(message.duplicate()).flip();
    return new Runs.Checked(
        1,
        run,
        Entry.messageOffset(entry, 0) + (long) message.remaining(),
        1 << MessageReader.priority(message, message.position()),
        List.of(),
        false);
  }

  /** The same with who does not want it. */
  private Runs.Checked wanted(
      Move move,
      Sender sender,
      Destination to,
      Runs.Checked sent,
      ByteBuffer entry,
      Mover.Goal goal) {
    Map<Filter, BitSet> known = matchings.of(move, 0);
    Subscription only = goal.only();
    if (only != null) {
      return placing.only(only, sent, known);
    }
    return move.from().destination().isHidden() && !to.kind().isQueue()
        ? placing.select(sender, to, sent, Arrival.of(entry), known)
        : placing.select(sender, to, sent, known);
  }

  private Settlements.Accepted settled(Move move) {
    return Settlements.accepted(
        move.from(),
        null,
        List.of(new SequenceRange(move.lane(), move.sequence(), 1)),
        0,
        time.millis());
  }
}
