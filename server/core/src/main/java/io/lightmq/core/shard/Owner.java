package io.lightmq.core.shard;

import io.lightmq.core.admin.Administration;
import io.lightmq.core.admin.BranchAdministration;
import io.lightmq.core.admin.DamagedAdministration;
import io.lightmq.core.admin.DeadLetterAdministration;
import io.lightmq.core.admin.DelayAdministration;
import io.lightmq.core.admin.DestinationAdministration;
import io.lightmq.core.admin.DestinationReport;
import io.lightmq.core.admin.LetterScan;
import io.lightmq.core.admin.LinkAdministration;
import io.lightmq.core.admin.SubscriptionAdministration;
import io.lightmq.core.admin.TouchedBranches;
import io.lightmq.core.admin.VerbTurns;
import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.delivery.Beside;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.delivery.Fetcher;
import io.lightmq.core.destination.DestinationRules;
import io.lightmq.core.destination.Overflow;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.intake.DelayedRuns;
import io.lightmq.core.intake.HourRoom;
import io.lightmq.core.intake.Intake;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.intake.LateSelecting;
import io.lightmq.core.intake.LoneRuns;
import io.lightmq.core.intake.Matchings;
import io.lightmq.core.intake.Placing;
import io.lightmq.core.intake.PreparedAlarm;
import io.lightmq.core.intake.Receipts;
import io.lightmq.core.intake.Selecting;
import io.lightmq.core.intake.SettingAside;
import io.lightmq.core.intake.StageCommands;
import io.lightmq.core.intake.StagedRuns;
import io.lightmq.core.intake.Staging;
import io.lightmq.core.intake.Transactions;
import io.lightmq.core.moves.DeadLetters;
import io.lightmq.core.moves.Delays;
import io.lightmq.core.moves.Janitor;
import io.lightmq.core.moves.MoveRecords;
import io.lightmq.core.moves.Mover;
import io.lightmq.core.moves.Retries;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.Attempts;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.sessions.Consuming;
import io.lightmq.core.sessions.NamedBudget;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.sessions.Temporaries;
import io.lightmq.core.sessions.Withheld;
import io.lightmq.core.state.BatchBuilder;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.spi.Journal;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.FaultCode;
import java.util.List;

/**
 * What decides for a shard while this node leads: sessions, delivery, intake, moves, delays and
 * what else lives between a client's command and a record of it. Made when the journal says so and
 * dropped when it says otherwise, any number of times; what it leaves behind is the {@link Replica}
 * alone.
 */
@OwnedBy("shard")
final class Owner {

  private final Replica replica;
  private final Member member;
  private final Journal journal;
  private final Window window;
  private final Fetcher fetcher;
  private final EntryReads reads;
  private final Work work;
  private final BatchBuilder batch;
  private final Recorder recorder;
  private final NamedBudget budget;
  private final Dispatcher dispatcher;
  private final Sessions sessions;
  private final Placing placing;
  private final Staging staging;
  private final Delays delays;
  private final Intake intake;
  private final Commands commands;
  private final Appending appending;
  private final Slices slices;
  private final TurnTimers timers;
  private final TurnOrder order;
  private final ShardRunner runner;
  private final MetricsTaker metrics;

  Owner(
      Replica replica,
      CommandQueue queue,
      Journal journal,
      Landing.Maker landings,
      ShardRunner.Home home,
      long journalEpoch,
      long from) {
    this.replica = replica;
    this.member = replica.member();
    this.journal = journal;
    BrokerSettings settings = member.settings();
    ShardState state = replica.state();
    TurnTime time = member.time();
    Counters counters = replica.counters();
    Ready ready = new Ready(state.guard());
    this.window = member.window();
    window.begin(from);
    this.fetcher =
        new Fetcher(member.shard(), member.reads(), journal, replica.segments(), member.memory());
    Beside beside = new Beside(member.shard(), member.match());
    Overflow overflow =
        new Overflow(
            state.guard(),
            member.unlogged(),
            member.overflowFiles(),
            member.memory(),
            home::marksMoved);
    this.work = beside.work();
    this.batch = new BatchBuilder(window);
    this.recorder = new Recorder(state, batch, journal);
    Unforeseen unforeseen = new Unforeseen(recorder, counters, time);
    this.budget = new NamedBudget(state, settings.memory().namedBytes());
    Later later = new Later();
    this.dispatcher = new Dispatcher(window, fetcher, beside, later, state.guard());
    dispatcher.lease().asks(this::mayGive);
    this.slices = new Slices(member.shard(), time, dispatcher);
    this.timers = new TurnTimers(member.shard(), time, dispatcher, home::drain);
    recorder.touches(later);
    DestinationRules rules = settings.destinations().byPattern();
    Temporaries temporaries =
        new Temporaries(
            member.identity().key(),
            member.identity().used(),
            settings.intervals().temporaryGraceMillis(),
            time);
    Subscribing subscribing =
        new Subscribing(
            recorder,
            dispatcher,
            rules,
            settings.destinations().createOnFirstUse(),
            counters,
            budget,
            temporaries);
    Selecting selecting = new Selecting(time, work);
    recorder.unrecorded().arrivals(selecting::arrived);
    this.placing = new Placing(settings, state, selecting, overflow, budget);
    Settlements settlements = new Settlements(state, time, ready);
    Landing landing =
        landings.make(
            new Landing.Parts(
                settings, recorder, placing, subscribing, settlements, ready, counters, time));
    this.reads = new EntryReads(window, fetcher, later, state.guard());
    Matchings matchings = new Matchings(placing, beside, later::lookAgain);
    Mover mover =
        new Mover(
            reads,
            new MoveRecords(landing, placing, later, time, later, matchings),
            ready,
            counters,
            time,
            later::wake,
            unforeseen);
    Withheld withheld = new Withheld(ready, time);
    SettingAside settingAside = new SettingAside(recorder, ready, counters, time);
    DeadLetters deadLetters =
        new DeadLetters(
            mover,
            subscribing,
            counters,
            time,
            BrokerSettings.longestMessage(settings.memory().windowBytes(), settings.journal()));
    HourRoom hourRoom = new HourRoom(settings.memory().namedBytes());
    this.delays =
        new Delays(
            subscribing,
            reads,
            mover,
            deadLetters,
            counters,
            time,
            later::wake,
            hourRoom,
            recorder,
            unforeseen);
    landing.holders(delays::came);
    Retries retries = new Retries(mover, subscribing, time, slices::add, unforeseen);
    VerbTurns turns = new VerbTurns(slices::add, recorder, unforeseen);
    LetterScan scans = new LetterScan(reads, turns, unforeseen);
    Janitor janitor = new Janitor(recorder, reads, later, time, slices::add, unforeseen);
    Attempts attempts =
        new Attempts(
            recorder,
            deadLetters,
            withheld,
            ready,
            counters,
            later,
            settings.intervals().temporaryGraceMillis());
    this.sessions =
        new Sessions(recorder, dispatcher, subscribing, attempts, time, matchings::release, budget);
    later.sessions = sessions;
    Receipts receipts = new Receipts(recorder, sessions, budget, time);
    DelayedRuns delayedRuns = new DelayedRuns(state, subscribing, hourRoom, placing, time);
    Transactions transactions =
        new Transactions(
            settlements,
            placing,
            delayedRuns,
            new StagedRuns(state, subscribing, placing, delayedRuns),
            matchings,
            landing,
            attempts,
            time);
    this.staging =
        new Staging(
            settings,
            recorder,
            sessions,
            transactions,
            placing,
            delayedRuns,
            landing,
            new LateSelecting(recorder, reads, beside, later, sessions::clientId, later::lookAgain),
            attempts,
            later,
            time);
    StageCommands stages =
        new StageCommands(
            sessions,
            staging,
            transactions,
            settlements,
            placing,
            matchings,
            later,
            recorder,
            work,
            unforeseen);
    sessions.leaving(stages);
    this.intake =
        new Intake(
            sessions,
            queue,
            time,
            receipts,
            new LoneRuns(placing, delayedRuns, matchings, landing, later, time),
            transactions,
            staging,
            stages,
            landing,
            later,
            matchings,
            work,
            unforeseen);
    Consuming consuming =
        new Consuming(
            recorder,
            sessions,
            settlements,
            dispatcher,
            subscribing,
            counters,
            attempts,
            settings.maxBatchBytes());
    TouchedBranches rollBacks = new TouchedBranches(staging, later);
    Administration administration =
        new Administration(
            new DestinationAdministration(
                recorder,
                sessions,
                subscribing,
                withheld,
                ready,
                rollBacks,
                turns,
                new DestinationReport(state, counters, delays),
                settings.maxBatchBytes()),
            new DeadLetterAdministration(settings, state, scans, retries, time),
            new DelayAdministration(delays, scans, recorder, later, time, turns),
            new DamagedAdministration(delays, recorder, later, ready, turns),
            new SubscriptionAdministration(recorder, subscribing, rollBacks, turns),
            new LinkAdministration(sessions, recorder, later, time, turns),
            new BranchAdministration(staging, rollBacks, recorder, time, turns));
    this.commands =
        new Commands(
            sessions, intake, stages, staging, consuming, administration, counters, unforeseen);
    DeliveryDecisions decisions =
        new DeliveryDecisions(
            recorder, dispatcher, deadLetters, settingAside, ready, counters, time, slices::add);
    later.decisions = decisions;
    this.appending =
        new Appending(
            member, state, batch, recorder, decisions, ready, journal, journalEpoch, home);
    later.appending = appending;
    // The order is part of the behaviour: docs/internals/turn.md draws it.
    this.order =
        new TurnOrder(
            settingAside,
            intake,
            sessions,
            staging,
            withheld, // what it frees may be moved
            delays, // what is due is moved in the same turn
            mover,
            receipts,
            janitor,
            retries,
            new PreparedAlarm(settings, state, time),
            appending, // appends what all of these recorded
            decisions,
            new GivingOut(dispatcher, decisions, ready, appending),
            new TurnOrder.Step("checkpoints", replica.checkpoints()::turn),
            new TurnOrder.Step("overflow", () -> overflow.turn(time.nanos(), placing.diskFull())),
            new TurnOrder.Step(
                "effects", recorder::runTurnEffects), // answers that wait for no mark
            new TurnOrder.Step("timers", this::setTimers),
            slices,
            new TurnOrder.Step("sifting", dispatcher::endTurn));
    this.runner =
        new ShardRunner(
            home,
            member.shard(),
            queue,
            time,
            work,
            commands,
            intake,
            dispatcher,
            appending,
            order);
    later.runner = runner;
    replica
        .checkpoints()
        .led(
            new Checkpoints.Leader() {
              @Override
              public void appendSomething() {
                recorder.batchOffset();
              }

              @Override
              public void damaged(List<Destaged.Damage> damages) {
                settingAside.damaged(damages);
              }
            });
    this.metrics =
        new MetricsTaker(
            replica,
            journal,
            queue,
            window,
            overflow,
            new MetricsTaker.Parts(sessions, appending, mover, withheld, delays, budget));
  }

  // ---- life ----

  /**
   * Begins a shard epoch.
   *
   * @param durable runs on the shard once that is durable, and clients may be served
   */
  void start(Runnable durable) {
    ShardState state = replica.state();
    state.guard().check();
    boolean clean = state.endedKnowingDeliveries();
    replica.show();
    // What unlogged runs were numbered is in snapshots and in no record.
    state.links().started(member.time().millis(), clean && !replica.replayed());
    delays.recover();
    budget.started();
    state.deliveriesKnown(true);
    batch.startsEpoch();
    recorder.record(new Started(state.epoch() + 1, clean));
    recorder.onShard(Mark.DURABLE, durable);
  }

  /** Ends all connections and records an orderly end, behind which nothing is recorded. */
  void stop(FaultCode code, String text) {
    replica.state().guard().check();
    giveUp(code, text);
    appending.recordStop();
  }

  /** Behind all that is applied, be it appended or not. */
  long appliedEnd() {
    return window.position();
  }

  /** How many batches were appended. */
  long appendedBatches() {
    return appending.appended();
  }

  /** Whether all that is applied is appended too. */
  boolean hasAppendedAll() {
    return batch.isEmpty();
  }

  /** Nothing is given, answered or recorded any more. */
  void end() {
    appending.close();
    slices.end();
    dispatcher.drop();
    timers.cancel();
    runner.end();
  }

  /**
   * Another one leads: ends all connections and gives back everything but the replica's state,
   * which is thrown away or built again behind this. No batch is under way any more.
   */
  void drop(FaultCode code, String text) {
    replica.state().guard().check();
    end();
    reads.end();
    giveUp(code, text);
    runner.drop();
    replica.checkpoints().led(null);
    member.reads().execute(fetcher::close);
  }

  private void setTimers() {
    timers.set(order);
  }

  private boolean mayGive() {
    long until = journal.mayGiveUntil();
    return until == Long.MAX_VALUE || until - member.time().nowNanos() > 0;
  }

  private void giveUp(FaultCode code, String text) {
    order.end();
    for (PeerSession session : List.copyOf(sessions.all())) {
      sessions.dismiss(session, code, text);
    }
    commands.end(code, text);
  }

  /** Disconnects all at once; what they had stays as it is, since nobody asks for it any more. */
  void disconnectAll(FaultCode code, String text) {
    commands.end(code, text);
    for (PeerSession session : List.copyOf(sessions.all())) {
      session.peer().disconnect(code, text);
    }
  }

  /** Gives back what the read loop has; on that, or after its end. */
  void closeReads() {
    fetcher.close();
  }

  // ---- what the shard asks ----

  /** Once a second. */
  void tick() {
    if (appending.isLeading()) { // nothing is recorded behind the record of an orderly stop
      order.tick();
    }
  }

  /** So much room is on the disk. */
  void sawDisk(BrokerMetrics.DiskUse use) {
    new DiskGuard(member.settings().disk().minFreeBytes(), replica.checkpoints())
        .saw(use.usableBytes(), placing, staging);
    metrics.disk(use);
  }

  /** Wants a checkpoint if half of the segments is needed by nobody. */
  void reclaimIfWorthIt() {
    Checkpoints checkpoints = replica.checkpoints();
    checkpoints.lookForDeadBytes(
        dead -> {
          long all = 0;
          for (var segment : replica.segments().segments()) {
            all += segment.entryBytes();
          }
          if (dead > 0 && dead >= all / 2) {
            checkpoints.want();
          }
        });
  }

  /** Whether runs wait for memory. */
  boolean isHolding() {
    return intake.waits();
  }

  ShardRunner runner() {
    return runner;
  }

  MetricsTaker metrics() {
    return metrics;
  }

  Placing placing() {
    return placing;
  }

  /** Who has a share in a turn, in which order. */
  TurnOrder order() {
    return order;
  }

  /** What evaluating selectors costs. */
  Work work() {
    return work;
  }
}
