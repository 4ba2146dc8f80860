package io.lightmq.core.intake;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.core.transaction.Link;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes parts of transactions in the order in which a connection sends them, and holds what there
 * is no room for yet.
 *
 * <p>Bound: {@value #MAX_WAITING} of a connection wait; a client has one under way for each
 * session.
 */
@OwnedBy("shard")
public final class StageCommands implements Sessions.Leaving {
  static final int MAX_WAITING = PeerSession.MAX_WAITING_COMMITS;

  private final Sessions sessions;
  private final Staging staging;
  private final Transactions transactions;
  private final Settlements settlements;
  private final Placing placing;
  private final Matchings matchings;
  private final Admission admission;
  private final Recorder recorder;
  private final Work work;
  private final Unforeseen unforeseen;
  private final Map<PeerSession, ArrayDeque<Command.Stage>> waiting = new LinkedHashMap<>();

  public StageCommands(
      Sessions sessions,
      Staging staging,
      Transactions transactions,
      Settlements settlements,
      Placing placing,
      Matchings matchings,
      Admission admission,
      Recorder recorder,
      Work work,
      Unforeseen unforeseen) {
    this.sessions = sessions;
    this.staging = staging;
    this.transactions = transactions;
    this.settlements = settlements;
    this.placing = placing;
    this.matchings = matchings;
    this.admission = admission;
    this.recorder = recorder;
    this.work = work;
    this.unforeseen = unforeseen;
  }

  /** Takes a part, or holds it while there is no room. */
  public void take(Command.Stage command) {
    recorder.guard().check();
    PeerSession session = sessions.find(command.peer());
    Link link = session == null ? null : session.link();
    if (session == null || link == null || session.fenced()) {
      command.release();
      return;
    }
    ArrayDeque<Command.Stage> before =
        waiting.computeIfAbsent(session, none -> new ArrayDeque<>(1));
    if (before.size() >= MAX_WAITING) {
      command.release();
      sessions.expel(
          session,
          FaultCode.LIMIT_REACHED,
          MAX_WAITING + " parts of transactions wait for room in the journal");
      return;
    }
    before.add(command);
    takeWaiting(session, link, before);
  }

  /** Rolls back what was staged under a name and is not prepared, and what of it waits for room. */
  public void abandon(Command.Abandon command) {
    recorder.guard().check();
    staging.abandon(command);
    PeerSession session = sessions.find(command.peer());
    Link link = session == null ? null : session.link();
    if (session != null && link != null) {
      dropWaiting(Staging.name(session, link, command.branch()));
    }
  }

  /** What it acknowledges stays in flight: whoever has sent it knows that it was not staged. */
  private void dropWaiting(TransactionName name) {
    Refusal refusal = Transactions.rolledBack("it was given up while a part of it waited for room");
    for (Map.Entry<PeerSession, ArrayDeque<Command.Stage>> each : waiting.entrySet()) {
      Link link = each.getKey().link();
      each.getValue()
          .removeIf(
              part -> {
                boolean gone =
                    link != null && Staging.name(each.getKey(), link, part.branch()).equals(name);
                if (gone) {
                  matchings.release(part);
                  fail(part, refusal);
                }
                return gone;
              });
    }
    waiting.values().removeIf(ArrayDeque::isEmpty);
  }

  /** Whether parts wait for room. */
  boolean isHolding() {
    return !waiting.isEmpty();
  }

  /** Tries again what waits. */
  void retry() {
    for (Map.Entry<PeerSession, ArrayDeque<Command.Stage>> each : List.copyOf(waiting.entrySet())) {
      Link link = each.getKey().link();
      if (work.isTired()) {
        return;
      }
      if (link != null) {
        takeWaiting(each.getKey(), link, each.getValue());
      }
    }
  }

  private void takeWaiting(PeerSession session, Link link, ArrayDeque<Command.Stage> commands) {
    while (!commands.isEmpty() && waiting.get(session) == commands) {
      Command.Stage next = commands.element();
      Refusal refusal = null;
      long before = unforeseen.changes();
      try {
        if (waits(session, next)) {
          return;
        }
      } catch (RuntimeException thrown) {
        refusal = unforeseen.refusal(thrown, "the room for a part of a transaction", before);
      }
      commands.remove();
      take(session, link, next, refusal);
    }
    waiting.remove(session, commands);
  }

  private boolean waits(PeerSession session, Command.Stage next) {
    if (work.isTired() || !matchings.isReady(session, next, next.runs())) {
      return true;
    }
    work.addPlaces(Command.Acked.places(next.acked()));
    long bytes =
        staging.recordBytes(
            session, Transactions.Part.of(next), settlements.recordBytes(session, next.acked()));
    for (Command.StagedRun run : next.runs()) {
      bytes += RecordBytes.ofSkips(placing.find(run.destinationId()), run.count());
    }
    return !admission.admitSent(bytes, !next.runs().isEmpty());
  }

  private void take(
      PeerSession session, Link link, Command.Stage command, @Nullable Refusal known) {
    long before = unforeseen.changes();
    Peer peer = command.peer();
    try {
      if (known != null) {
        throw known;
      }
      long id = staging.stage(session, link, command);
      recorder.atTurnEnd(() -> peer.reply(command.correlation(), new Peer.Reply.Staged(id)));
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, "a part of a transaction", before);
      refused(session, link, command, refusal);
    }
    matchings.release(command);
  }

  private void refused(PeerSession session, Link link, Command.Stage command, Refusal refusal) {
    refusal.told();
    if (refusal.code() == FaultCode.PROTOCOL_ERROR) {
      sessions.expel(session, refusal.code(), refusal.text());
      return;
    }
    if (refusal.code() == FaultCode.TRANSACTION_ROLLED_BACK) {
      transactions.rollBack(session, command.acked(), refusal);
      staging.rolledBack(session, link, command);
    }
    fail(command, refusal);
  }

  private void fail(Command.Stage command, Refusal refusal) {
    Peer peer = command.peer();
    recorder.atTurnEnd(
        () ->
            peer.reply(
                command.correlation(), new Peer.Reply.Failed(refusal.code(), refusal.text())));
  }

  /** A connection has gone, with what it sent that waits and what was staged of it. */
  @Override
  public void left(PeerSession session, boolean counts) {
    recorder.guard().check();
    ArrayDeque<Command.Stage> commands = waiting.remove(session);
    if (commands != null) {
      commands.forEach(matchings::release);
    }
    staging.left(session, counts);
  }
}
