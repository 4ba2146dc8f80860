package io.lightmq.client.xa;

import java.util.HashMap;
import java.util.Map;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;

/**
 * The states of one branch of a distributed transaction, and who works in it: the state tables of
 * the X/Open XA specification (chapter 6), as far as one process sees them. Knows what may be
 * called, and does none of it. Guarded by its user's lock.
 *
 * <pre>
 * OPEN ──prepare──► PREPARING ──► PREPARED ──commit, rollback──► DECIDING ──► (forgotten)
 *  └──commit in one phase──► COMMITTING ──► (forgotten)
 * </pre>
 *
 * <p>It stays in PREPARING, COMMITTING or DECIDING as long as the answer to that is not known. In
 * OPEN it may be doomed: then it can only be rolled back, and whoever wants more of it is told why.
 *
 * <p>Work that is suspended has to be ended before the branch is prepared or committed: else it
 * might go with it unnoticed. It may be rolled back.
 */
public final class XaBranch {
  /** Not in {@link XAResource}: to resume what is suspended on another thread. */
  public static final int TMMIGRATE = 0x00100000;

  /** How far it is. */
  public enum State {
    OPEN,
    PREPARING,
    PREPARED,
    COMMITTING,
    DECIDING,
    /** Committed, rolled back, or nothing was done in it: whoever asks for it now finds nothing. */
    ENDED
  }

  private enum Work {
    ACTIVE,
    SUSPENDED,
    ENDED
  }

  private final Map<Object, Work> work = new HashMap<>();
  private volatile State state = State.OPEN;
  private int doom;

  /** A branch that a resource begins to work in. */
  public XaBranch(Object resource) {
    work.put(resource, Work.ACTIVE);
  }

  /** How far it is; any thread. */
  public State state() {
    return state;
  }

  /** Whether a resource works in it at the moment. */
  public boolean isActive(Object resource) {
    return work.get(resource) == Work.ACTIVE;
  }

  /** Whether any works in it at the moment. */
  public boolean isActive() {
    return work.containsValue(Work.ACTIVE);
  }

  /** Whether a resource has worked in it. */
  public boolean knows(Object resource) {
    return work.containsKey(resource);
  }

  /** It cannot be committed any more, for the reason that a code XA_RB… says; the first counts. */
  public void doom(int code) {
    if (state == State.OPEN && doom == 0) {
      doom = code;
    }
  }

  private void requireThere(String call) throws XAException {
    if (state == State.ENDED) {
      throw XaFailures.of(XAException.XAER_NOTA, call + ": the branch has ended");
    }
  }

  private void requireSound(String call) throws XAException {
    if (doom != 0) {
      throw XaFailures.of(doom, call + ": the branch can only be rolled back");
    }
  }

  private void require(boolean allowed, String call) throws XAException {
    if (!allowed) {
      throw XaFailures.of(
          XAException.XAER_PROTO,
          call + " is out of order: the branch is " + state + ", work in it " + work.values());
    }
  }

  /** A resource begins to work in it, once more. */
  public void start(Object resource, int flags) throws XAException {
    requireThere("start");
    Work now = work.get(resource);
    switch (flags) {
      case XAResource.TMNOFLAGS ->
          throw XaFailures.of(XAException.XAER_DUPID, "start: the branch is there already");
      case XAResource.TMJOIN ->
          require(state == State.OPEN && (now == null || now == Work.ENDED), "start(TMJOIN)");
      case XAResource.TMRESUME ->
          require(state == State.OPEN && now == Work.SUSPENDED, "start(TMRESUME)");
      default -> throw invalid("start", flags);
    }
    requireSound("start");
    work.put(resource, Work.ACTIVE);
  }

  /**
   * A resource's work in it ends, or rests. With {@code TMSUSPEND | TMMIGRATE} it rests, and an
   * exception says that it has to be resumed where it is.
   *
   * @throws XAException also if the branch is doomed: the work has ended all the same
   */
  public void end(Object resource, int flags) throws XAException {
    requireThere("end");
    Work now = work.get(resource);
    switch (flags) {
      case XAResource.TMSUCCESS, XAResource.TMFAIL -> {
        require(now == Work.ACTIVE || now == Work.SUSPENDED, "end");
        work.put(resource, Work.ENDED);
      }
      case XAResource.TMSUSPEND, XAResource.TMSUSPEND | TMMIGRATE -> {
        require(now == Work.ACTIVE, "end(TMSUSPEND)");
        work.put(resource, Work.SUSPENDED);
      }
      default -> throw invalid("end", flags);
    }
    if (flags == XAResource.TMFAIL) {
      doom(XAException.XA_RBROLLBACK);
      return;
    }
    requireSound("end");
    if ((flags & TMMIGRATE) != 0) {
      throw XaFailures.of(
          XAException.XA_NOMIGRATE, "suspended; it can be resumed by this resource only");
    }
  }

  private static XAException invalid(String call, int flags) {
    return XaFailures.of(
        XAException.XAER_INVAL,
        call + ": the flags " + Integer.toHexString(flags) + " are unknown");
  }

  private void requireEnded(String call) throws XAException {
    requireThere(call);
    require(
        state == State.OPEN
            && !work.containsValue(Work.ACTIVE)
            && !work.containsValue(Work.SUSPENDED),
        call);
    requireSound(call);
  }

  /** It is to be prepared. */
  public void prepare() throws XAException {
    requireEnded("prepare");
    state = State.PREPARING;
  }

  /** It has ended. */
  public void ended() {
    state = State.ENDED;
  }

  /** It is prepared. */
  public void prepared() {
    state = State.PREPARED;
  }

  /** It is to be committed, in one phase or after it was prepared. */
  public void commit(boolean onePhase) throws XAException {
    if (onePhase) {
      requireEnded("commit in one phase");
      state = State.COMMITTING;
    } else {
      requireThere("commit");
      require(state == State.PREPARED || state == State.DECIDING, "commit");
      state = State.DECIDING;
    }
  }

  /**
   * It is to be rolled back.
   *
   * @return whether the broker has to decide that, since it may be prepared
   */
  public boolean rollback() throws XAException {
    requireThere("rollback");
    require(state != State.COMMITTING && !isActive(), "rollback");
    if (state == State.OPEN) {
      return false;
    }
    state = State.DECIDING;
    return true;
  }

  /** Nobody has decided it without its transaction manager, as far as this process knows. */
  public void forget() throws XAException {
    requireThere("forget");
    require(false, "forget");
  }
}
