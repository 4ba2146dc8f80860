package io.lightmq.node.credit;

import org.jspecify.annotations.Nullable;

/**
 * One connection's publish credit. All figures are totals of message bytes in {@code Publish}
 * frames since the connection was attached. Any thread; the ledger's lock guards the fields.
 */
public final class CreditLine {
  private final CreditLedger ledger;
  long window;
  long granted;
  long received;
  long returned;
  long sinceGrowth;

  /** What of the exposure lies in the part of the budget for large runs. */
  long excess;

  /** At most so many bytes are in a run that was admitted beyond the grant and is arriving. */
  int arriving;

  int waitsFor;
  boolean closed;
  @Nullable Runnable admitted;

  CreditLine(CreditLedger ledger, long first) {
    this.ledger = ledger;
    this.window = first;
    this.granted = first;
  }

  /** Whether a run may be read. */
  public enum Admission {
    /** It may be read now. */
    NOW,
    /** It is to stay unread until the task that was given along runs. */
    LATER,
    /** The client had no credit left: it ignores the protocol. */
    EXCEEDED
  }

  /** Whether so many message bytes more may arrive without asking. */
  public boolean covers(long bytes) {
    return ledger.covers(this, bytes);
  }

  /**
   * Asks, when the first bytes of a run arrive, whether the rest may be read.
   *
   * @param bytes at most so many message bytes are in it
   * @param admitted runs later, on any thread, if the answer is {@link Admission#LATER}
   */
  public Admission admit(int bytes, Runnable admitted) {
    return ledger.admit(this, bytes, admitted);
  }

  /** Counts the message bytes of an admitted run. */
  public void received(int bytes) {
    ledger.received(this, bytes);
  }

  /** Counts bytes that have left the broker's memory. */
  public void returned(long bytes) {
    ledger.returned(this, bytes);
  }

  /** What the client may have sent in all, by now. */
  public long granted() {
    return ledger.granted(this);
  }

  /** What the client may have under way at once, by now. */
  public long window() {
    return ledger.window(this);
  }

  /** What has arrived and has not left the broker's memory, in bytes. */
  public long outstanding() {
    return ledger.outstanding(this);
  }

  /** Gives up what the client has not used; what has arrived stays counted until it returns. */
  public void close() {
    ledger.close(this);
  }

  long exposure() {
    return Math.max(granted, received + arriving) - returned;
  }

  Runnable takeAdmitted() {
    Runnable task = admitted;
    admitted = null;
    if (task == null) {
      throw new AssertionError("a line waits without a task to run when it is admitted");
    }
    return task;
  }
}
