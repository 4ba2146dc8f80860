package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.tck.faults.ReceiptGaps.Stretch;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ReceiptGapsTest {
  /** A receipt each 10 ns, except between 5,000 and 5,400. */
  private static final long[] WITH_A_PAUSE =
      LongStream.range(0, 1_000).map(i -> i * 10).filter(t -> t <= 5_000 || t >= 5_400).toArray();

  @Test
  void aPauseDuringACheckpointIsItsLongestGap() {
    ReceiptGaps gaps = ReceiptGaps.of(List.of(WITH_A_PAUSE), List.of(new Stretch(5_100, 5_200)));

    assertThat(gaps.duringLongestNanos()).isEqualTo(400);
    assertThat(gaps.outsideP99Nanos()).isEqualTo(10);
    assertThat(gaps.outsideLongestNanos()).isEqualTo(10);
    assertThat(gaps.ratio()).isEqualTo(40);
    assertThat(gaps.during()).isEqualTo(1);
  }

  @Test
  void aPauseWithoutACheckpointIsNotBlamedOnIt() {
    ReceiptGaps gaps = ReceiptGaps.of(List.of(WITH_A_PAUSE), List.of(new Stretch(1_001, 1_009)));

    assertThat(gaps.duringLongestNanos()).isEqualTo(10);
    assertThat(gaps.outsideLongestNanos()).isEqualTo(400);
    assertThat(gaps.ratio()).isEqualTo(1);
  }

  @Test
  void gapsDoNotReachFromOneStreamIntoAnother() {
    long[] early = {0, 10, 20};
    long[] late = {1_000, 1_010};

    assertThat(ReceiptGaps.of(List.of(early, late), List.of()).outsideLongestNanos()).isEqualTo(10);
    assertThat(ReceiptGaps.merge(List.of(late, early))).containsExactly(0, 10, 20, 1_000, 1_010);
  }
}
