package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.segment.Reclaim.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class ReclaimTest {
  private static final long MIB = 1 << 20;

  private static Usage usage(long addressMib, long sizeMib, long liveBytes) {
    return new Usage(
        new SegmentInfo(addressMib * MIB, sizeMib * MIB, sizeMib * MIB, 1000), liveBytes);
  }

  private static Reclaim choose(List<Usage> usages, long maxRewriteMib) {
    return Reclaim.choose(usages, SegmentSettings.DEFAULT, maxRewriteMib * MIB);
  }

  @Test
  void whatNobodyNeedsIsNotRewritten() {
    Reclaim chosen = choose(List.of(usage(0, 100, 0), usage(100, 100, 90 * MIB)), 256);
    assertThat(chosen.unneeded()).containsExactly(0L);
    assertThat(chosen.rewrite()).isEmpty();
  }

  @Test
  void mostlyDeadSegmentsAreRewrittenWithHalfDeadNeighbours() {
    Reclaim chosen =
        choose(
            List.of(
                usage(0, 100, 90 * MIB),
                usage(100, 100, 45 * MIB),
                usage(200, 100, 20 * MIB),
                usage(300, 100, 60 * MIB),
                usage(400, 100, 45 * MIB)),
            256);
    assertThat(chosen.rewrite()).containsExactlyInAnyOrder(100 * MIB, 200 * MIB);
    assertThat(chosen.rewriteLiveBytes()).isEqualTo(65 * MIB);
  }

  @Test
  void theDeadestComeFirstWhenTheBudgetIsShort() {
    Reclaim chosen =
        choose(
            List.of(usage(0, 200, 40 * MIB), usage(500, 200, 2 * MIB), usage(900, 200, 30 * MIB)),
            35);
    assertThat(chosen.rewrite()).containsExactlyInAnyOrder(500 * MIB, 900 * MIB);
  }

  @Test
  void eightSmallSegmentsOfOneSizeAreMerged() {
    List<Usage> seven = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      seven.add(usage(i, 1, MIB));
    }
    assertThat(choose(seven, 256).rewrite()).isEmpty();
    seven.add(usage(7, 1, MIB));
    assertThat(choose(seven, 256).rewrite()).hasSize(8);
    assertThat(choose(seven, 7).rewrite()).isEmpty();
  }

  @Property(tries = 300)
  void theWorkIsBoundedAndEveryDeadSegmentIsTakenInTheEnd(
      @ForAll @Size(max = 40) List<@IntRange(min = 0, max = 100) Integer> livePercent,
      @ForAll @IntRange(min = 1, max = 256) int maxMib) {
    List<Usage> usages = new ArrayList<>();
    long address = 0;
    for (int percent : livePercent) {
      usages.add(usage(address, 64, 64 * MIB * percent / 100));
      address += 64;
    }
    for (int round = 0; round < 41; round++) {
      Reclaim chosen = choose(usages, maxMib);
      LongStream live =
          usages.stream()
              .filter(each -> chosen.rewrite().contains(each.segment().address()))
              .mapToLong(Usage::liveBytes);
      long sum = live.sum();
      assertThat(chosen.rewriteLiveBytes()).isEqualTo(sum);
      assertThat(sum <= maxMib * MIB || chosen.rewrite().size() == 1).isTrue();
      usages.removeIf(
          each ->
              chosen.rewrite().contains(each.segment().address())
                  || chosen.unneeded().contains(each.segment().address()));
    }
    assertThat(usages).noneMatch(each -> each.liveBytes() * 100 < each.segment().entryBytes() * 25);
  }
}
