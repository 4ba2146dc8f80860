package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The keys of some messages, by lane and sequence. */
@OwnedBy("shard")
final class DuplicateKeysByPlace {
  private final Map<Integer, TreeMap<Long, UUID>> lanes = new HashMap<>();
  private int size;

  int size() {
    return size;
  }

  void put(int lane, long sequence, UUID key) {
    size += lanes.computeIfAbsent(lane, code -> new TreeMap<>()).put(sequence, key) == null ? 1 : 0;
  }

  @Nullable UUID get(int lane, long sequence) {
    TreeMap<Long, UUID> of = lanes.get(lane);
    return of == null ? null : of.get(sequence);
  }

  /** Removes what lies in a range, and returns it. */
  Map<Long, UUID> take(int lane, long from, long count) {
    TreeMap<Long, UUID> of = lanes.get(lane);
    if (of == null || of.isEmpty()) {
      return Map.of();
    }
    Map<Long, UUID> range = of.subMap(from, from + count);
    Map<Long, UUID> taken = new TreeMap<>(range);
    range.clear();
    size -= taken.size();
    return taken;
  }

  /** The sequences in a range. */
  Set<Long> sequences(int lane, long from, long count) {
    TreeMap<Long, UUID> of = lanes.get(lane);
    return of == null ? new TreeSet<>() : new TreeSet<>(of.subMap(from, from + count).keySet());
  }

  /** Forgets the lowest sequence of the lane that has most. */
  void forgetOne() {
    TreeMap<Long, UUID> longest = null;
    for (TreeMap<Long, UUID> of : lanes.values()) {
      longest = longest == null || of.size() > longest.size() ? of : longest;
    }
    if (longest != null && longest.pollFirstEntry() != null) {
      size--;
    }
  }

  void setAll(UUID key) {
    lanes.values().forEach(of -> of.replaceAll((sequence, before) -> key));
  }

  void clear() {
    lanes.clear();
    size = 0;
  }
}
