package io.lightmq.core.shard;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/**
 * When some of a lane's messages came, so that the age of its oldest one is known without reading
 * it: at most one sample a second and {@link #MAX} in all, beyond which every second one is
 * dropped.
 */
@OwnedBy("shard")
final class AgeSamples {
  static final int MAX = 512;
  private static final long MIN_GAP_MILLIS = 1_000;

  private final TreeMap<Long, Long> samples = new TreeMap<>();

  /** A message came. */
  void sample(long sequence, long nowMillis) {
    Map.Entry<Long, Long> last = samples.lastEntry();
    if (last != null && Math.abs(nowMillis - last.getValue()) < MIN_GAP_MILLIS) {
      return;
    }
    if (samples.size() >= MAX) {
      Iterator<Long> each = samples.keySet().iterator();
      while (each.hasNext()) {
        each.next();
        if (each.hasNext()) {
          each.next();
          each.remove();
        }
      }
    }
    samples.put(sequence, nowMillis);
  }

  /** When a message came, or somewhat earlier; 0 if not known. */
  long cameAt(long sequence) {
    Map.Entry<Long, Long> at = samples.floorEntry(sequence);
    return at == null ? 0 : at.getValue();
  }

  /** Nobody will ask for messages before this one. */
  void forgetBelow(long sequence) {
    Long at = samples.floorKey(sequence);
    if (at != null) {
      samples.headMap(at, false).clear();
    }
  }
}
