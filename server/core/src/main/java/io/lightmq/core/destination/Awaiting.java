package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The lanes with entries whose mark is not reached; each at most once. */
@OwnedBy("shard")
final class Awaiting {
  private final List<Lane> lanes = new ArrayList<>();

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
