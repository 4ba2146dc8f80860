package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * In which blocks of 4096 of a lane somebody has not acknowledged something; the one in which the
 * lane goes on counts as well, whatever is acknowledged. To be asked of rising blocks, so that
 * blocks that nobody needs are passed over at once.
 */
@OwnedBy("shard")
final class NeededBlocks implements LongPredicate {
  private final List<Cursor> cursors = new ArrayList<>();
  private final long[] next;
  private final long last;

  /**
   * Of a lane as it is now.
   *
   * @param durable whether only subscriptions count that outlive the process
   */
  NeededBlocks(Lane lane, boolean durable) {
    for (Subscription each : lane.destination().subscriptions()) {
      if (!durable || each.kind().isDurable()) {
        cursors.add(each.cursor(lane));
      }
    }
    this.next = new long[cursors.size()];
    this.last = SequenceSet.key(lane.extents.end());
  }

  @Override
  public boolean test(long block) {
    long first = block << SequenceSet.BLOCK_BITS;
    boolean needed = block >= last;
    for (int i = 0; i < next.length && !needed; i++) {
      if (next[i] < first) {
        next[i] = cursors.get(i).nextUnacknowledged(first);
      }
      needed = SequenceSet.key(next[i]) == block;
    }
    return needed;
  }
}
