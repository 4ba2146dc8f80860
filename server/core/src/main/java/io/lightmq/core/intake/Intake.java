package io.lightmq.core.intake;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.Attempts;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.sessions.WaitingCommit;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.core.transaction.Link;
import io.lightmq.spi.Journal;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes runs and transactions in the order of their numbers, each once, and holds what there is no
 * room for yet.
 */
@OwnedBy("shard")
public final class Intake {
  /**
   * A run or commit waits so long for memory. Acknowledgements, which free it, may stand behind
   * more runs of the same connection, which are not read before this one has given its credit back.
   */
  public static final long MAX_HELD_MILLIS = 10_000;

  private final BrokerSettings settings;
  private final ShardState state;
  private final Sessions sessions;
  private final Settlements settlements;
  private final TurnTime time;
  private final Placing placing;
  private final Receipts receipts;
  private final Transactions transactions;
  private final DelayedRuns delayed;
  private final Landing landing;
  private final Attempts attempts;
  private final Admission admission;
  private final Matchings matchings;
  private final Work work;
  private final Unforeseen unforeseen;
  private final Set<PeerSession> holding = new LinkedHashSet<>();
  private final EarlyCommits early;

  public Intake(
      BrokerSettings settings,
      ShardState state,
      Sessions sessions,
      Settlements settlements,
      TurnTime time,
      Placing placing,
      Receipts receipts,
      Transactions transactions,
      DelayedRuns delayed,
      Landing landing,
      Attempts attempts,
      Admission admission,
      Matchings matchings,
      Work work,
      Unforeseen unforeseen) {
    this.admission = admission;
    this.matchings = matchings;
    this.work = work;
    this.unforeseen = unforeseen;
    this.settings = settings;
    this.state = state;
    this.sessions = sessions;
    this.settlements = settlements;
    this.time = time;
    this.placing = placing;
    this.receipts = receipts;
    this.transactions = transactions;
    this.delayed = delayed;
    this.landing = landing;
    this.attempts = attempts;
    this.early = new EarlyCommits(sessions);
  }

  /** Commits whose lower numbers have not come. */
  public EarlyCommits early() {
    return early;
  }

  // ---- runs ----

  /** Takes a run, or holds it while memory for unlogged messages is short. */
  public void publish(Command.Publish command) {
    PeerSession session = sessions.find(command.peer());
    if (session == null || session.link() == null || session.fenced()) {
      command.messages().release();
      return;
    }
    if (!session.heldPublishes().isEmpty() || !take(session, command, false)) {
      session.heldPublishes().add(new PeerSession.Held(command, time.nanos()));
      holding.add(session);
    }
  }

  /** Tries again what was held. */
  public void retryHeld() {
    for (PeerSession session : List.copyOf(holding)) {
      if (work.isTired()) {
        return; // who had a turn stands behind those who had none
      }
      takeWaiting(session);
      PeerSession.Held next = session.heldPublishes().poll();
      while (next != null && !work.isTired() && take(session, next.publish(), isOverdue(next))) {
        next = session.heldPublishes().poll();
      }
      if (next != null) {
        session.heldPublishes().addFirst(next);
      }
      holding.remove(session);
      if (next != null || waitsForRoom(session)) {
        holding.add(session);
      }
    }
  }

  private boolean isOverdue(PeerSession.Held held) {
    return time.nanos() - held.sinceNanos() >= MAX_HELD_MILLIS * 1_000_000;
  }

  /** Whether there is room; what is too long for any batch is let through and refused then. */
  private boolean admitted(long bytes, boolean publishes) {
    return admission.admit(Math.min(bytes, settings.maxBatchBytes()), publishes);
  }

  /** Whether a commit is next and waits only for room. */
  private static boolean waitsForRoom(PeerSession session) {
    return session.waitingCommits().containsKey(linkOf(session).last() + 1);
  }

  /** Whether runs wait for memory. */
  public boolean isHolding() {
    return !holding.isEmpty();
  }

  /**
   * Decides a run; false if it has to wait for memory.
   *
   * @param overdue whether it has waited so long that it is refused instead
   */
  private boolean take(PeerSession session, Command.Publish command, boolean overdue) {
    Link link = linkOf(session);
    long number = command.number();
    long before = unforeseen.changes();
    try {
      if (waitsForRoom(session) || (number > 0 && !admitted(bytes(session, command), true))) {
        return false;
      }
    } catch (RuntimeException thrown) {
      Refusal bug = unforeseen.refusal(thrown, "the room for a run", before);
      finish(session, command);
      sessions.expel(session, bug.code(), bug.text());
      return true;
    }
    if (number > 0 && link.judge(number) == Link.Verdict.REPEAT) {
      receipts.answerRepeat(session, link, number, command.correlation());
      finish(session, command);
      return true;
    }
    if (number < 0 || (number > 0 && link.judge(number) == Link.Verdict.EARLY)) {
      matchings.release(command);
      sessions.expel(
          session,
          FaultCode.PROTOCOL_ERROR,
          "run " + number + " does not follow " + link.last() + ", the last that was taken");
      return true;
    }
    try {
      if (!isMatched(session, command) || !decide(session, link, command, overdue)) {
        return false;
      }
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, "a run of messages", before);
      receipts.refuse(session, link, number, command.correlation(), refusal);
    }
    finish(session, command);
    takeWaiting(session);
    return true;
  }

  private long bytes(PeerSession session, Command.Publish command) {
    Destination destination = state.destinations().find(command.destinationId());
    return RecordBytes.of(command, session.user().length)
        + RecordBytes.ofSkips(destination, command.count());
  }

  /** Whether it need not wait because selectors look at it beside the shard. */
  private boolean isMatched(PeerSession session, Command.Publish command) {
    long most = mostSteps(command.destinationId(), command.count(), command.messages());
    if (matchings.needsNone(most)) {
      return true; // nearly all runs; no more is made for them
    }
    return matchings.isReady(
        command,
        most,
        () -> List.of(part(session, command.destinationId(), command.count(), command.messages())));
  }

  private boolean isMatched(PeerSession session, Command.Commit commit) {
    long most = 0;
    for (Command.StagedRun run : commit.runs()) {
      most += mostSteps(run.destinationId(), run.count(), run.messages());
    }
    if (matchings.needsNone(most)) {
      return true;
    }
    return matchings.isReady(
        commit,
        most,
        () -> {
          List<Matchings.Part> parts = new ArrayList<>();
          for (Command.StagedRun run : commit.runs()) {
            if (state.destinations().find(run.destinationId()) == null) {
              return List.of(); // it is rolled back, whatever anybody wants of it
            }
            parts.add(part(session, run.destinationId(), run.count(), run.messages()));
          }
          return parts;
        });
  }

  /** What selectors take at most for a run, from what costs nothing to know. */
  private long mostSteps(long destinationId, int count, Command.Bytes messages) {
    Destination to = state.destinations().find(destinationId);
    return to == null ? 0 : to.weight().steps(count, messages.buffer().remaining());
  }

  private Matchings.Part part(PeerSession session, long id, int count, Command.Bytes messages) {
    Runs.Checked run = placing.check(session, count, messages.buffer());
    Destination to = state.destinations().find(id);
    if (to == null) {
      throw new Refusal(FaultCode.DESTINATION_GONE, Placing.goneText(id));
    }
    return new Matchings.Part(to, run.delayed() ? run.undelayed() : run);
  }

  private boolean decide(PeerSession session, Link link, Command.Publish command, boolean overdue) {
    Landing.Planned planned = plan(session, link, command);
    if (planned instanceof Landing.Wait wait) {
      placing.wantRoom();
      if (overdue) {
        throw placing.memoryFull(wait.bytes(), MAX_HELD_MILLIS);
      }
      return false;
    }
    Plan plan = (Plan) planned;
    if (plan.mark() == null && !admittedUnlogged(plan, command)) {
      return false;
    }
    receipts.answerBehind(landing.carryOut(plan), session.peer(), command.correlation());
    return true;
  }

  /** Plans a run; changes nothing. */
  public Landing.Planned plan(PeerSession session, Link link, Command.Publish command) {
    Runs.Checked run = placing.check(session, command.count(), command.messages().buffer());
    Destination to = state.destinations().find(command.destinationId());
    if (to == null) {
      throw new Refusal(FaultCode.DESTINATION_GONE, Placing.goneText(command.destinationId()));
    }
    long number = command.number();
    Sender sender = Sender.of(session, time.arrived(command.arrivedMillis()), number > 0, time);
    Map<Filter, BitSet> known = matchings.of(command, 0);
    if (run.delayed()) {
      return delayed.plan(link.id(), number, sender, to, run, known);
    }
    Runs.Checked wanted = placing.select(sender, to, run, known);
    return landing.plan(link.id(), number, sender, to, run, wanted);
  }

  /** Whether there is room for what a run records that goes into memory only. */
  private boolean admittedUnlogged(Plan plan, Command.Publish command) {
    long created = plan.batchBytes();
    if (created > 0 && command.number() == 0 && !admitted(created, true)) {
      return false; // no room was asked for it before
    }
    return plan.awaited() == null || admitted(Journal.Batch.HEADER_BYTES, false);
  }

  /**
   * A run's bytes have left the budget: copied, refused or known. They go when nobody looks at them
   * beside the shard any more.
   */
  private void finish(PeerSession session, Command.Publish command) {
    int bytes = command.messages().buffer().remaining();
    matchings.release(command);
    session.peer().credit(bytes);
  }

  private static Link linkOf(PeerSession session) {
    Link link = session.link();
    if (link == null) {
      throw new IllegalStateException(
          "connection " + session.peer().connectionId() + " has no link");
    }
    return link;
  }

  // ---- transactions ----

  /** Takes a commit, once all runs before it are taken. */
  public void commit(Command.Commit command) {
    PeerSession session = sessions.find(command.peer());
    if (session == null || session.link() == null || session.fenced()) {
      command.release();
      return;
    }
    Link link = linkOf(session);
    if (command.number() == 0 && command.runs().isEmpty() && command.acked().isEmpty()) {
      receipts.answerNow(session.peer(), command.correlation());
      return;
    }
    if (command.number() <= 0) {
      command.release();
      sessions.expel(
          session,
          FaultCode.PROTOCOL_ERROR,
          "a commit with content has number " + command.number());
      return;
    }
    if (link.judge(command.number()) == Link.Verdict.REPEAT) {
      command.release();
      receipts.answerRepeat(session, link, command.number(), command.correlation());
      return;
    }
    if (session.waitingCommits().size() >= PeerSession.MAX_WAITING_COMMITS) {
      command.release();
      sessions.expel(
          session,
          FaultCode.LIMIT_REACHED,
          PeerSession.MAX_WAITING_COMMITS + " commits wait for runs that have not come");
      return;
    }
    for (PeerSession.Held held : session.heldPublishes()) {
      if (held.publish().number() == command.number()) {
        command.release();
        sessions.expel(
            session,
            FaultCode.PROTOCOL_ERROR,
            "a commit has number " + command.number() + ", which a run that waits has");
        return;
      }
    }
    WaitingCommit other = session.waitingCommits().get(command.number());
    if (other == null) {
      session.waitingCommits().put(command.number(), new WaitingCommit(command, time.nanos()));
    } else {
      matchings.release(other.replace(command));
    }
    takeWaiting(session);
    early.add(session);
  }

  private void takeWaiting(PeerSession session) {
    Link link = linkOf(session);
    WaitingCommit next = session.waitingCommits().get(link.last() + 1);
    while (next != null) {
      Refusal refusal = null;
      long before = unforeseen.changes();
      try {
        if (waitsForAnything(session, next)) {
          holding.add(session);
          return;
        }
      } catch (Refusal refused) {
        refusal = refused;
      } catch (RuntimeException thrown) {
        Refusal bug = unforeseen.refusal(thrown, "the room for a commit", before);
        sessions.expel(session, bug.code(), bug.text());
        return;
      }
      session.waitingCommits().remove(next.commit().number());
      take(session, link, next.commit(), refusal);
      next = session.waitingCommits().get(link.last() + 1);
    }
  }

  /** Whether a commit waits for its selectors, or for room. */
  private boolean waitsForAnything(PeerSession session, WaitingCommit waiting) {
    Command.Commit next = waiting.commit();
    return work.isTired()
        || !isMatched(session, next)
        || waitsForMemory(session, waiting)
        || !admitted(bytes(session, next), !next.runs().isEmpty());
  }

  private long bytes(PeerSession session, Command.Commit next) {
    work.addPlaces(Command.Acked.places(next.acked()));
    // If it is rolled back, what it acknowledges counts as failed attempts instead.
    long bytes =
        RecordBytes.of(next, session.user().length)
            + Math.max(
                settlements.recordBytes(session, next.acked()),
                Attempts.recordBytes(session, next.acked()));
    for (Command.StagedRun run : next.runs()) {
      bytes += RecordBytes.ofSkips(state.destinations().find(run.destinationId()), run.count());
    }
    return bytes;
  }

  private boolean waitsForMemory(PeerSession session, WaitingCommit waiting) {
    if (time.nanos() - waiting.sinceNanos() >= MAX_HELD_MILLIS * 1_000_000
        || transactions.fits(session, waiting.commit())) {
      return false;
    }
    placing.wantRoom();
    return true;
  }

  private void take(
      PeerSession session, Link link, Command.Commit command, @Nullable Refusal known) {
    long before = unforeseen.changes();
    try {
      if (known != null) {
        throw known;
      }
      Landing.Planned planned = transactions.plan(session, link, command);
      if (planned instanceof Landing.Wait wait) {
        placing.wantRoom();
        throw transactions.memoryFull(wait);
      }
      Mark awaited = landing.carryOut((Plan) planned);
      receipts.answerBehind(awaited, session.peer(), command.correlation());
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, "a commit", before);
      for (Command.Acked acked : command.acked()) {
        Consumer consumer = Settlements.consumer(session, acked);
        if (consumer != null && refusal.code().isWantOfRoom()) {
          attempts.refused(consumer, acked.ranges());
        } else if (consumer != null) {
          attempts.failed(session, consumer, acked.ranges(), null);
        }
      }
      receipts.refuse(session, link, command.number(), command.correlation(), refusal);
    }
    matchings.release(command);
  }
}
