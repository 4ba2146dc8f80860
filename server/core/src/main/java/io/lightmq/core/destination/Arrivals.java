package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;

/**
 * Up to where what arrived in a lane was shown to the views with selectors. Who appends without
 * showing it, such as a move, leaves a gap, at which they look later.
 */
@OwnedBy("shard")
final class Arrivals {
  final Lane lane;
  private long end;

  Arrivals(Lane lane) {
    this.lane = lane;
    this.end = lane.extents.end();
  }

  /** Behind the last message that was shown. */
  long end() {
    return end;
  }

  /** Whether everything that arrived was shown. */
  boolean isAll() {
    return lane.extents.end() == end || lane.extents.ceiling(end) >= lane.extents.end();
  }

  /** Whether a message that arrived is the next to be shown. */
  boolean isNext(long sequence) {
    return lane.extents.ceiling(end) == sequence;
  }

  /** Everything below a sequence was shown, or is passed over. */
  void reached(long sequence) {
    end = sequence;
  }
}
