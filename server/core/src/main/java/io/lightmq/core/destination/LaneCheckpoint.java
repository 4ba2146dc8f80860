package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;

/**
 * A durable lane's part of a checkpoint, decided when it is made. {@link #plan} is an immutable
 * picture for the destage thread; {@link #release} it on the shard when that is done or given up.
 */
@OwnedBy("shard")
public final class LaneCheckpoint {
  private final FrozenRuns runs;
  private final LanePlan plan;
  private boolean released;

  LaneCheckpoint(Destination destination, DurableLane lane, boolean rewritten) {
    long from = rewritten ? 0 : lane.firstInJournal();
    NeededSet needed = new NeededSet(lane, destination.subscriptions(), from, lane.extents.end());
    this.runs = FrozenRuns.of(lane);
    long entries = lane.extents.count(from, lane.extents.end());
    long bytes = runs.bytes();
    if (rewritten) {
      bytes += lane.pieces().stream().mapToLong(piece -> piece.bytes()).sum();
    }
    long expected = entries == 0 ? 0 : (long) ((double) bytes / entries * needed.size());
    this.plan =
        new LanePlan(
            destination.id(),
            lane.code(),
            0,
            lane.pieces(),
            runs,
            Math.min(bytes, expected),
            needed);
  }

  /** What the destage thread gets. */
  public LanePlan plan() {
    return plan;
  }

  /** Gives the run list's memory back. Once; shard only. */
  public void release() {
    if (!released) {
      released = true;
      runs.release();
    }
  }
}
