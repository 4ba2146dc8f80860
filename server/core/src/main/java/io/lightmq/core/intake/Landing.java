package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.record.RecordWriter;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Decided;
import io.lightmq.core.record.ShardRecord.Part;
import io.lightmq.core.record.ShardRecord.ReleasedLane;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.LaneRun;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The one door through which messages come into lanes, whoever brings them: a run, a commit, a run
 * with delayed messages, a move, a retry of a dead letter. {@code plan} looks and changes nothing;
 * {@link #carryOut} does what a plan says and is the only one that has messages written.
 */
@OwnedBy("shard")
public class Landing {
  /** What came of planning; a refusal is thrown. */
  public sealed interface Planned permits Plan, Wait {}

  /** There is no memory for unlogged messages of so many bytes; there may be later. */
  public record Wait(long bytes) implements Planned {}

  /** What is acknowledged together with messages: looked at once all of these have a place. */
  public interface Acknowledging {
    /** None. */
    Acknowledging NOTHING = List::of;

    /**
     * What is done with; changes nothing.
     *
     * @throws Refusal if it cannot be acknowledged
     */
    List<Plan.Settled> look();
  }

  /** Told of holders to which messages came. */
  public interface Holders {
    /** Delayed messages came under a holder, which may be new. */
    void came(Destination holder);
  }

  /** Makes the door; a seam. */
  public interface Maker {
    Landing make(Parts parts);
  }

  /** What it works with. */
  public record Parts(
      BrokerSettings settings,
      Recorder recorder,
      Placing placing,
      Subscribing subscribing,
      Settlements settlements,
      Ready ready,
      Counters counters,
      TurnTime time) {}

  private final BrokerSettings settings;
  private final ShardState state;
  private final Recorder recorder;
  private final UnloggedWriter unlogged;
  private final Placing placing;
  private final Subscribing subscribing;
  private final Settlements settlements;
  private final Ready ready;
  private final Counters counters;
  private final TurnTime time;
  private Holders holders = holder -> {};

  /** The plan of the last run that came alone. */
  private @Nullable Plan lone;

  public Landing(Parts parts) {
    this.settings = parts.settings();
    this.state = parts.recorder().state();
    this.recorder = parts.recorder();
    this.unlogged = new UnloggedWriter(state, recorder);
    this.placing = parts.placing();
    this.subscribing = parts.subscribing();
    this.settlements = parts.settlements();
    this.ready = parts.ready();
    this.counters = parts.counters();
    this.time = parts.time();
  }

  /** Who is told of delayed messages. */
  public void holders(Holders taker) {
    state.guard().check();
    holders = taker;
  }

  // ---- plan ----

  /**
   * Plans a run that lands alone; its record is one of its own if its messages have one priority.
   * Most messages come so: the plan is good until the next one, for which it is used again.
   *
   * @param sent all of it
   * @param wanted what of it anybody wants
   * @throws Refusal if it cannot land
   */
  public Planned plan(
      UUID link,
      long number,
      Sender sender,
      Destination to,
      Runs.Checked sent,
      Runs.Checked wanted) {
    state.guard().check();
    Plan plan = lone;
    if (plan == null) {
      plan = new Plan(link, number, true, List.of(Parcel.to(sender, to, sent, wanted)));
      lone = plan;
    } else {
      plan.again(link, number);
      plan.parcels().get(0).again(sender, to, sent, wanted);
    }
    Parcel parcel = plan.parcels().get(0);
    place(plan, parcel, parcel.natural(), 0);
    return fitted(plan);
  }

  /**
   * Plans messages that land in one record, which also acknowledges some.
   *
   * @param link null for a move of the broker's own
   * @throws Refusal if they cannot land, or cannot be acknowledged; nothing is done then
   */
  public Planned plan(
      @Nullable UUID link, long number, List<Parcel> parcels, Acknowledging acknowledging) {
    return plan(new Plan(link, number, false, parcels), acknowledging);
  }

  /**
   * Plans what a part of a transaction stages.
   *
   * @throws Refusal if it cannot be staged; nothing is done then
   */
  public Planned plan(
      UUID link, Plan.Stage stage, List<Parcel> parcels, Acknowledging acknowledging) {
    return plan(new Plan(link, 0, false, parcels).staging(stage), acknowledging);
  }

  /**
   * Plans the commit of what was staged, with messages and acknowledgements that cannot be.
   *
   * @throws Refusal if it cannot be committed; nothing is done then
   */
  public Planned plan(
      @Nullable UUID link,
      long number,
      Plan.Release release,
      List<Parcel> parcels,
      Acknowledging acknowledging) {
    return plan(new Plan(link, number, false, parcels).releasing(release), acknowledging);
  }

  private Planned plan(Plan plan, Acknowledging acknowledging) {
    state.guard().check();
    place(plan);
    plan.settle(acknowledging.look());
    if (!plan.isMove()) {
      checkBatch(plan);
    }
    return fitted(plan);
  }

  private Planned fitted(Plan plan) {
    return plan.unloggedCount() > 0 && !placing.fits(plan.unloggedCount(), plan.unloggedBytes())
        ? new Wait(plan.unloggedBytes())
        : plan.done();
  }

  /**
   * Says of all parcels where they go. The records come before the unlogged messages, so if one
   * persistent parcel for a destination is recorded, all of them are: their order has to hold.
   */
  private void place(Plan plan) {
    Set<Object> recorded = new HashSet<>();
    for (Parcel parcel : plan.parcels()) {
      if (parcel.natural() == Placement.DURABLE) {
        recorded.add(parcel.target());
      }
    }
    long created = 0;
    for (MissingQueue missing : plan.creates()) {
      created += missing.heapBytes();
    }
    for (Parcel parcel : plan.parcels()) {
      Placement natural = parcel.natural();
      boolean follows =
          natural == Placement.UNLOGGED
              && parcel.mayBeDurable()
              && recorded.contains(parcel.target());
      place(plan, parcel, follows ? Placement.DURABLE : natural, created);
    }
  }

  private void place(Plan plan, Parcel parcel, Placement placement, long created) {
    plan.place(parcel, placement);
    if (!plan.isMove()) { // what is moved has been taken before
      placing.checkLanes(parcel, created);
    }
    if (placement == Placement.DURABLE) {
      placing.checkDisk(); // its code tells that no application has failed
    }
  }

  private void checkBatch(Plan plan) {
    if (plan.parts() > ShardRecord.MAX_PARTS) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "its runs and acknowledgements take "
              + plan.parts()
              + " parts of a record, which has "
              + ShardRecord.MAX_PARTS
              + " at most; send fewer messages of different destinations or priorities in one"
              + " transaction");
    }
    if (plan.recordedBytes() > settings.maxBatchBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "its entries and acknowledgements take "
              + plan.recordedBytes()
              + " bytes, more than "
              + settings.maxBatchBytes()
              + ", the journal's longest batch");
    }
  }

  // ---- carry out ----

  /**
   * Does what a plan says.
   *
   * @return the mark that whoever sent it waits for, null if it waits for none
   */
  public @Nullable Mark carryOut(Plan plan) {
    state.guard().check();
    recorder.changing();
    Plan.Stage stage = plan.stage();
    TransactionName begins = stage == null ? null : stage.begins();
    if (stage != null && begins != null) {
      recorder.record(new TransactionBegun(stage.transaction(), begins));
    }
    Set<MissingQueue> creates = plan.creates();
    if (!creates.isEmpty()) {
      creates.forEach(missing -> missing.created(subscribing.create(missing)));
    }
    Mark mark = plan.mark();
    UUID link = plan.link();
    if (mark != null) {
      record(plan, mark);
    } else if (link == null) {
      for (Plan.Settled each : plan.settled()) {
        each.accepted().records(each.reason()).forEach(recorder::record);
      }
    } else if (plan.number() > 0) {
      state.links().takenUnlogged(link, plan.number());
    }
    storeUnlogged(plan, mark);
    for (int i = 0; i < plan.settled().size(); i++) {
      if (stage == null) {
        settle(plan.settled().get(i), plan.isMove());
      } else {
        settlements.hand(plan.settled().get(i).accepted());
      }
    }
    for (int i = 0; i < plan.parcels().size(); i++) {
      count(plan.parcels().get(i), plan.isMove());
    }
    return plan.awaited();
  }

  /** Records what brings no messages, and that it takes a number of a link, if it is one's. */
  void record(@Nullable UUID link, long number, List<Part> parts) {
    state.guard().check();
    Recorder.Compound compound = recorder.begin(link, number, parts.size(), Mark.DURABLE);
    parts.forEach(compound::add);
    compound.end();
  }

  private void record(Plan plan, Mark mark) {
    UUID link = plan.link();
    if (link != null && plan.isAlone() && plan.parts() == 1) {
      Parcel parcel = plan.parcels().get(0);
      LaneRun run = parcel.wanted().ofOnePriority();
      DurableLane lane = parcel.destination().durable(run.priority());
      recorder.publish(link, plan.number(), lane, stamp(parcel, lane), times(parcel), run);
      return;
    }
    compound(plan, mark);
    if (plan.isMove() && mark == Mark.DURABLE) {
      recorder.wantsForce(); // no receipt asks for it
    }
  }

  private void compound(Plan plan, Mark mark) {
    record Piece(Parcel parcel, DurableLane lane, LaneRun run) {}
    List<Piece> pieces = new ArrayList<>();
    Map<DurableLane, Integer> counts = new LinkedHashMap<>();
    for (Parcel parcel : plan.parcels()) {
      if (parcel.isDurable()) {
        for (LaneRun run : parcel.wanted().byPriority()) {
          DurableLane lane = parcel.destination().durable(run.priority());
          pieces.add(new Piece(parcel, lane, run));
          counts.merge(lane, run.count(), Integer::sum);
        }
      }
    }
    // Another shard epoch, if one is needed, has to begin before the record does.
    counts.forEach(recorder::firstSequence);
    Plan.Release release = plan.release();
    if (release != null) {
      release.queues().forEach(this::beginEpoch);
    }
    Recorder.Compound compound =
        recorder.begin(plan.recordLink(), plan.number(), plan.parts(), mark);
    for (Piece each : pieces) {
      compound.publish(
          each.lane(), stamp(each.parcel(), each.lane()), times(each.parcel()), each.run());
    }
    Plan.Stage stage = plan.stage();
    for (Plan.Settled each : plan.settled()) {
      if (stage == null) {
        each.accepted().records(each.reason()).forEach(compound::add);
      } else {
        each.accepted().held(stage.transaction()).forEach(compound::add);
      }
    }
    if (release == null) {
      compound.end();
    } else {
      release(release, compound);
    }
  }

  /** Lanes that take over have room in the shard's epoch. */
  private void beginEpoch(Plan.ReleasedQueue queue) {
    for (DurableLane staged : queue.queue().queue().durableLanes()) {
      DurableLane into = queue.to().durable(LaneCode.priority(staged.code()));
      long unused = recorder.firstSequence(into, staged.count());
    }
  }

  private void release(Plan.Release release, Recorder.Compound compound) {
    StagedTransaction transaction = release.transaction();
    List<ReleasedLane> lanes = new ArrayList<>();
    Map<Destination, StagedTransaction.Amount> amounts = new LinkedHashMap<>();
    for (Plan.ReleasedQueue queue : release.queues()) {
      Destination to = queue.to();
      amounts.put(to, transaction.amount(queue.queue()));
      for (DurableLane staged : queue.queue().queue().durableLanes()) {
        DurableLane into = to.durable(LaneCode.priority(staged.code()));
        if (staged.count() > 0) {
          lanes.add(
              new ReleasedLane(
                  queue.queue().queue().id(),
                  staged.code(),
                  staged.count(),
                  to.id(),
                  into.tail(state.epoch())));
        }
      }
    }
    List<HeldMessages> held = List.copyOf(transaction.held());
    held.forEach(
        each ->
            counters.acknowledged(
                each.subscription().destination().id(), each.subscription().id(), each.size()));
    if (release.decided()) {
      compound.add(new Decided(transaction.id(), true));
    }
    compound.release(new ShardRecord.Released(transaction.id(), time.millis(), lanes));
    compound.end();
    held.forEach(each -> settlements.settled(each.subscription()));
    amounts.forEach(
        (to, amount) -> {
          if (to.isHidden()) {
            holders.came(to);
          } else {
            counters.published(to.id(), amount.messages(), amount.bytes(), time.millis());
          }
        });
  }

  private EntryStamp stamp(Parcel parcel, Lane lane) {
    return parcel.sender().stamp(parcel.destination(), lane.code(), state);
  }

  private static RecordWriter.Expiry times(Parcel parcel) {
    return parcel.sender().times(parcel.destination());
  }

  /** Unlogged messages are given once what is in the record may be. */
  private void storeUnlogged(Plan plan, @Nullable Mark mark) {
    if (plan.unloggedCount() == 0) {
      return;
    }
    for (int i = 0; i < plan.parcels().size(); i++) {
      Parcel parcel = plan.parcels().get(i);
      Runs.Checked wanted = parcel.wanted();
      if (parcel.isUnlogged() && wanted.isOfOnePriority()) {
        storeUnlogged(parcel, wanted.ofOnePriority());
      } else if (parcel.isUnlogged()) {
        wanted.byPriority().forEach(run -> storeUnlogged(parcel, run));
      }
    }
    for (int i = 0; i < plan.parcels().size(); i++) {
      Parcel parcel = plan.parcels().get(i);
      if (parcel.isUnlogged()) {
        show(parcel.destination(), parcel.wanted().priorities(), mark);
      }
    }
  }

  private void storeUnlogged(Parcel parcel, LaneRun run) {
    UnloggedLane lane = parcel.destination().unlogged(run.priority());
    unlogged.store(lane, parcel.sender(), run);
  }

  private void show(Destination destination, int priorities, @Nullable Mark mark) {
    for (int rest = priorities; rest != 0; rest &= rest - 1) {
      UnloggedLane lane = destination.unlogged(Integer.numberOfTrailingZeros(rest));
      if (mark == null) {
        lane.show();
      } else {
        recorder.show(lane, mark);
      }
    }
    if (mark == null) {
      ready.add(destination);
    }
  }

  private void settle(Plan.Settled settled, boolean move) {
    Settlements.Accepted accepted = settled.accepted();
    Subscription subscription = accepted.subscription();
    if (move) { // whoever moves counts it, and no key of it counts as seen
      subscription.acknowledge(accepted.unrecorded());
      return;
    }
    settlements.settle(accepted);
    counters.acknowledged(subscription.destination().id(), subscription.id(), accepted.count());
  }

  /** Counts what was published; a delayed message is counted where it goes, when it is due. */
  private void count(Parcel parcel, boolean move) {
    if (move && parcel.placement() == Placement.NOWHERE) {
      return;
    }
    Destination destination = parcel.destination();
    if (destination.isStaged()) {
      return; // counted once it is released
    }
    if (destination.isHidden()) {
      holders.came(destination);
      return;
    }
    Runs.Checked sent = parcel.sent();
    counters.published(destination.id(), sent.count(), sent.entryBytes(), time.millis());
  }
}
