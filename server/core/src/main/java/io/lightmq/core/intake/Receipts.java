package io.lightmq.core.intake;

import io.lightmq.core.door.Peer;
import io.lightmq.core.record.ShardRecord.Refused;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.NamedBudget;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.Links;
import io.lightmq.core.transaction.Outcome;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells senders what became of their runs and commits, each when its mark is reached.
 *
 * <p>A refusal that spends a number is told once that is durable. All that come within {@link
 * #REFUSAL_NANOS} of the first are forced and told together: a sender that is refused at once and
 * comes again at once would take the disk from all others, who wait for the same forces. Each of
 * them is a request without an answer, of which a connection has so many at most.
 */
@OwnedBy("shard")
public final class Receipts implements TurnPart {
  /** How long refusals wait for others. */
  static final long REFUSAL_NANOS = 10_000_000;

  private final ShardState state;
  private final Recorder recorder;
  private final Sessions sessions;
  private final NamedBudget budget;
  private final TurnTime time;

  /** Recorded, and to be told. */
  private List<Runnable> refusals = new ArrayList<>();

  private long refusalsDueNanos;

  public Receipts(Recorder recorder, Sessions sessions, NamedBudget budget, TurnTime time) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.sessions = sessions;
    this.budget = budget;
    this.time = time;
  }

  /** Tells once the turn's batch has reached a mark. */
  void answer(Mark mark, Peer peer, int correlation) {
    recorder.onJournal(mark, () -> peer.receipt(correlation, FaultCode.OK, ""));
  }

  /**
   * Tells of messages that are in no record: at the end of the turn, or once what they wait behind
   * is visible, so that whoever is told finds them.
   *
   * @param awaited the mark of what they wait behind, if there is anything
   */
  void answerBehind(@Nullable Mark awaited, Peer peer, int correlation) {
    if (awaited == null) {
      answerNow(peer, correlation);
    } else {
      recorder.batchOffset();
      answer(awaited, peer, correlation);
    }
  }

  /** Tells at the end of the turn. */
  void answerNow(Peer peer, int correlation) {
    recorder.atTurnEnd(() -> peer.receipt(correlation, FaultCode.OK, ""));
  }

  /** Tells again what became of a number that was taken before. */
  void answerRepeat(PeerSession session, Link link, long number, int correlation) {
    Outcome outcome = link.outcome(number);
    FaultCode code = outcome == null ? FaultCode.OK : outcome.code();
    String text = outcome == null ? "" : outcome.text();
    Peer peer = session.peer();
    // Taken is not yet durable; the repetition must not be told more than the first would be.
    recorder.anywhereOnceDurable(() -> peer.receipt(correlation, code, text));
  }

  /** Refuses a run or commit, which spends its number. */
  void refuse(PeerSession session, Link link, long number, int correlation, Refusal refusal) {
    Peer peer = session.peer();
    refusal.told();
    if (refusal.code() == FaultCode.PROTOCOL_ERROR) {
      sessions.expel(session, refusal.code(), refusal.text());
    } else if (number == 0) {
      recorder.atTurnEnd(() -> peer.receipt(correlation, refusal.code(), refusal.text()));
    } else if (link.full()) {
      sessions.expel(
          session,
          FaultCode.LIMIT_REACHED,
          Link.MAX_OUTCOMES + " refusals are kept for this link; attach again to release them");
    } else if (!budget.mayKeep(link, Links.heapBytes(refusal.text()))) {
      sessions.expel(
          session,
          FaultCode.LIMIT_REACHED,
          "a refusal cannot be kept for this link: refusals take "
              + state.links().outcomeBytes()
              + " bytes of heap, and all that is named and kept "
              + budget.used()
              + " of "
              + budget.limit()
              + " (memory.named-state); attach again to release what is kept for this link");
    } else {
      String kept = Printable.line(refusal.text());
      recorder.record(new Refused(link.id(), number, refusal.code(), kept));
      if (refusals.isEmpty()) {
        refusalsDueNanos = time.nanos() + REFUSAL_NANOS;
      }
      refusals.add(() -> peer.receipt(correlation, refusal.code(), refusal.text()));
    }
  }

  /** Has the refusals forced whose time has come. */
  @Override
  public void turn() {
    recorder.guard().check();
    if (!refusals.isEmpty() && time.nanos() - refusalsDueNanos >= 0) {
      List<Runnable> due = refusals;
      refusals = new ArrayList<>();
      // Durable, so that a client that was told never has to repeat its number.
      recorder.anywhereOnceDurable(() -> due.forEach(Runnable::run));
    }
  }

  @Override
  public long nextNanos() {
    return refusals.isEmpty() ? Long.MAX_VALUE : refusalsDueNanos;
  }
}
