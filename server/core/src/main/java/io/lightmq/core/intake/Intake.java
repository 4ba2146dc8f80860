package io.lightmq.core.intake;

import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.WaitingCommit;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.core.transaction.Link;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.FaultCode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes runs and transactions in the order of their numbers, each once, and holds what there is no
 * room for yet.
 */
@OwnedBy("shard")
public final class Intake implements TurnPart {
  /**
   * A run or commit waits so long for memory. Acknowledgements, which free it, may stand behind
   * more runs of the same connection, which are not read before this one has given its credit back.
   */
  public static final long MAX_HELD_MILLIS = 10_000;

  private final Sessions sessions;
  private final TurnTime time;
  private final Receipts receipts;
  private final LoneRuns runs;
  private final Transactions transactions;
  private final Staging staging;
  private final StageCommands stages;
  private final Landing landing;
  private final Admission admission;
  private final Matchings matchings;
  private final Work work;
  private final Unforeseen unforeseen;
  private final Set<PeerSession> holding = new LinkedHashSet<>();
  private final EarlyCommits early;

  public Intake(
      Sessions sessions,
      CommandQueue queue,
      TurnTime time,
      Receipts receipts,
      LoneRuns runs,
      Transactions transactions,
      Staging staging,
      StageCommands stages,
      Landing landing,
      Admission admission,
      Matchings matchings,
      Work work,
      Unforeseen unforeseen) {
    this.sessions = sessions;
    this.time = time;
    this.receipts = receipts;
    this.runs = runs;
    this.transactions = transactions;
    this.staging = staging;
    this.stages = stages;
    this.landing = landing;
    this.admission = admission;
    this.matchings = matchings;
    this.work = work;
    this.unforeseen = unforeseen;
    this.early = new EarlyCommits(sessions, queue);
  }

  /** Ends connections whose commits wait for numbers that cannot come any more. */
  @Override
  public void turn() {
    unforeseen.guard().check();
    early.endTurn();
  }

  // ---- runs ----

  /** Takes a run, or holds it while memory for unlogged messages is short. */
  public void publish(Command.Publish command) {
    unforeseen.guard().check();
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
    unforeseen.guard().check();
    stages.retry();
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

  /** Whether a commit is next and waits only for room. */
  private static boolean waitsForRoom(PeerSession session) {
    return session.waitingCommits().containsKey(linkOf(session).last() + 1);
  }

  /** Whether runs wait for memory. */
  @Override
  public boolean waits() {
    return !holding.isEmpty() || stages.isHolding();
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
      if (waitsForRoom(session) || (number > 0 && !runs.isAdmitted(session, command))) {
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
      if (!matchings.isReady(session, command) || !decide(session, link, command, overdue)) {
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

  private boolean decide(PeerSession session, Link link, Command.Publish command, boolean overdue) {
    Plan plan = runs.planNow(session, link, command, overdue);
    if (plan == null) {
      return false;
    }
    receipts.answerBehind(landing.carryOut(plan), session.peer(), command.correlation());
    return true;
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
    unforeseen.guard().check();
    PeerSession session = sessions.find(command.peer());
    if (session == null || session.link() == null || session.fenced()) {
      command.release();
      return;
    }
    Link link = linkOf(session);
    if (command.isWhole()
        && command.number() == 0
        && command.runs().isEmpty()
        && command.acked().isEmpty()) {
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
        || !matchings.isReady(session, next, next.runs())
        || !staging.isReady(session, linkOf(session), next)
        || waitsForMemory(session, waiting)
        || !isAdmitted(session, next);
  }

  private boolean isAdmitted(PeerSession session, Command.Commit next) {
    work.addPlaces(Command.Acked.places(next.acked()));
    long bytes = transactions.recordBytes(session, next);
    if (!next.isWhole()) {
      bytes += staging.stepBytes(session, linkOf(session), next);
    }
    return admission.admitSent(bytes, !next.runs().isEmpty());
  }

  private boolean waitsForMemory(PeerSession session, WaitingCommit waiting) {
    return time.nanos() - waiting.sinceNanos() < MAX_HELD_MILLIS * 1_000_000
        && !transactions.findsRoom(session, waiting.commit());
  }

  private void take(
      PeerSession session, Link link, Command.Commit command, @Nullable Refusal known) {
    long before = unforeseen.changes();
    try {
      if (known != null) {
        throw known;
      }
      Mark mark =
          command.isWhole()
              ? landing.carryOut(transactions.planNow(session, link, command))
              : staging.carryOut(session, link, command);
      receipts.answerBehind(mark, session.peer(), command.correlation());
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, "a commit", before);
      transactions.rollBack(session, command.acked(), refusal);
      staging.rolledBack(session, link, command, refusal);
      receipts.refuse(session, link, command.number(), command.correlation(), refusal);
    }
    matchings.release(command);
  }
}
