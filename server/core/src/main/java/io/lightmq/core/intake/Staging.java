package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.ShardRecord.Decided;
import io.lightmq.core.record.ShardRecord.Dropped;
import io.lightmq.core.record.ShardRecord.Forgotten;
import io.lightmq.core.record.ShardRecord.Prepared;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Arrival;
import io.lightmq.core.sessions.Attempts;
import io.lightmq.core.sessions.LastConsumer;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The transactions that are kept before they are committed: begins them, stages their parts and
 * ends them, by a numbered step of a link, by its loss, or because they are given up.
 */
@OwnedBy("shard")
public final class Staging implements TurnPart {
  private static final int STEP_BYTES = 512;

  private final StagingLimits limits;
  private final ShardState state;
  private final Recorder recorder;
  private final Sessions sessions;
  private final Transactions transactions;
  private final Landing landing;
  private final LateSelecting lateSelecting;
  private final Attempts attempts;
  private final Admission admission;
  private final TurnTime time;

  /** Which links take part in one that is not prepared; with one of them it is lost. */
  private final Map<Long, Set<UUID>> linksOf = new HashMap<>();

  /** In which of these a link takes part. */
  private final Map<UUID, Set<Long>> partsOf = new HashMap<>();

  /** What they acknowledge that no record tells. */
  private final Map<Long, List<Settlements.Accepted>> memory = new HashMap<>();

  /** How many ids things in memory had got when they began; of those that began here. */
  private final Map<Long, Integer> unloggedBelow = new HashMap<>();

  /** What they send to temporary destinations once they are prepared. */
  private final KeptInMemory kept;

  private boolean ended;

  public Staging(
      BrokerSettings settings,
      Recorder recorder,
      Sessions sessions,
      Transactions transactions,
      Placing placing,
      DelayedRuns delayed,
      Landing landing,
      LateSelecting lateSelecting,
      Attempts attempts,
      Admission admission,
      TurnTime time) {
    this.state = recorder.state();
    this.limits = new StagingLimits(settings, state);
    this.recorder = recorder;
    this.sessions = sessions;
    this.transactions = transactions;
    this.kept = new KeptInMemory(settings, placing, delayed, time);
    this.landing = landing;
    this.lateSelecting = lateSelecting;
    this.attempts = attempts;
    this.admission = admission;
    this.time = time;
  }

  /** So much of the disk is free. */
  public void sawDisk(long usableBytes) {
    state.guard().check();
    limits.sawDisk(usableBytes);
  }

  private StagedTransactions all() {
    return state.transactions();
  }

  /** By what name a transaction of a link is kept. */
  static TransactionName name(PeerSession session, Link link, Branch branch) {
    if (branch instanceof Branch.Local local) {
      return new TransactionName.OfLink(link.id(), local.number());
    }
    return new TransactionName.OfUser(session.peer().userName(), ((Branch.Xa) branch).xid());
  }

  /**
   * The transaction of a name that is not prepared, null if there is none.
   *
   * @param id what its sender was told; 0 for nothing
   * @throws Refusal if it is another one, or prepared
   */
  private @Nullable StagedTransaction open(TransactionName name, long id) {
    StagedTransaction known = all().find(name);
    if (id != 0 && (known == null || known.id() != id)) {
      throw Transactions.rolledBack(
          "nothing of transaction "
              + id
              + " is left; it was dropped with a connection that had part in it");
    }
    if (known != null && known.branchState() != null) {
      throw new Refusal(
          FaultCode.DUPLICATE_TRANSACTION,
          known.isPrepared()
              ? "a branch of this name is prepared already"
              : "an administrator has decided a branch of this name, and it is not forgotten");
    }
    return known;
  }

  // ---- parts ----

  /** The bytes that a part records at most. */
  long recordBytes(PeerSession session, Transactions.Part part, long ofAcknowledgements) {
    return STEP_BYTES
        + RecordBytes.of(part.runs(), session.user().length)
        + (long) RecordBytes.HOLDER_BYTES * part.runs().size()
        + ofAcknowledgements;
  }

  /**
   * Stages a part.
   *
   * @return the transaction's id
   * @throws Refusal if it cannot be staged; what was staged before stays
   */
  long stage(PeerSession session, Link link, Command.Stage command) {
    TransactionName name = name(session, link, command.branch());
    StagedTransaction known = open(name, command.transaction());
    return stage(session, link, name, known, Transactions.Part.of(command));
  }

  private long stage(
      PeerSession session,
      Link link,
      TransactionName name,
      @Nullable StagedTransaction known,
      Transactions.Part part) {
    limits.check(
        session.peer().userName(), partsOf.getOrDefault(link.id(), Set.of()).size(), known, part);
    long id = known == null ? all().nextId() : known.id();
    int unlogged = (int) state.unloggedIds();
    Plan plan =
        transactions.planStage(
            session, link, new Plan.Stage(id, known == null ? name : null), part);
    landing.carryOut(plan);
    unloggedBelow.putIfAbsent(id, unlogged);
    limits.open(id, session.peer().userName());
    linksOf.computeIfAbsent(id, none -> new LinkedHashSet<>()).add(link.id());
    partsOf.computeIfAbsent(link.id(), none -> new LinkedHashSet<>()).add(id);
    for (Plan.Settled each : plan.settled()) {
      if (!each.accepted().unrecorded().isEmpty()) {
        memory.computeIfAbsent(id, none -> new ArrayList<>()).add(each.accepted().ofMemory());
      }
    }
    return id;
  }

  // ---- numbered steps ----

  /** The bytes that a step records at most besides what it carries. */
  long stepBytes(PeerSession session, Link link, Command.Commit command) {
    StagedTransaction known = known(session, link, command);
    long bytes = STEP_BYTES + (long) RecordBytes.HOLDER_BYTES * command.runs().size();
    if (known != null) {
      // If it is rolled back, attempts are recorded in the place of its release.
      bytes +=
          Math.max(
              (long) RecordBytes.HOLDER_BYTES * known.queues().size(),
              Attempts.recordBytes(rests(known)));
    }
    return bytes;
  }

  private @Nullable StagedTransaction known(
      PeerSession session, Link link, Command.Commit command) {
    Command.Step step = command.step();
    if (step instanceof Command.Step.Commits commits) {
      Command.Staged staged = commits.staged();
      return staged == null ? null : all().find(name(session, link, staged.branch()));
    } else if (step instanceof Command.Step.Prepares prepares) {
      return all().find(name(session, link, new Branch.Xa(prepares.xid())));
    }
    return all().find(name(session, link, new Branch.Xa(((Command.Step.Decides) step).xid())));
  }

  /**
   * Takes a step whose number is next and that waits no longer.
   *
   * @return the mark that its receipt waits for, null for none
   * @throws Refusal if it is refused; unless it decides a prepared branch, that rolls back
   */
  @Nullable Mark carryOut(PeerSession session, Link link, Command.Commit command) {
    Command.Step step = command.step();
    if (step instanceof Command.Step.Commits commits) {
      return commit(session, link, command, commits.staged());
    } else if (step instanceof Command.Step.Prepares prepares) {
      return prepare(session, link, command, prepares);
    }
    return decide(session, link, command, (Command.Step.Decides) step);
  }

  private @Nullable Mark commit(
      PeerSession session, Link link, Command.Commit command, Command.@Nullable Staged staged) {
    if (staged == null) {
      throw new IllegalStateException("a commit of nothing that was staged is no step");
    }
    TransactionName name = name(session, link, staged.branch());
    StagedTransaction known = open(name, staged.transaction());
    if (known == null) {
      throw Transactions.rolledBack("nothing was staged of it");
    }
    Transactions.Part part = Transactions.Part.of(command);
    if (!part.runs().isEmpty() || !part.acked().isEmpty()) {
      long unused = stage(session, link, name, known, part);
    }
    return release(session, link, command.number(), part, known);
  }

  private @Nullable Mark release(
      PeerSession session,
      Link link,
      long number,
      Transactions.Part part,
      StagedTransaction transaction) {
    List<Settlements.Accepted> ofMemory = memory.getOrDefault(transaction.id(), List.of());
    Plan plan =
        transactions.planRelease(
            session, link, number, part, transaction, ofMemory, kept.parcels(transaction.id()));
    Mark mark = landing.carryOut(plan);
    forget(transaction);
    return mark;
  }

  /** Whether a step need not wait until subscriptions are asked that came late. */
  boolean isReady(PeerSession session, Link link, Command.Commit command) {
    if (command.isWhole()
        || command.step() instanceof Command.Step.Prepares
        || (command.step() instanceof Command.Step.Decides decides
            && decides.decision() != BranchDecision.COMMIT)) {
      return true;
    }
    StagedTransaction known = known(session, link, command);
    return known == null || lateSelecting.isReady(known, late(known));
  }

  /** Who was not there when it began, and does not want everything. */
  private List<LateSelecting.Late> late(StagedTransaction transaction) {
    List<LateSelecting.Late> late = new ArrayList<>(0);
    Arrival began =
        Arrival.of(
            transaction.subscriptionsBelow(),
            unloggedBelow.getOrDefault(transaction.id(), 0),
            state.epoch());
    for (StagedQueue queue : transaction.queues()) {
      Destination to = state.destinations().find(queue.destinationId());
      if (to == null || queue.isDelayed() || to.partialSubscriptions() == 0) {
        continue;
      }
      for (Subscription each : to.subscriptions()) {
        if (each.isPartial() && !began.had(each)) {
          late.add(new LateSelecting.Late(queue, each));
        }
      }
    }
    return late;
  }

  private Mark prepare(
      PeerSession session, Link link, Command.Commit command, Command.Step.Prepares step) {
    TransactionName name = name(session, link, new Branch.Xa(step.xid()));
    StagedTransaction known = open(name, step.transaction());
    limits.checkPrepared(session.peer().userName());
    if (known != null) {
      transactions.checkThere(known, memory.getOrDefault(known.id(), List.of()));
    }
    Runnable keep = kept.look(known == null ? all().nextId() : known.id(), session, command);
    long id = stage(session, link, name, known, Transactions.Part.of(command));
    keep.run();
    landing.record(link.id(), command.number(), List.of(new Prepared(id, time.millis())));
    leaveLinks(id);
    return Mark.DURABLE;
  }

  private @Nullable Mark decide(
      PeerSession session, Link link, Command.Commit command, Command.Step.Decides step) {
    StagedTransaction known = all().find(name(session, link, new Branch.Xa(step.xid())));
    BranchState branchState = known == null ? null : known.branchState();
    if (known == null || branchState == null) {
      throw new Refusal(
          FaultCode.UNKNOWN_TRANSACTION, "no branch of this name is prepared: " + step.xid());
    }
    if (step.decision() == BranchDecision.FORGET) {
      if (branchState == BranchState.PREPARED) {
        throw new Refusal(
            FaultCode.BAD_REQUEST,
            "the branch is prepared; only what an administrator has decided can be forgotten");
      }
      landing.record(link.id(), command.number(), List.of(new Forgotten(known.id())));
      return Mark.DURABLE;
    }
    if (branchState != BranchState.PREPARED) {
      boolean committed = branchState == BranchState.HEURISTICALLY_COMMITTED;
      throw new Refusal(
          committed ? FaultCode.HEURISTIC_COMMIT : FaultCode.HEURISTIC_ROLLBACK,
          "an administrator has " + (committed ? "committed" : "rolled back") + " the branch");
    }
    if (step.decision() == BranchDecision.COMMIT) {
      return release(session, link, command.number(), Transactions.Part.of(command), known);
    }
    Runnable record =
        () -> landing.record(link.id(), command.number(), List.of(new Dropped(known.id())));
    drop(known, Attempts.last(session, null), true, null, record);
    return Mark.DURABLE;
  }

  /** A step is refused that would have ended an open transaction: that is rolled back. */
  void rolledBack(PeerSession session, Link link, Command.Commit command, Refusal refusal) {
    if (command.isWhole() || command.step() instanceof Command.Step.Decides) {
      return;
    }
    StagedTransaction known = known(session, link, command);
    if (known != null && known.branchState() == null) {
      drop(known, session, !refusal.code().isWantOfRoom(), null);
    }
  }

  /** A part is refused, and its transaction with it. */
  void rolledBack(PeerSession session, Link link, Command.Stage command) {
    StagedTransaction known = all().find(name(session, link, command.branch()));
    if (known != null && known.branchState() == null) {
      drop(known, session, true, null);
    }
  }

  // ---- without a number ----

  /** The bytes that giving up a transaction records at most. */
  public long recordBytes(Command.Abandon command) {
    state.guard().check();
    PeerSession session = sessions.find(command.peer());
    Link link = session == null ? null : session.link();
    StagedTransaction known =
        session == null || link == null ? null : all().find(name(session, link, command.branch()));
    return STEP_BYTES + (known == null ? 0 : Attempts.recordBytes(rests(known)));
  }

  /** Rolls back what was staged under a name and is not prepared. */
  void abandon(Command.Abandon command) {
    PeerSession session = sessions.attached(command.peer());
    Link link = session.link();
    StagedTransaction known =
        link == null ? null : all().find(name(session, link, command.branch()));
    if (known != null && known.branchState() != null) {
      throw new Refusal(
          FaultCode.DUPLICATE_TRANSACTION,
          "a branch of this name is prepared or decided; a decision ends it");
    }
    if (known != null) {
      drop(known, session, command.attempted(), null);
    }
    recorder.atTurnEnd(() -> command.peer().reply(command.correlation(), new Peer.Reply.Ok()));
  }

  /** Tells a user's transaction manager what is to be decided. */
  public void recover(Command.Recover command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    List<Peer.RecoveredBranch> found = new ArrayList<>();
    boolean more = false;
    for (StagedTransaction each : all().told(session.peer().userName(), command.after())) {
      BranchState branchState = each.branchState();
      if (found.size() == command.most()) {
        more = true;
        break;
      }
      if (branchState != null && each.name() instanceof TransactionName.OfUser branch) {
        found.add(new Peer.RecoveredBranch(branch.xid(), branchState));
      }
    }
    Peer.Reply.Recovered reply = new Peer.Reply.Recovered(found, more);
    // What is told to be prepared has to be so after a crash, too.
    recorder.anywhereOnceDurable(() -> command.peer().reply(command.correlation(), reply));
  }

  // ---- administrators ----

  /** The bytes that a decision of an administrator records at most. */
  public long decisionBytes(StagedTransaction branch) {
    state.guard().check();
    return STEP_BYTES
        + Math.max(
            (long) RecordBytes.HOLDER_BYTES * branch.queues().size(),
            Attempts.recordBytes(rests(branch)));
  }

  /** Whether a prepared branch can be committed now, or subscriptions are asked before. */
  public boolean mayBeCommitted(StagedTransaction branch) {
    state.guard().check();
    return lateSelecting.isReady(branch, late(branch));
  }

  /**
   * An administrator commits a prepared branch; its name stays until it is forgotten.
   *
   * @throws Refusal if it cannot be committed now
   */
  public void commitByHand(StagedTransaction branch) {
    state.guard().check();
    List<Settlements.Accepted> ofMemory = memory.getOrDefault(branch.id(), List.of());
    landing.carryOut(transactions.planDecided(branch, ofMemory, kept.parcels(branch.id())));
    forget(branch);
  }

  /** An administrator rolls a prepared branch back; its name stays until it is forgotten. */
  public void rollBackByHand(StagedTransaction branch, LastConsumer by) {
    state.guard().check();
    drop(
        branch,
        by,
        true,
        null,
        () ->
            landing.record(
                null, 0, List.of(new Decided(branch.id(), false), new Dropped(branch.id()))));
  }

  /** Nobody is told any more how a branch was decided by hand. */
  public void forgetByHand(StagedTransaction branch) {
    state.guard().check();
    landing.record(null, 0, List.of(new Forgotten(branch.id())));
  }

  // ---- rolled back ----

  /** A connection has gone: what it has part in and is not prepared is lost. */
  public void left(PeerSession session, boolean counts) {
    state.guard().check();
    Link link = session.link();
    if (link == null || ended) {
      return;
    }
    for (long id : List.copyOf(partsOf.getOrDefault(link.id(), Set.of()))) {
      StagedTransaction known = all().find(id);
      if (known != null && known.branchState() == null) {
        boolean admitted = counts && admission.admit(Attempts.recordBytes(rests(known)), false);
        drop(known, session, admitted, link.id());
      }
    }
    partsOf.remove(link.id());
  }

  private void drop(
      StagedTransaction transaction, PeerSession by, boolean attempted, @Nullable UUID lostLink) {
    drop(
        transaction,
        Attempts.last(by, null),
        attempted,
        lostLink,
        () -> recorder.record(new Dropped(transaction.id())));
  }

  private void drop(
      StagedTransaction transaction,
      LastConsumer last,
      boolean attempted,
      @Nullable UUID lostLink,
      Runnable record) {
    List<Attempts.Rest> rests = rests(transaction);
    List<Settlements.Accepted> ofMemory = memory.getOrDefault(transaction.id(), List.of());
    Runnable free =
        () -> {
          record.run();
          ofMemory.forEach(Staging::giveBack);
        };
    if (attempted) {
      attempts.rolledBack(rests, last, lostLink, free);
    } else {
      free.run();
      attempts.freed(rests);
    }
    forget(transaction);
  }

  private static void giveBack(Settlements.Accepted accepted) {
    if (!accepted.subscription().isClosed()) {
      for (SequenceRange range : accepted.unrecorded()) {
        accepted.subscription().giveBack(range.lane(), range.from(), range.count(), true);
      }
    }
  }

  /** What a transaction acknowledges, by subscription. */
  private List<Attempts.Rest> rests(StagedTransaction transaction) {
    Map<HeldMessages, List<SequenceRange>> recorded = new LinkedHashMap<>();
    transaction.held().forEach(each -> recorded.put(each, each.ranges(Attempts.MAX_STAGED)));
    List<Attempts.Rest> rests = new ArrayList<>();
    recorded.forEach((held, ranges) -> rests.add(new Attempts.Rest(held.subscription(), ranges)));
    for (Settlements.Accepted each : memory.getOrDefault(transaction.id(), List.of())) {
      rests.add(new Attempts.Rest(each.subscription(), each.unrecorded()));
    }
    return rests;
  }

  private void forget(StagedTransaction transaction) {
    long id = transaction.id();
    lateSelecting.forget(transaction);
    memory.remove(id);
    unloggedBelow.remove(id);
    kept.forget(id);
    leaveLinks(id);
  }

  private void leaveLinks(long id) {
    limits.closed(id);
    Set<UUID> links = linksOf.remove(id);
    for (UUID link : links == null ? Set.<UUID>of() : links) {
      partsOf.computeIfPresent(
          link,
          (of, parts) -> {
            parts.remove(id);
            return parts.isEmpty() ? null : parts;
          });
    }
  }

  /** Nothing is recorded any more; what is not prepared is dropped by the next start. */
  @Override
  public void end() {
    state.guard().check();
    ended = true;
  }
}
