package io.lightmq.core.state;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;

/**
 * What follows from a run that was just appended to a lane and stands in no record, so that {@link
 * ShardState#apply} does not know it and no start brings it back: who does not want which of it, as
 * far as no record says so, and what the views of consumers are shown. A run of an unlogged lane is
 * in no record at all. This is the one place beside the state that is fed with runs.
 */
@OwnedBy("shard")
public final class Unrecorded {
  private final Guard guard;
  private Arrivals arrivals = (lane, first, run) -> {};

  Unrecorded(Guard guard) {
    this.guard = guard;
  }

  /** Told of what was appended to a lane. */
  public interface Arrivals {
    /** The messages of a run have the sequences from {@code first} on. */
    void arrived(Lane lane, long first, LaneRun run);
  }

  /** Who is told of what was appended. */
  public void arrivals(Arrivals taker) {
    guard.check();
    arrivals = taker;
  }

  /** A run was appended; if to a durable lane, its record is applied. */
  public void landed(Lane lane, long first, LaneRun run) {
    guard.check();
    boolean recorded = LaneCode.isDurable(lane.code());
    for (Skip skip : run.skips()) {
      if (!recorded || !skip.subscription().kind().isDurable()) {
        skip.subscription().pass(lane, first, skip.messages());
      }
    }
    arrivals.arrived(lane, first, run);
  }
}
