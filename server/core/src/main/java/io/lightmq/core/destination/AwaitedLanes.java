package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lanes that something is to come of: those with entries whose mark is not reached, each at
 * most once, and those with messages that expire.
 */
@OwnedBy("shard")
final class AwaitedLanes {
  private final List<Lane> lanes = new ArrayList<>();

  /** Those with messages that expire, by when they are to be looked at, then in turns. */
  private final TreeSet<Lane> expiring =
      new TreeSet<>(
          Comparator.comparingLong((Lane lane) -> lane.lookMillis)
              .thenComparingLong(lane -> lane.lookTurn));

  private long turns;

  /** A lane is to be looked at, at a time; {@code Long.MAX_VALUE} for never. */
  void expires(Lane lane, long lookMillis) {
    if (lane.lookMillis != Long.MAX_VALUE) {
      expiring.remove(lane);
    }
    lane.lookMillis = lookMillis;
    lane.lookTurn = turns++;
    if (lookMillis != Long.MAX_VALUE) {
      expiring.add(lane);
    }
  }

  /** The lane whose turn it is of those in which something has expired; null if there is none. */
  @Nullable Lane due(long nowMillis) {
    while (!expiring.isEmpty() && expiring.first().lookMillis <= nowMillis) {
      Lane lane = expiring.first();
      if (lane.dueBlock(nowMillis) >= 0) {
        return lane;
      }
      lane.lookLater();
    }
    return null;
  }

  void add(Lane lane) {
    lanes.add(lane);
  }

  /** Moves visible marks on; tells each destination in which something became visible. */
  void advance(long written, long durable, Consumer<Destination> moved) {
    int kept = 0;
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      if (lane.advance(written, durable)) {
        moved.accept(lane.destination());
      }
      if (lane.isAwaiting()) {
        lanes.set(kept++, lane);
      }
    }
    lanes.subList(kept, lanes.size()).clear();
  }
}
