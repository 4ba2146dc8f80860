package io.lightmq.core.delivery;

import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/** Gathers messages that are given up, so that consecutive ones are decided as one range. */
@OwnedBy("shard")
final class GiveUps {
  private final Decisions decisions;
  private @Nullable Subscription subscription;
  private Decisions.Reason reason = Decisions.Reason.EXPIRED;
  private int lane;
  private long from;
  private int count;

  GiveUps(Decisions decisions) {
    this.decisions = decisions;
  }

  void add(Subscription of, int laneCode, long sequence, Decisions.Reason why) {
    if (subscription == of && lane == laneCode && reason == why && from + count == sequence) {
      count++;
      return;
    }
    flush();
    subscription = of;
    lane = laneCode;
    reason = why;
    from = sequence;
    count = 1;
  }

  /** Hands over what is gathered. */
  void flush() {
    Subscription of = subscription;
    if (of != null) {
      subscription = null;
      decisions.giveUp(of, lane, from, count, reason);
    }
  }
}
