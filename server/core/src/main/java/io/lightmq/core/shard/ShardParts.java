package io.lightmq.core.shard;

import io.lightmq.core.delivery.Beside;
import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.Decisions;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.delivery.Fetcher;
import io.lightmq.core.destination.DestinationRules;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Overflow;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A shard's parts, put together once its state is recovered. */
@OwnedBy("shard")
final class ShardParts {
  private final BrokerSettings settings;
  private final Journal journal;
  private final Window window;
  private final ShardState state;
  private final TurnTime time;
  private final Work work;
  private final Ready ready = new Ready();
  private final Counters counters = new Counters();
  private final BatchBuilder batch;
  private final Recorder recorder;
  private final Unforeseen unforeseen;
  private final NamedBudget budget;
  private final Dispatcher dispatcher;
  private final Sessions sessions;
  private final Settlements settlements;
  private final Placing placing;
  private final Overflow overflow;
  private final Mover mover;
  private final Withheld withheld;
  private final DeadLetters deadLetters;
  private final Delays delays;
  private final Janitor janitor;
  private final Retries retries;
  private final SettingAside settingAside;
  private final Intake publishing;
  private final Commands commands;
  private final Checkpoints checkpoints;
  private final ShardRunner runner;

  ShardParts(
      BrokerSettings settings,
      StoreIdentity identity,
      Journal journal,
      Window window,
      ShardState state,
      Clock clock,
      Fetcher fetcher,
      Beside beside,
      Overflow overflow,
      Checkpoints.Stores stores,
      Landing.Maker landings,
      RunnerMaker maker) {
    this.settings = settings;
    this.journal = journal;
    this.window = window;
    this.state = state;
    this.overflow = overflow;
    this.work = beside.work();
    this.time = new TurnTime(clock);
    this.batch = new BatchBuilder(window);
    this.recorder = new Recorder(state, batch, journal);
    this.unforeseen = new Unforeseen(recorder, counters, time);
    this.budget = new NamedBudget(state, settings.memory().namedBytes());
    Later later = new Later();
    this.dispatcher = new Dispatcher(window, fetcher, beside, later);
    recorder.touches(later);
    DestinationRules rules = rules(settings);
    Temporaries temporaries =
        new Temporaries(
            identity.key(), identity.used(), settings.intervals().temporaryGraceMillis(), time);
    Subscribing subscribing =
        new Subscribing(
            state,
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
    this.settlements = new Settlements(state, time, ready);
    Landing landing =
        landings.make(
            new Landing.Parts(
                settings,
                state,
                recorder,
                placing,
                subscribing,
                settlements,
                ready,
                counters,
                time));
    EntryReads reads = new EntryReads(window, fetcher);
    Matchings matchings = new Matchings(beside, later::lookAgain);
    this.mover =
        new Mover(
            reads,
            later,
            new MoveRecords(landing, placing, budget, later, time, later, matchings),
            ready,
            counters,
            time,
            later::wake,
            recorder,
            unforeseen);
    this.withheld = new Withheld(ready, time);
    this.settingAside = new SettingAside(state, recorder, ready, counters, time);
    this.deadLetters =
        new DeadLetters(
            mover,
            subscribing,
            counters,
            time,
            BrokerSettings.longestMessage(settings.memory().windowBytes(), settings.journal()));
    this.delays =
        new Delays(
            state,
            subscribing,
            reads,
            later,
            mover,
            deadLetters,
            counters,
            time,
            later::wake,
            new HourRoom(settings.memory().namedBytes()));
    landing.holders(delays::came);
    this.retries = new Retries(mover, subscribing, time, later::soon, unforeseen);
    VerbTurns turns = new VerbTurns(later::soon, recorder, unforeseen);
    LetterScan scans = new LetterScan(reads, turns, recorder, unforeseen);
    DeadLetterAdministration letters =
        new DeadLetterAdministration(settings, state, scans, retries, time);
    this.janitor = new Janitor(state, reads, later, time, later::soon, recorder, unforeseen);
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
        new Sessions(
            state,
            recorder,
            dispatcher,
            subscribing,
            temporaries,
            attempts,
            time,
            matchings,
            budget);
    later.sessions = sessions;
    Receipts receipts = new Receipts(state, recorder, sessions, budget);
    DelayedRuns delayedRuns = new DelayedRuns(state, subscribing, delays, placing, landing, time);
    Transactions transactions =
        new Transactions(
            settings, state, settlements, placing, delayedRuns, matchings, landing, time);
    this.publishing =
        new Intake(
            settings,
            state,
            recorder,
            sessions,
            settlements,
            time,
            placing,
            receipts,
            transactions,
            delayedRuns,
            landing,
            attempts,
            later,
            matchings,
            work,
            unforeseen);
    Consuming consuming =
        new Consuming(
            state,
            recorder,
            sessions,
            settlements,
            dispatcher,
            subscribing,
            counters,
            attempts,
            settings.maxBatchBytes());
    Administration administration =
        new Administration(
            state,
            recorder,
            sessions,
            subscribing,
            rules,
            counters,
            withheld,
            ready,
            delays,
            letters,
            new DelayAdministration(state, delays, scans, recorder, later, time, turns),
            new DamagedAdministration(state, delays, recorder, later, ready, turns),
            new LinkAdministration(state, sessions, recorder, later, time, turns),
            settings.maxBatchBytes());
    this.commands =
        new Commands(sessions, publishing, consuming, administration, recorder, unforeseen);
    this.checkpoints =
        new Checkpoints(stores, settings, state, journal, recorder, time, settingAside::damaged);
    this.runner = maker.make(this);
    later.runner = runner;
  }

  /** Makes the runner of the finished parts. */
  interface RunnerMaker {
    ShardRunner make(ShardParts parts);
  }

  /** Stands for the runner, which is made last. */
  private static final class Later implements Decisions, Admission, MoveRecords.ClientIds {
    @Nullable ShardRunner runner;
    @Nullable Sessions sessions;

    private ShardRunner runner() {
      ShardRunner made = runner;
      if (made == null) {
        throw new IllegalStateException("the shard is not put together yet");
      }
      return made;
    }

    @Override
    public @Nullable String clientId(long connectionId) {
      return sessions == null ? null : sessions.clientId(connectionId);
    }

    void wake() {
      runner().wakeSoon();
    }

    void lookAgain() {
      runner().lookAgain();
    }

    void soon(Runnable task) {
      runner().soon(task);
    }

    @Override
    public boolean admit(long bytes, boolean publishes) {
      return runner().admit(bytes, publishes);
    }

    @Override
    public void touch(Subscription subscription, int lane, long blockKey) {
      runner().touch(subscription, lane, blockKey);
    }

    @Override
    public void giveUp(Subscription subscription, int lane, long from, int count, Reason reason) {
      runner().giveUp(subscription, lane, from, count, reason);
    }

    @Override
    public void consume(Consumer consumer, List<SequenceRange> ranges) {
      runner().consume(consumer, ranges);
    }

    @Override
    public void goOnLater(Subscription subscription) {
      runner().goOnLater(subscription);
    }

    @Override
    public boolean setAside(Subscription subscription, Lane lane, Damage damage) {
      return runner().setAside(subscription, lane, damage);
    }

    @Override
    public void unreadable(Subscription subscription, IOException cause) {
      runner().unreadable(subscription, cause);
    }
  }

  private static DestinationRules rules(BrokerSettings settings) {
    List<DestinationRules.Rule> rules = new ArrayList<>();
    for (BrokerSettings.DestinationRule rule : settings.destinations().rules()) {
      rules.add(new DestinationRules.Rule(rule.pattern(), rule.settings()));
    }
    // The least specific pattern, and the last among its equals.
    rules.add(new DestinationRules.Rule(">", settings.destinations().settings()));
    return new DestinationRules(rules);
  }

  BrokerSettings settings() {
    return settings;
  }

  Journal journal() {
    return journal;
  }

  Window window() {
    return window;
  }

  ShardState state() {
    return state;
  }

  TurnTime time() {
    return time;
  }

  /** What evaluating selectors costs. */
  Work work() {
    return work;
  }

  Ready ready() {
    return ready;
  }

  Counters counters() {
    return counters;
  }

  SettingAside settingAside() {
    return settingAside;
  }

  BatchBuilder batch() {
    return batch;
  }

  Recorder recorder() {
    return recorder;
  }

  NamedBudget budget() {
    return budget;
  }

  Unforeseen unforeseen() {
    return unforeseen;
  }

  Dispatcher dispatcher() {
    return dispatcher;
  }

  Settlements settlements() {
    return settlements;
  }

  Sessions sessions() {
    return sessions;
  }

  Placing placing() {
    return placing;
  }

  Overflow overflow() {
    return overflow;
  }

  Mover mover() {
    return mover;
  }

  Withheld withheld() {
    return withheld;
  }

  Retries retries() {
    return retries;
  }

  Janitor janitor() {
    return janitor;
  }

  Delays delays() {
    return delays;
  }

  DeadLetters deadLetters() {
    return deadLetters;
  }

  Intake publishing() {
    return publishing;
  }

  Commands commands() {
    return commands;
  }

  Checkpoints checkpoints() {
    return checkpoints;
  }

  ShardRunner runner() {
    return runner;
  }
}
