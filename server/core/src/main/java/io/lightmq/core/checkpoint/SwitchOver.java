package io.lightmq.core.checkpoint;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.LanePieces;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.core.storage.segment.Piece;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Switches the lanes to where a published snapshot says that their entries lie, one destination
 * after the other. Until the last is switched everything that any of them names has to stay where
 * it is.
 */
@OwnedBy("shard")
final class SwitchOver {
  /** What is to be switched, sorted on another thread; immutable. */
  record Places(Map<Long, LanePieces> pieces, Map<Long, Integer> planned, long offset) {
    /**
     * Sorts the pieces of a published snapshot.
     *
     * @param plan with the lanes whose entries left the journal
     */
    static Places of(List<Piece> pieces, DestagePlan plan) {
      Map<Long, Integer> planned = new HashMap<>();
      for (LanePlan lane : plan.lanes()) {
        planned.merge(lane.destinationId(), 1 << lane.lane(), (a, b) -> a | b);
      }
      return new Places(LanePieces.byDestination(pieces), planned, plan.offset());
    }
  }

  private final Destinations destinations;
  private final Places places;
  private long lastId = Destinations.BEFORE_ALL;

  SwitchOver(Destinations destinations, Places places) {
    this.destinations = destinations;
    this.places = places;
  }

  /** Switches one destination more; whether all are switched. */
  boolean step() {
    Destination next = destinations.after(lastId);
    if (next == null) {
      return true;
    }
    lastId = next.id();
    LanePieces all = places.pieces().getOrDefault(next.id(), LanePieces.NONE);
    int lanes = places.planned().getOrDefault(next.id(), 0);
    for (DurableLane lane : next.durableLanes()) {
      boolean planned = (lanes & 1 << lane.code()) != 0;
      if (planned || all != LanePieces.NONE || !lane.pieces().isEmpty()) {
        List<Piece> now = all.of(lane.code());
        if (planned || !now.equals(lane.pieces())) {
          lane.install(now, places.offset());
        }
      }
    }
    return false;
  }
}
