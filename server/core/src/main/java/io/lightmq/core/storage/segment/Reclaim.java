package io.lightmq.core.storage.segment;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which segments a checkpoint should rewrite and which nobody needs.
 *
 * @param rewrite addresses for {@link DestagePlan#rewrite}
 * @param unneeded addresses without a live entry: leave them out of the next snapshot
 * @param rewriteLiveBytes live bytes that the rewrite copies
 */
public record Reclaim(Set<Long> rewrite, Set<Long> unneeded, long rewriteLiveBytes) {
  /** Small segments of about the same size are merged when there are so many. */
  private static final int MERGE = 8;

  public Reclaim {
    rewrite = Set.copyOf(rewrite);
    unneeded = Set.copyOf(unneeded);
  }

  /** A segment and the bytes of its entries that somebody still needs. */
  public record Usage(SegmentInfo segment, long liveBytes) {
    /** Whether less than a share of the entries is live. */
    private boolean under(int percent) {
      return liveBytes * 100 < segment.entryBytes() * percent;
    }
  }

  /**
   * Chooses: what is under 25 % live, most of its room first, with the segments beside it that are
   * under 50 % live; then, so that their number stays small, eight small segments of about one size
   * at a time.
   *
   * @param usages of all segments that the next snapshot could name
   * @param maxRewriteBytes bound for the live bytes copied in one checkpoint; a first segment is
   *     taken even if it has more
   */
  public static Reclaim choose(
      Collection<Usage> usages, SegmentSettings settings, long maxRewriteBytes) {
    Set<Long> unneeded = new HashSet<>();
    List<Usage> live = new ArrayList<>();
    for (Usage usage : usages) {
      if (usage.liveBytes() <= 0) {
        unneeded.add(usage.segment().address());
      } else {
        live.add(usage);
      }
    }
    live.sort(Comparator.comparingLong(usage -> usage.segment().address()));
    Budget budget = new Budget(maxRewriteBytes);
    List<Integer> dead = new ArrayList<>();
    for (int i = 0; i < live.size(); i++) {
      if (live.get(i).under(25)) {
        dead.add(i);
      }
    }
    dead.sort(
        Comparator.comparingDouble(
            i -> (double) live.get(i).liveBytes() / live.get(i).segment().entryBytes()));
    for (int i : dead) {
      budget.take(live.get(i));
    }
    for (int i : dead) {
      if (budget.chosen.contains(live.get(i).segment().address())) {
        for (int beside = i - 1; beside <= i + 1; beside += 2) {
          if (beside >= 0 && beside < live.size() && live.get(beside).under(50)) {
            budget.take(live.get(beside));
          }
        }
      }
    }
    merge(live, settings, budget);
    return new Reclaim(budget.chosen, unneeded, budget.used);
  }

  private static void merge(List<Usage> live, SegmentSettings settings, Budget budget) {
    Map<Integer, List<Usage>> sizes = new HashMap<>();
    for (Usage usage : live) {
      if (usage.segment().bytes() <= settings.maxSegmentBytes() / MERGE) {
        // Sizes in steps of eight, so that an entry is copied once per step at most.
        int step = (63 - Long.numberOfLeadingZeros(usage.segment().bytes())) / 3;
        sizes.computeIfAbsent(step, any -> new ArrayList<>()).add(usage);
      }
    }
    for (List<Usage> same : sizes.values()) {
      for (int from = 0; from + MERGE <= same.size(); from += MERGE) {
        List<Usage> group = same.subList(from, from + MERGE);
        if (budget.used + group.stream().mapToLong(Usage::liveBytes).sum() <= budget.max) {
          group.forEach(budget::take);
        }
      }
    }
  }

  /** What may still be copied. */
  private static final class Budget {
    final Set<Long> chosen = new HashSet<>();
    final long max;
    long used;

    Budget(long max) {
      this.max = max;
    }

    void take(Usage usage) {
      if ((chosen.isEmpty() || used + usage.liveBytes() <= max)
          && chosen.add(usage.segment().address())) {
        used += usage.liveBytes();
      }
    }
  }
}
