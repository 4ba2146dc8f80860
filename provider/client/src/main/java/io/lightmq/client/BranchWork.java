package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.link.LinkStatus;
import io.lightmq.client.xa.XaBranch;
import io.lightmq.client.xa.XaFailures;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import jakarta.jms.JMSException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.transaction.xa.XAException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the sessions of this process have done in one branch, and how it is prepared, committed or
 * rolled back as a whole. One call at a time; the lock is held while the broker is waited for.
 */
final class BranchWork {
  private static final Logger LOG = LoggerFactory.getLogger(BranchWork.class);

  private final BrokerLink.Owner owner;
  private final Xid xid;
  private final XaBranch states;
  private final KeptPart kept;
  private final Map<LightmqXaResource, UnitOfWork> units = new LinkedHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Runnable> whenEnded = new ArrayList<>();

  /** Weak: what is left of a branch holds no closed connection. */
  private volatile WeakReference<BrokerLink> askedOn = new WeakReference<>(null);

  private boolean timed;
  private long deadlineNanos;

  BranchWork(LightmqXaResource first, BrokerLink.Owner owner, Xid xid) {
    this.owner = owner;
    this.xid = xid;
    this.states = new XaBranch(first);
    this.kept = new KeptPart(() -> new Branch.Xa(xid));
  }

  BrokerLink.Owner owner() {
    return owner;
  }

  Xid xid() {
    return xid;
  }

  /** How far it is; does not wait. */
  XaBranch.State state() {
    return states.state();
  }

  private void ended() {
    states.ended();
    XaBranches.ALL.remove(this);
    whenEnded.forEach(Runnable::run);
    whenEnded.clear();
  }

  /** From now on it has so much time; what is prepared has more. */
  void limit(int seconds) {
    lock.lock();
    try {
      timed = seconds > 0;
      deadlineNanos = System.nanoTime() + seconds * 1_000_000_000L;
    } finally {
      lock.unlock();
    }
  }

  private void lookAtTheTime() {
    if (timed && System.nanoTime() - deadlineNanos > 0) {
      states.doom(XAException.XA_RBTIMEOUT);
    }
  }

  // ---- who works in it ----

  /** A resource's session begins to work in it. */
  void enter(LightmqXaResource resource) {
    lock.lock();
    try {
      units.computeIfAbsent(resource, one -> one.unit(kept)).enter();
    } finally {
      lock.unlock();
    }
  }

  /** Of how many sessions it holds the work. */
  int sessions() {
    lock.lock();
    try {
      return units.size();
    } finally {
      lock.unlock();
    }
  }

  UnitOfWork unit(LightmqXaResource resource) {
    lock.lock();
    try {
      return units.computeIfAbsent(resource, one -> one.unit(kept));
    } finally {
      lock.unlock();
    }
  }

  /** A resource joins or resumes. */
  void start(LightmqXaResource resource, int flags) throws XAException {
    lock.lock();
    try {
      lookAtTheTime();
      states.start(resource, flags);
    } finally {
      lock.unlock();
    }
  }

  /** A resource's work ends or rests. */
  void end(LightmqXaResource resource, int flags) throws XAException {
    lock.lock();
    try {
      lookAtTheTime();
      boolean active = states.isActive(resource);
      try {
        states.end(resource, flags);
      } finally {
        if (active && !states.isActive(resource)) {
          resource.leave(unit(resource));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * A session that worked in it is closed: the broker keeps what that has done. What it does not
   * keep goes back, and the branch can only be rolled back.
   */
  void closed(LightmqXaResource resource) {
    lock.lock();
    try {
      UnitOfWork unit = units.get(resource);
      if (states.state() == XaBranch.State.OPEN && unit != null) {
        close(resource, unit);
      }
    } finally {
      lock.unlock();
    }
  }

  private void close(LightmqXaResource resource, UnitOfWork unit) {
    try {
      unit.close();
    } catch (JMSException e) {
      LOG.warn("the branch {} is rolled back, for its session is closed", xid, e);
      states.doom(rolledBack(e).errorCode);
      drop(resource, unit);
    }
  }

  /** Whether the broker keeps a part of it, and drops that with the connections of those parts. */
  boolean needsItsLinks() {
    return states.state() == XaBranch.State.OPEN && kept.part() != null;
  }

  /** What is to be done once it has ended; at once if it has. */
  void whenEnded(Runnable task) {
    lock.lock();
    try {
      if (states.state() != XaBranch.State.ENDED) {
        whenEnded.add(task);
        return;
      }
    } finally {
      lock.unlock();
    }
    task.run();
  }

  // ---- how it ends ----

  /**
   * Prepares it.
   *
   * @return whether there is anything to decide; else it has ended
   */
  boolean prepare(LightmqXaResource by) throws XAException {
    lock.lock();
    try {
      complete(by, true);
      return states.state() == XaBranch.State.PREPARED;
    } finally {
      lock.unlock();
    }
  }

  /** Commits it in one phase. */
  void commit(LightmqXaResource by) throws XAException {
    lock.lock();
    try {
      complete(by, false);
    } finally {
      lock.unlock();
    }
  }

  private void complete(LightmqXaResource by, boolean prepares) throws XAException {
    requireKnown();
    lookAtTheTime();
    try {
      if (prepares) {
        states.prepare();
      } else {
        states.commit(true);
      }
    } catch (XAException e) {
      if (XaFailures.isRolledBack(e.errorCode)) {
        dropAll();
      }
      throw e;
    }
    LightmqXaResource last = last(by);
    if (last == null) {
      ended(); // nothing was done in it
      return;
    }
    if (unit(last).hasLostItsLink()) {
      dropAll();
      throw XaFailures.of(
          XAException.XA_RBCOMMFAIL,
          "the branch is rolled back: a connection that had part in it is closed");
    }
    stageOthers(last);
    try {
      last.complete(unit(last), prepares ? xid : null);
    } catch (JMSException e) {
      throw failed(e, last);
    }
    if (prepares) {
      states.prepared();
      units.clear();
    } else {
      ended();
    }
  }

  /** Has the broker keep what other sessions have done; what it does not keep rolls all back. */
  private void stageOthers(LightmqXaResource last) throws XAException {
    try {
      for (Map.Entry<LightmqXaResource, UnitOfWork> each : units.entrySet()) {
        if (each.getKey() != last) {
          each.getValue().stageAll();
        }
      }
    } catch (JMSException e) {
      dropAll();
      throw rolledBack(e);
    }
  }

  /** Whose session ends it: the one that asks, if it has anything to add. */
  private @Nullable LightmqXaResource last(LightmqXaResource by) {
    LightmqXaResource found = null;
    for (Map.Entry<LightmqXaResource, UnitOfWork> each : units.entrySet()) {
      if (!each.getValue().isDone() && (found == null || each.getKey() == by)) {
        found = each.getKey();
      }
    }
    return found == null && kept.part() != null ? withLink(by) : found;
  }

  /** All is kept by the broker: who has worked in it and has a link can end it. */
  private LightmqXaResource withLink(LightmqXaResource by) {
    LightmqXaResource found = by;
    for (Map.Entry<LightmqXaResource, UnitOfWork> each : units.entrySet()) {
      if (!units.containsKey(found) || units.get(found).hasLostItsLink()) {
        found = each.getKey();
      }
    }
    return found;
  }

  private XAException failed(JMSException failure, LightmqXaResource last) {
    LinkException reason = reason(failure);
    if (reason == null // then nothing has gone out
        || Outcomes.isRefused(reason)
        || JmsFaults.isOf(FaultCode.TRANSACTION_ROLLED_BACK, failure)) {
      UnitOfWork done = units.remove(last); // it has given back what it had
      dropAll();
      if (done != null) {
        abandon(last, done);
      }
      return rolledBack(failure);
    }
    units.clear(); // nothing of them is to be done again
    askedOn = new WeakReference<>(last.link());
    return XaFailures.of(
        XAException.XAER_RMFAIL,
        "what became of the branch is not known: " + failure.getMessage(),
        failure);
  }

  /**
   * The link on which it was asked for an end whose answer never came, as long as that may come, or
   * be asked for again: what is decided meanwhile has to go the same way, or it might come first.
   */
  @Nullable BrokerLink askedOn() {
    BrokerLink link = askedOn.get();
    return link == null || link.status().phase() == LinkStatus.Phase.ENDED ? null : link;
  }

  /** A commit in one phase whose answer never came cannot be asked for; it is forgotten in time. */
  private void requireKnown() throws XAException {
    if (states.state() != XaBranch.State.COMMITTING) {
      return;
    }
    if (askedOn() == null) {
      ended();
      throw XaFailures.of(
          XAException.XAER_NOTA,
          "whether the branch was committed is not known, and its connection is closed");
    }
    throw XaFailures.of(
        XAException.XAER_RMFAIL,
        "whether the branch was committed is not known: the broker has not answered");
  }

  private static XAException rolledBack(JMSException failure) {
    LinkException reason = reason(failure);
    int code =
        reason == null // it was refused here
            ? XAException.XA_RBROLLBACK
            : XaFailures.rolledBack(reason.code());
    return XaFailures.of(code, "the branch is rolled back: " + failure.getMessage(), failure);
  }

  /** The reason at the bottom of a failure. */
  static @Nullable LinkException reason(Throwable failure) {
    LinkException reason = null;
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof LinkException link) {
        reason = link;
      }
    }
    return reason;
  }

  private static void abandon(LightmqXaResource of, UnitOfWork unit) {
    try {
      unit.abandon(false);
    } catch (JMSException e) {
      LOG.debug("{}: what it had sent ahead is dropped with its connection", of, e);
    }
  }

  /**
   * Rolls it back.
   *
   * @return whether the broker has to decide that
   */
  boolean rollback() throws XAException {
    lock.lock();
    try {
      requireKnown();
      if (states.rollback()) {
        return true;
      }
      dropAll();
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** All that was done in it goes back, and it has ended. */
  private void dropAll() {
    units.forEach(this::drop);
    units.clear();
    ended();
  }

  private void drop(LightmqXaResource resource, UnitOfWork unit) {
    try {
      resource.drop(unit);
    } catch (JMSException e) {
      LOG.debug("rolling back {}: what was received comes again anyway", xid, e);
    }
  }

  /** The broker has decided it. */
  void decided() {
    lock.lock();
    try {
      ended();
    } finally {
      lock.unlock();
    }
  }

  /** It is to be committed after it was prepared. */
  void decideToCommit() throws XAException {
    lock.lock();
    try {
      states.commit(false);
    } finally {
      lock.unlock();
    }
  }

  /** Nobody has decided it yet. */
  void forget() throws XAException {
    lock.lock();
    try {
      states.forget();
    } finally {
      lock.unlock();
    }
  }
}
