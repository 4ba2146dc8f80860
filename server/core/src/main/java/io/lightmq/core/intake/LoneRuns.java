package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.Link;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Plans runs that come alone, and says whether there is room for them now. */
@OwnedBy("shard")
public final class LoneRuns {
  private final Placing placing;
  private final DelayedRuns delayed;
  private final Matchings matchings;
  private final Landing landing;
  private final Admission admission;
  private final TurnTime time;

  public LoneRuns(
      Placing placing,
      DelayedRuns delayed,
      Matchings matchings,
      Landing landing,
      Admission admission,
      TurnTime time) {
    this.placing = placing;
    this.delayed = delayed;
    this.matchings = matchings;
    this.landing = landing;
    this.admission = admission;
    this.time = time;
  }

  /** Whether there is room for what a run may record. */
  boolean isAdmitted(PeerSession session, Command.Publish command) {
    Destination destination = placing.find(command.destinationId());
    long bytes =
        RecordBytes.of(command, session.user().length)
            + RecordBytes.ofSkips(destination, command.count());
    return admission.admitSent(bytes, true);
  }

  /**
   * Plans a run whose number is next and for which there is room; changes nothing.
   *
   * @param overdue whether it has waited for memory so long that it is refused instead
   * @return null if it waits
   * @throws Refusal if it cannot land
   */
  @Nullable Plan planNow(PeerSession session, Link link, Command.Publish command, boolean overdue) {
    Landing.Planned planned = plan(session, link, command);
    if (planned instanceof Landing.Wait wait) {
      placing.wantRoom();
      if (overdue) {
        throw placing.memoryFull(wait.bytes(), Intake.MAX_HELD_MILLIS);
      }
      return null;
    }
    Plan plan = (Plan) planned;
    return plan.mark() != null || admittedUnlogged(plan, command) ? plan : null;
  }

  /** Plans a run; changes nothing. */
  public Landing.Planned plan(PeerSession session, Link link, Command.Publish command) {
    Runs.Checked run = placing.check(session, command.count(), command.messages().buffer());
    Destination to = placing.find(command.destinationId());
    if (to == null) {
      throw new Refusal(FaultCode.DESTINATION_GONE, Placing.goneText(command.destinationId()));
    }
    long number = command.number();
    Sender sender = Sender.of(session, time.arrived(command.arrivedMillis()), number > 0, time);
    Map<Filter, BitSet> known = matchings.of(command, 0);
    if (run.delayed()) {
      return planDelayed(link, number, sender, to, run, known);
    }
    Runs.Checked wanted = placing.select(sender, to, run, known);
    return landing.plan(link.id(), number, sender, to, run, wanted);
  }

  private Landing.Planned planDelayed(
      Link link,
      long number,
      Sender sender,
      Destination to,
      Runs.Checked run,
      Map<Filter, BitSet> known) {
    if (sender.isPersistent()) {
      placing.checkDisk();
    }
    List<Parcel> parcels = new ArrayList<>();
    delayed.split(sender, to, run, known, new LinkedHashMap<>(), parcels);
    return landing.plan(link.id(), number, parcels, Landing.Acknowledging.NOTHING);
  }

  /** Whether there is room for what a run records that goes into memory only. */
  private boolean admittedUnlogged(Plan plan, Command.Publish command) {
    long created = plan.batchBytes();
    if (created > 0 && command.number() == 0 && !admission.admitSent(created, true)) {
      return false; // no room was asked for it before
    }
    return plan.awaited() == null || admission.admit(Journal.Batch.HEADER_BYTES, false);
  }
}
