package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AgeSamplesTest {
  @Test
  void anAgeIsRightToASixteenthHoweverLongTheBacklog() {
    AgeSamples samples = new AgeSamples();
    int count = 100_000;
    for (int i = 1; i <= count; i++) {
      samples.sample(i * 10L, i * 1_000L);
    }
    for (int i = 1; i <= count; i += 97) {
      assertThat(samples.cameAt(i * 10L)).isBetween(i * 1_000L - count * 1_000L / 8, i * 1_000L);
    }
  }

  @Test
  void whatNobodyAsksForIsForgotten() {
    AgeSamples samples = new AgeSamples();
    samples.sample(5, 1_000);
    samples.sample(6, 1_500);
    samples.sample(7, 2_000);
    samples.sample(9, 3_000);
    assertThat(samples.cameAt(4)).isZero();
    assertThat(samples.cameAt(6)).isEqualTo(1_000);
    samples.forgetBelow(8);
    assertThat(samples.cameAt(6)).as("of one whom nothing durable needs").isEqualTo(2_000);
    assertThat(samples.cameAt(8)).isEqualTo(2_000);
    assertThat(samples.cameAt(20)).isEqualTo(3_000);
  }

  @Test
  void onceASecondOfTheMessagesItIsAskedWhatNobodyNeeds() {
    AgeSamples samples = new AgeSamples();
    assertThat(samples.mayForget(5_000)).as("nothing is known").isFalse();
    samples.sample(5, 5_000);
    assertThat(samples.mayForget(5_001)).isTrue();
    assertThat(samples.mayForget(6_000)).isFalse();
    assertThat(samples.mayForget(6_001)).isTrue();
    assertThat(samples.mayForget(0)).as("the clock was set back").isTrue();
  }
}
