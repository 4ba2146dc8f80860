package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.spi.Mark;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of one destination that were ever used: at most ten durable and ten unlogged ones. Most
 * destinations have one, which is why they stand in lists that are searched.
 */
@OwnedBy("shard")
final class Lanes {
  private final Destination destination;
  private final AwaitedLanes awaiting;
  private final OffHeap memory;
  private final UnloggedStore store;
  private List<DurableLane> durable = List.of();
  private List<UnloggedLane> unlogged = List.of();

  Lanes(Destination destination, AwaitedLanes awaiting, OffHeap memory, UnloggedStore store) {
    this.destination = destination;
    this.awaiting = awaiting;
    this.memory = memory;
    this.store = store;
  }

  /** The durable lanes, rising by priority. */
  List<DurableLane> durable() {
    return durable;
  }

  /** The unlogged lanes, rising by priority. */
  List<UnloggedLane> unlogged() {
    return unlogged;
  }

  /** The lane of a code, or null if it was never used. */
  @Nullable Lane find(int code) {
    return LaneCode.isDurable(code) ? find(durable, code) : find(unlogged, code);
  }

  @Nullable DurableLane findDurable(int priority) {
    return find(durable, LaneCode.durable(priority));
  }

  @Nullable UnloggedLane findUnlogged(int priority) {
    return find(unlogged, LaneCode.unlogged(priority));
  }

  private static <L extends Lane> @Nullable L find(List<L> lanes, int code) {
    for (int i = 0; i < lanes.size(); i++) {
      L lane = lanes.get(i);
      if (lane.code() == code) {
        return lane;
      }
    }
    return null;
  }

  DurableLane addDurable(int priority) {
    DurableLane lane = new DurableLane(destination, awaiting, LaneCode.durable(priority), memory);
    durable = with(durable, lane);
    return lane;
  }

  UnloggedLane addUnlogged(int priority) {
    UnloggedLane lane =
        new UnloggedLane(destination, awaiting, LaneCode.unlogged(priority), memory, store);
    unlogged = with(unlogged, lane);
    return lane;
  }

  private static <L extends Lane> List<L> with(List<L> lanes, L lane) {
    List<L> more = new ArrayList<>(lanes);
    more.add(lane);
    more.sort(Comparator.comparingInt(Lane::code));
    return List.copyOf(more);
  }

  /** The strongest mark that anything of a priority waits for, or null. */
  @Nullable Mark awaited(int priority) {
    DurableLane before = findDurable(priority);
    UnloggedLane beside = findUnlogged(priority);
    return strongest(
        before == null ? null : before.awaited(), beside == null ? null : beside.awaited());
  }

  static @Nullable Mark strongest(@Nullable Mark one, @Nullable Mark other) {
    return one == null || (other != null && other.compareTo(one) > 0) ? other : one;
  }

  void clear() {
    durable.forEach(Lane::forget);
    unlogged.forEach(Lane::forget);
    durable.forEach(lane -> lane.aside.clear());
    unlogged.forEach(lane -> lane.aside.clear());
    durable.forEach(DurableLane::clear);
    unlogged.forEach(UnloggedLane::clear);
  }
}
