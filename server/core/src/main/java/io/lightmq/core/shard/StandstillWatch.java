package io.lightmq.core.shard;

import io.lightmq.core.runtime.OwnedBy;

/**
 * Whether something that closes waits for a journal that does not get on. A leader whose cluster
 * has no majority is an example: what it appended last may never become durable.
 *
 * <p>It waits {@value #MOST_NANOS} ns without a step of the journal, 10 s: a force or an election
 * takes a few seconds at worst, and whoever stops a process kills it after 30 s or more.
 */
@OwnedBy("shard")
final class StandstillWatch {
  static final long MOST_NANOS = 10_000_000_000L;

  private boolean waited;
  private long reached;
  private long sinceNanos;

  /**
   * Looks once more.
   *
   * @param waits whether the journal is waited for now
   * @param mark how far that is
   * @return whether nothing has moved for as long as it may
   */
  boolean isOver(boolean waits, long mark, long nowNanos) {
    if (!waits || !waited || mark != reached) {
      waited = waits;
      reached = mark;
      sinceNanos = nowNanos;
      return false;
    }
    return nowNanos - sinceNanos >= MOST_NANOS;
  }
}
