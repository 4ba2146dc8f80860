package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The lanes that something is to come of: those with entries whose mark is not reached, each at
 * most once, and those with messages that expire.
 */
@OwnedBy("shard")
final class Awaiting {
  private final List<Lane> lanes = new ArrayList<>();

  private final Set<Lane> expiring = new LinkedHashSet<>();

  /** A lane has messages that expire, or has none any more. */
  void expires(Lane lane, boolean any) {
    if (any) {
      expiring.add(lane);
    } else {
      expiring.remove(lane);
    }
  }

  /** The lanes with messages that expire. */
  Set<Lane> expiring() {
    return expiring;
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
