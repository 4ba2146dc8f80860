package io.lightmq.core.transaction;

/**
 * How much is kept of transactions before they are committed.
 *
 * @param open neither prepared nor decided
 * @param prepared branches that wait for their decision
 * @param decided by an administrator and not forgotten
 * @param bytes staged of all of them
 * @param oldestMillis how long the oldest prepared one has been so; 0 if there is none
 * @param overdue branches that have been prepared for longer than the alarm allows
 */
public record StagedUse(
    int open, int prepared, int decided, long bytes, long oldestMillis, int overdue) {
  /** Nothing. */
  public static final StagedUse NONE = new StagedUse(0, 0, 0, 0, 0, 0);
}
