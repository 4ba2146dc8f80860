package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector.IdHeader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds messages of a queue by their correlation or message id, and views by the id that they want:
 * so that many consumers with one id each cost one look-up a message, and a new one none of the
 * backlog that others have looked at. It learns from what views look at, and stays as long as views
 * of its kind come within {@link #IDLE_ARRIVALS} messages.
 */
@OwnedBy("shard")
final class IdIndex {
  /** So many messages arrive without any view of this kind until the index is given up. */
  static final int IDLE_ARRIVALS = 16_384;

  private final IdScan scan;
  private final Map<Lane, IdLane> lanes = new LinkedHashMap<>();
  private final Map<Long, List<View>> views = new HashMap<>();
  private int idleArrivals;

  IdIndex(IdHeader header) {
    this.scan = new IdScan(header);
  }

  void add(Cursor cursor, Arrivals arrivals) {
    lanes.computeIfAbsent(cursor.lane, lane -> new IdLane(cursor, arrivals));
  }

  /** Learns a lane anew: something of it was passed over that may be read now. */
  void restart(Cursor cursor, Arrivals arrivals) {
    lanes.put(cursor.lane, new IdLane(cursor, arrivals));
  }

  void add(View view, long hash) {
    views.computeIfAbsent(hash, key -> new ArrayList<>(1)).add(view);
    idleArrivals = 0;
  }

  void remove(View view, long hash) {
    List<View> with = views.get(hash);
    if (with != null && with.remove(view) && with.isEmpty()) {
      views.remove(hash);
    }
  }

  /** Whether nobody has used it for long. */
  boolean isIdle() {
    return idleArrivals >= IDLE_ARRIVALS;
  }

  /** The views that may want a message that arrived; remembers its id. */
  List<View> arrived(Lane lane, long sequence, ByteBuffer buffer, int messageAt, int messageBytes) {
    idleArrivals = views.isEmpty() ? idleArrivals + 1 : 0;
    long hash = scan.hash(buffer, messageAt, messageBytes);
    IdLane known = lanes.get(lane);
    if (known != null && known.isLive()) {
      known.add(sequence, hash);
    }
    List<View> wanting = hash == IdScan.NONE ? null : views.get(hash);
    return wanting == null ? List.of() : wanting;
  }

  void pause(Lane lane) {
    IdLane known = lanes.get(lane);
    if (known != null && known.isLive()) {
      known.pause();
    }
  }

  @Nullable IdLane lane(Lane lane) {
    return lanes.get(lane);
  }
}
