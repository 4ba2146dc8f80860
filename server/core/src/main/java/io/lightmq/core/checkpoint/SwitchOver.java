package io.lightmq.core.checkpoint;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.LanePieces;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.core.storage.segment.Piece;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

    /** The pieces of a lane as the checkpoint found it; null if it had nothing of it. */
    @Nullable List<Piece> of(long destinationId, int lane) {
      List<Piece> found = pieces.getOrDefault(destinationId, LanePieces.NONE).of(lane);
      boolean known = (planned.getOrDefault(destinationId, 0) & 1 << lane) != 0;
      return known || !found.isEmpty() ? found : null;
    }
  }

  private final Destinations destinations;
  private final Places places;
  private long lastId = Destinations.BEFORE_ALL;
  private boolean done;

  SwitchOver(ShardState state, Places places) {
    this.destinations = state.destinations();
    this.places = places;
    state.watchTakeOvers(this::given);
  }

  /** Switches one destination more; whether all are switched. */
  boolean step() {
    Destination next = destinations.after(lastId);
    if (next == null) {
      done = true;
      return true;
    }
    lastId = next.id();
    change(next);
    return false;
  }

  /**
   * What lies in a destination's lanes is about to be others', who take over the places of now:
   * these have to be those that stay.
   */
  private void given(Destination destination) {
    if (!done) {
      change(destination);
    }
  }

  private void change(Destination next) {
    LanePieces all = places.pieces().getOrDefault(next.id(), LanePieces.NONE);
    int lanes = places.planned().getOrDefault(next.id(), 0);
    for (DurableLane lane : next.durableLanes()) {
      boolean planned = (lanes & 1 << lane.code()) != 0;
      if (planned || all != LanePieces.NONE || !lane.pieces().isEmpty() || lane.refers()) {
        List<Piece> now = all.of(lane.code());
        if (planned || lane.refers() || !now.equals(lane.pieces())) {
          lane.install(now, places::of, places.offset());
        }
      }
    }
  }
}
