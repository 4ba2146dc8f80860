package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The pauses between attempts. */
class BackoffTest {
  private static List<Long> pauses(int count, int first, double multiplier, int most) {
    Backoff backoff =
        new Backoff(new LinkSettings.Reconnect(true, false, first, multiplier, most, -1, 0));
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      pauses.add(backoff.nextMillis(0));
    }
    return pauses;
  }

  @Test
  void theFirstAttemptComesAtOnceAndThePausesGrowUpToTheMaximum() {
    assertThat(pauses(8, 50, 2, 1_000))
        .containsExactly(0L, 50L, 100L, 200L, 400L, 800L, 1_000L, 1_000L);
    assertThat(pauses(5, 100, 1.5, 10_000)).containsExactly(0L, 100L, 150L, 225L, 337L);
  }

  @Test
  void aMultiplierOfOneLeavesThemAsTheyAre() {
    assertThat(pauses(4, 70, 1, 1_000)).containsExactly(0L, 70L, 70L, 70L);
  }

  @Test
  void howeverOftenThePauseIsNeverAboveTheMaximumNorBelowThreeQuarters() {
    Backoff backoff =
        new Backoff(new LinkSettings.Reconnect(true, false, 86_400_000, 1_000, 1, -1, 0));
    for (int i = 0; i < 5_000; i++) {
      assertThat(backoff.nextMillis(0.999))
          .isBetween(i == 0 ? 0L : 64_800_000L, i == 0 ? 0L : 86_400_000L);
    }
    backoff.reset();
    assertThat(backoff.nextMillis(0)).isZero();
  }
}
