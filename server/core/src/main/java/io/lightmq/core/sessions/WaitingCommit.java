package io.lightmq.core.sessions;

import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;

/** A commit that waits for numbers below its own, or for room. */
@OwnedBy("shard")
public final class WaitingCommit {
  private static final long UNMARKED = -1;

  private final long sinceNanos;
  private Command.Commit commit;
  private long mark = UNMARKED;

  public WaitingCommit(Command.Commit commit, long sinceNanos) {
    this.commit = commit;
    this.sinceNanos = sinceNanos;
  }

  /** What waits. */
  public Command.Commit commit() {
    return commit;
  }

  /** When it came. */
  public long sinceNanos() {
    return sinceNanos;
  }

  /** The same commit has come again; what came before is to be released. */
  public Command.Commit replace(Command.Commit again) {
    Command.Commit before = commit;
    commit = again;
    return before;
  }

  /** Whether all publishes that its sender sent before it have left the mailbox. */
  public boolean isBehindAllOfBefore(CommandQueue queue) {
    if (mark == UNMARKED) {
      mark = queue.offeredOthers();
    }
    return !queue.hasPublishesOfBefore(mark);
  }
}
