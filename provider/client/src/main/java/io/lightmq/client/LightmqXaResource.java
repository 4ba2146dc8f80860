package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.xa.XaBranch;
import io.lightmq.client.xa.XaFailures;
import io.lightmq.client.xa.Xids;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction manager has of a session. While its session works in a branch, all that it
 * sends and receives is part of that. A branch may be prepared, decided and recovered through any
 * resource of the same user of the same broker.
 *
 * <p>Whatever is not known for certain, because the broker is away or an answer was lost, is
 * XAER_RMFAIL. Nothing is guessed.
 */
final class LightmqXaResource implements XAResource {
  /** Of an answer about branches; more than a broker ever has prepared. */
  private static final int MAX_PAGES = 100;

  private final LightmqXaSession session;
  private final BrokerLink link;

  /** Also those that began before the link came to a broker with other data. */
  private final Map<io.lightmq.wire.entry.Xid, BranchWork> workedIn = new ConcurrentHashMap<>();

  private @Nullable BranchWork active;
  private int timeoutSeconds;

  LightmqXaResource(LightmqXaSession session, BrokerLink link) {
    this.session = session;
    this.link = link;
  }

  BrokerLink link() {
    return link;
  }

  // ---- working in a branch ----

  // Who wants both takes this resource's monitor first, then the branch's lock.

  @Override
  public synchronized void start(@Nullable Xid xid, int flags) throws XAException {
    if (flags != TMNOFLAGS && flags != TMJOIN && flags != TMRESUME) {
      throw XaFailures.of(
          XAException.XAER_INVAL,
          "start: the flags " + Integer.toHexString(flags) + " are unknown");
    }
    io.lightmq.wire.entry.Xid ours = Xids.of(xid);
    requireSession();
    requireBroker(link);
    if (active != null) {
      throw XaFailures.of(
          XAException.XAER_PROTO,
          "start is out of order: the session works in the branch " + active.xid());
    }
    BranchWork branch;
    if (flags == TMNOFLAGS) {
      branch = XaBranches.ALL.begin(this, link.owner(), ours);
      branch.limit(timeoutSeconds);
    } else {
      branch = known(ours);
      branch.start(this, flags);
    }
    workedIn.values().removeIf(each -> each.state() != XaBranch.State.OPEN);
    workedIn.put(ours, branch);
    active = branch;
    branch.enter(this);
    session.work(branch.unit(this));
  }

  @Override
  public synchronized void end(@Nullable Xid xid, int flags) throws XAException {
    io.lightmq.wire.entry.Xid ours = Xids.of(xid);
    known(ours).end(this, flags);
  }

  /** The session works in no branch any more; called by the branch that it leaves. */
  synchronized void leave(UnitOfWork unit) {
    active = null;
    session.work(null);
    unit.leave();
  }

  /** The session's part of a branch, which has begun. */
  UnitOfWork unit(KeptPart kept) {
    return session.unit(kept);
  }

  /** Ends a branch with the session's part of it: prepares it, or commits it if that is null. */
  void complete(UnitOfWork unit, io.lightmq.wire.entry.@Nullable Xid prepared) throws JMSException {
    session.complete(unit, prepared);
  }

  /** Gives back what the session has done in a branch. */
  void drop(UnitOfWork unit) throws JMSException {
    session.drop(unit);
  }

  /** The session is closed: what it has done in branches is left to their transaction manager. */
  synchronized void closed() {
    session.work(null);
    workedIn.values().forEach(branch -> branch.closed(this));
    workedIn.values().removeIf(branch -> branch.state() == XaBranch.State.ENDED);
    active = null;
  }

  /** The branches that need the link of the closed session until they have ended. */
  List<BranchWork> undecided() {
    return workedIn.values().stream().filter(BranchWork::needsItsLinks).toList();
  }

  private BranchWork known(io.lightmq.wire.entry.Xid xid) throws XAException {
    BranchWork branch = find(xid);
    if (branch == null) {
      throw XaFailures.of(XAException.XAER_NOTA, "this process works in no branch " + xid);
    }
    return branch;
  }

  private @Nullable BranchWork find(io.lightmq.wire.entry.Xid xid) {
    BranchWork own = workedIn.get(xid);
    return own != null && own.state() != XaBranch.State.ENDED
        ? own
        : XaBranches.ALL.find(link.owner(), xid);
  }

  private void requireSession() throws XAException {
    try {
      session.requireOpen();
    } catch (JMSException e) {
      throw XaFailures.of(XAException.XAER_RMFAIL, String.valueOf(e.getMessage()), e);
    }
  }

  /** Its session may be closed: prepared branches can be decided as long as there is a link. */
  private static void requireBroker(BrokerLink way) throws XAException {
    if (!way.limits().keepsTransactions()) {
      throw XaFailures.of(
          XAException.XAER_RMFAIL,
          "this broker knows no distributed transactions; use one of this release");
    }
  }

  // ---- ending it ----

  @Override
  public int prepare(@Nullable Xid xid) throws XAException {
    BranchWork branch = known(Xids.of(xid));
    return branch.prepare(this) ? XA_OK : XA_RDONLY;
  }

  @Override
  public void commit(@Nullable Xid xid, boolean onePhase) throws XAException {
    io.lightmq.wire.entry.Xid ours = Xids.of(xid);
    if (onePhase) {
      known(ours).commit(this);
      return;
    }
    BranchWork branch = find(ours);
    boolean again = branch != null && branch.state() == XaBranch.State.DECIDING;
    if (branch != null) {
      branch.decideToCommit();
    }
    decide(ours, BranchDecision.COMMIT, branch, again);
  }

  @Override
  public void rollback(@Nullable Xid xid) throws XAException {
    io.lightmq.wire.entry.Xid ours = Xids.of(xid);
    BranchWork branch = find(ours);
    boolean again = branch != null && branch.state() != XaBranch.State.PREPARED;
    if (branch == null || branch.rollback()) {
      decide(ours, BranchDecision.ROLL_BACK, branch, again);
    }
  }

  @Override
  public void forget(@Nullable Xid xid) throws XAException {
    io.lightmq.wire.entry.Xid ours = Xids.of(xid);
    BranchWork branch = find(ours);
    if (branch != null) {
      branch.forget();
    }
    decide(ours, BranchDecision.FORGET, null, false);
  }

  /**
   * Has the broker decide.
   *
   * @param again whether it was asked before, or to prepare, and the answer is not known: what it
   *     does not know any more was done then, for it answers in order
   */
  private void decide(
      io.lightmq.wire.entry.Xid xid,
      BranchDecision decision,
      @Nullable BranchWork branch,
      boolean again)
      throws XAException {
    BrokerLink askedOn = branch == null ? null : branch.askedOn();
    BrokerLink way = askedOn == null ? link : askedOn;
    requireBroker(way);
    try {
      Awaiting.answerWhenClosing(way.decide(xid, decision), "deciding the branch " + xid);
    } catch (JMSException e) {
      LinkException reason = BranchWork.reason(e);
      int code = reason == null ? XAException.XAER_RMFAIL : code(reason.code());
      if (code != XAException.XAER_RMFAIL && branch != null) {
        branch.decided();
      }
      if (code == XAException.XAER_NOTA && again) {
        return;
      }
      throw XaFailures.of(code, String.valueOf(e.getMessage()), e);
    }
    if (branch != null) {
      branch.decided();
    }
  }

  private static int code(FaultCode fault) {
    return switch (fault) {
      case UNKNOWN_TRANSACTION -> XAException.XAER_NOTA;
      case HEURISTIC_COMMIT -> XAException.XA_HEURCOM;
      case HEURISTIC_ROLLBACK -> XAException.XA_HEURRB;
      case BAD_REQUEST -> XAException.XAER_PROTO;
      default -> XAException.XAER_RMFAIL;
    };
  }

  // ---- recovery ----

  /** All at the beginning of a scan, nothing afterwards: no state is kept between the calls. */
  @Override
  public Xid[] recover(int flags) throws XAException {
    if ((flags & ~(TMSTARTRSCAN | TMENDRSCAN)) != 0) {
      throw XaFailures.of(
          XAException.XAER_INVAL,
          "recover: the flags " + Integer.toHexString(flags) + " are unknown");
    }
    if ((flags & TMSTARTRSCAN) == 0) {
      return new Xid[0];
    }
    requireBroker(link);
    List<Xid> found = new ArrayList<>();
    io.lightmq.wire.entry.Xid after = null;
    try {
      for (int page = 0; page < MAX_PAGES; page++) {
        Frame.Recovered answer =
            Awaiting.answer(link.recover(after), "asking for prepared branches");
        for (Frame.RecoveredBranch each : answer.branches()) {
          found.add(Xids.of(each.xid()));
          after = each.xid();
        }
        if (!answer.more() || answer.branches().isEmpty()) {
          break;
        }
      }
    } catch (JMSException e) {
      throw XaFailures.of(XAException.XAER_RMFAIL, String.valueOf(e.getMessage()), e);
    }
    return found.toArray(new Xid[0]);
  }

  // ---- what it is ----

  @Override
  public boolean isSameRM(@Nullable XAResource other) {
    return other instanceof LightmqXaResource ours && ours.link.owner().equals(link.owner());
  }

  /** In seconds; 0 without an end, as at first. */
  @Override
  public synchronized int getTransactionTimeout() {
    return timeoutSeconds;
  }

  /** For branches that begin from now on; what is prepared has all the time. */
  @Override
  public synchronized boolean setTransactionTimeout(int seconds) throws XAException {
    if (seconds < 0) {
      throw XaFailures.of(XAException.XAER_INVAL, "a timeout of " + seconds + " seconds");
    }
    timeoutSeconds = seconds;
    return true;
  }
}
