package io.lightmq.core.checkpoint;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.storage.segment.Piece;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Adds up how many bytes of each segment somebody needs, a little at a time, and lets each
 * destination forget on the way what everybody has behind it. Need only falls: when the scan has
 * ended, no more is needed than it says, and what it says that nobody needs nobody will. What a
 * lane takes over meanwhile counts as needed whole, since the scan may be past that lane and not at
 * the other one.
 */
@OwnedBy("shard")
final class NeedScan {
  private final Destinations destinations;
  private final Map<Long, Long> liveBytes = new HashMap<>();

  /** Pieces of the destination that the scan is at. */
  private final ArrayDeque<Piece> pieces = new ArrayDeque<>();

  private long lastId = Destinations.BEFORE_ALL;
  private boolean done;

  NeedScan(ShardState state) {
    this.destinations = state.destinations();
    state.watchTakeOvers(this::given);
  }

  /** Looks at one destination or one piece more; whether all is looked at. */
  boolean step() {
    Piece piece = pieces.poll();
    if (piece != null) {
      add(piece);
      return false;
    }
    Destination next = destinations.after(lastId);
    if (next == null) {
      done = true;
      return true;
    }
    lastId = next.id();
    next.trim();
    for (DurableLane lane : next.durableLanes()) {
      pieces.addAll(lane.pieces());
    }
    return false;
  }

  /** What lies in a destination's lanes is about to be others'. */
  private void given(Destination destination) {
    if (!done) {
      for (DurableLane lane : destination.durableLanes()) {
        for (Piece piece : lane.pieces()) {
          liveBytes.merge(piece.segmentAddress(), piece.bytes(), Long::sum);
        }
      }
    }
  }

  private void add(Piece piece) {
    Destination destination = destinations.find(piece.destinationId());
    long needed = destination == null ? 0 : destination.needed(piece);
    long bytes = needed == 0 ? 0 : Math.max(1, piece.bytes() / piece.count() * needed);
    liveBytes.merge(piece.segmentAddress(), bytes, Long::sum);
  }

  /** Bytes that somebody needs, by the address of the segment; once the scan is done. */
  Map<Long, Long> liveBytes() {
    if (!done) {
      throw new IllegalStateException("the scan is at destination " + lastId);
    }
    return liveBytes;
  }
}
