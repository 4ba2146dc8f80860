package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LingerTest {
  private static final long MOST = 200_000;
  private final Linger linger = new Linger(MOST);

  @Test
  void aLoneSenderNeverWaits() {
    linger.forced(1, 1_000_000);

    assertThat(linger.nanosLeft(1, 1_000_001)).isZero();
    assertThat(linger.nanosLeft(1, 9_000_000)).isZero();
  }

  @Test
  void aForceWaitsForAsManySendersAsTheOneBeforeButNotForEver() {
    linger.forced(16, 1_000_000);

    assertThat(linger.nanosLeft(3, 1_100_000)).isEqualTo(MOST);
    assertThat(linger.nanosLeft(15, 1_150_000)).isEqualTo(150_000);
    assertThat(linger.nanosLeft(16, 1_160_000)).isZero();
    assertThat(linger.nanosLeft(3, 1_300_000)).isZero();
  }

  @Test
  void whoWaitedDuringTheForceComesOnTop() {
    linger.forced(8, 1_000_000);

    assertThat(linger.nanosLeft(8, 1_001_000)).isPositive();
    assertThat(linger.nanosLeft(16, 1_050_000)).isZero();
  }

  @Test
  void withoutASettingNobodyWaits() {
    Linger none = new Linger(0);
    none.forced(16, 1_000_000);

    assertThat(none.nanosLeft(1, 1_100_000)).isZero();
  }
}
