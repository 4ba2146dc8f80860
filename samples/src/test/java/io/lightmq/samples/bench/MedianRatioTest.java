package io.lightmq.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.samples.bench.MedianRatio.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MedianRatioTest {

  @Test
  void theMedianOfTenIsBetweenTheTwoInTheMiddleAndItsIntervalLeavesOutOneAtEachEnd() {
    MedianRatio ratio = MedianRatio.of(List.of(1.0, 0.9, 1.1, 0.8, 1.2, 0.7, 1.3, 0.6, 1.4, 0.5));

    assertThat(ratio.median()).isEqualTo(0.95);
    assertThat(ratio.low()).isEqualTo(0.6);
    assertThat(ratio.high()).isEqualTo(1.3);
  }

  /** From the tables of the sign test: 2 * P(Bin(n, 1/2) below the kept) is at most 0.05. */
  @Test
  void asManyAreLeftOutAsTheTablesOfTheSignTestSay() {
    assertThat(MedianRatio.leftOut(6)).isZero();
    assertThat(MedianRatio.leftOut(8)).isZero();
    assertThat(MedianRatio.leftOut(9)).isEqualTo(1);
    assertThat(MedianRatio.leftOut(11)).isEqualTo(1);
    assertThat(MedianRatio.leftOut(12)).isEqualTo(2);
    assertThat(MedianRatio.leftOut(20)).isEqualTo(5);
    assertThat(MedianRatio.leftOut(30)).isEqualTo(9);
  }

  @Test
  void theIntervalHoldsTheTrueMedianInNinetyFiveOfAHundredCases() {
    Random random = new Random(4711);
    int held = 0;
    for (int trial = 0; trial < 10_000; trial++) {
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        ratios.add(Math.exp(random.nextGaussian() * 0.1));
      }
      MedianRatio ratio = MedianRatio.of(ratios);
      held += ratio.low() <= 1 && 1 <= ratio.high() ? 1 : 0;
    }

    // 97.9 % by the tables, since with ten values no two come closer to 95 %.
    assertThat(held).isBetween(9_700, 9_860);
  }

  @Test
  void fewerThanSixPairsHaveNoInterval() {
    assertThatThrownBy(() -> MedianRatio.of(List.of(1.0, 1.0, 1.0, 1.0, 1.0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("5 pairs")
        .hasMessageContaining("6");
  }

  @Test
  void theVerdictNeedsBothTheMedianAndItsInterval() {
    assertThat(new MedianRatio(0.98, 0.97, 0.99).verdict()).isEqualTo(Verdict.AS_BEFORE);
    assertThat(new MedianRatio(0.90, 0.80, 1.01).verdict()).isEqualTo(Verdict.AS_BEFORE);
    assertThat(new MedianRatio(1.10, 1.05, 1.20).verdict()).isEqualTo(Verdict.AS_BEFORE);
    assertThat(new MedianRatio(0.97, 0.96, 0.99).verdict()).isEqualTo(Verdict.SLOWER);
    assertThat(new MedianRatio(0.95, 0.93, 0.97).verdict()).isEqualTo(Verdict.SLOWER);
    assertThat(new MedianRatio(0.949, 0.93, 0.97).verdict()).isEqualTo(Verdict.FAILED);
  }
}
