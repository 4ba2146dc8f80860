package io.lightmq.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LatenciesTest {

  private final Latencies latencies = new Latencies();

  @Test
  void noneGiveZero() {
    assertThat(latencies.percentileMillis(99)).isZero();
  }

  @Test
  void percentilesOfOneToAHundred() {
    for (int millis = 1; millis <= 100; millis++) {
      latencies.add(millis);
    }
    assertThat(latencies.percentileMillis(50)).isEqualTo(50);
    assertThat(latencies.percentileMillis(99)).isEqualTo(99);
    assertThat(latencies.percentileMillis(100)).isEqualTo(100);
  }

  @Test
  void aClockThatJumpedBackCountsAsZero() {
    latencies.add(-5);
    assertThat(latencies.percentileMillis(50)).isZero();
  }

  @Property(tries = 200)
  void isWithinTwoPercent(@ForAll @LongRange(min = 0, max = 500_000_000) long millis) {
    Latencies one = new Latencies();
    one.add(millis);
    assertThat(one.percentileMillis(99)).isCloseTo(millis, within(millis / 50));
  }
}
