package io.lightmq.core.checkpoint;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Reclaim;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.core.storage.segment.SegmentStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which segments a checkpoint rewrites, so that the room of what nobody needs comes back. */
@OwnedBy("shard")
final class Rewriting {
  /** The most that one checkpoint rewrites. */
  private static final long MAX_BYTES = 256L << 20;

  /** So many checkpoints leave a segment as it is whose rewriting met damage. */
  private static final int DAMAGED_CHECKPOINTS = 64;

  private final SegmentStore segments;
  private final SegmentSettings settings;

  /** Those that the next checkpoint leaves as they are. */
  private final Set<Long> notNow = new HashSet<>();

  /** Those with damage in what is needed of them, which are tried again now and then only. */
  private final Set<Long> damaged = new HashSet<>();

  private long done;

  Rewriting(SegmentStore segments, SegmentSettings settings) {
    this.segments = segments;
    this.settings = settings;
  }

  /** Which segments to rewrite and which to leave out, by what is needed of them. */
  Reclaim choose(Map<Long, Long> live) {
    List<Reclaim.Usage> usages = new ArrayList<>();
    for (SegmentInfo segment : segments.segments()) {
      usages.add(new Reclaim.Usage(segment, live.getOrDefault(segment.address(), 0L)));
    }
    Reclaim chosen = Reclaim.choose(usages, settings, MAX_BYTES);
    if (notNow.isEmpty() && damaged.isEmpty()) {
      return chosen;
    }
    Set<Long> rewrite = new HashSet<>(chosen.rewrite());
    rewrite.removeAll(notNow);
    rewrite.removeAll(damaged);
    return new Reclaim(rewrite, chosen.unneeded(), chosen.rewriteLiveBytes());
  }

  /** Bytes in segments that nobody needs. */
  long deadBytes(Map<Long, Long> live) {
    long bytes = 0;
    for (SegmentInfo segment : segments.segments()) {
      bytes += segment.entryBytes();
    }
    for (long needed : live.values()) {
      bytes -= needed;
    }
    return Math.max(0, bytes);
  }

  /** A checkpoint was given up that rewrote these. */
  void notNow(Set<Long> addresses) {
    notNow.addAll(addresses);
  }

  /** What is needed of a segment is damaged. */
  void damaged(long address) {
    damaged.add(address);
  }

  /** A checkpoint is done. */
  void done() {
    notNow.clear();
    if (++done % DAMAGED_CHECKPOINTS == 0) {
      damaged.clear();
    }
  }
}
