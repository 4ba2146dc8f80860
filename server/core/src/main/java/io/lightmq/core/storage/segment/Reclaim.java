package io.lightmq.core.storage.segment;

import java.util.Collection;
import java.util.Set;

/**
 * Which segments a checkpoint should rewrite and which nobody needs.
 *
 * @param rewrite addresses for {@link DestagePlan#rewrite}
 * @param unneeded addresses without a live entry: leave them out of the next snapshot
 * @param rewriteLiveBytes live bytes that the rewrite copies
 */
public record Reclaim(Set<Long> rewrite, Set<Long> unneeded, long rewriteLiveBytes) {
  public Reclaim {
    rewrite = Set.copyOf(rewrite);
    unneeded = Set.copyOf(unneeded);
  }

  /** A segment and the bytes of its entries that somebody still needs. */
  public record Usage(SegmentInfo segment, long liveBytes) {}

  /**
   * Chooses.
   *
   * @param usages of all segments that the next snapshot could name
   * @param maxRewriteBytes bound for the live bytes copied in one checkpoint
   */
  public static Reclaim choose(
      Collection<Usage> usages, SegmentSettings settings, long maxRewriteBytes) {
    return new Reclaim(Set.of(), Set.of(), 0);
  }
}
