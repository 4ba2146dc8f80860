package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who gets room in a budget that all connections share. */
class FrameBudgetTest {
  private static final int LARGE = 1 << 20;
  private static final int SMALL = 1 << 10;

  private final FrameBudget budget = new FrameBudget(4L << 20);
  private final List<String> admitted = new ArrayList<>();

  private boolean take(int bytes, String name) {
    return budget.take(bytes, () -> admitted.add(name));
  }

  @Test
  void smallFramesDoNotStandBehindLargeOnesThatWait() {
    int taken = 0;
    while (take(LARGE, "large")) {
      taken++;
    }
    assertThat(taken).isEqualTo(3);
    for (int i = 0; i < 512; i++) {
      assertThat(take(SMALL, "small")).isTrue();
    }
    assertThat(budget.isWanted()).isTrue();
    assertThat(admitted).isEmpty();
  }

  @Test
  void largeFramesLeaveSmallOnesTheirPart() {
    while (take(LARGE / 4, "large")) {}
    assertThat(budget.limitBytes() - budget.usedBytes()).isEqualTo(budget.limitBytes() / 8);
  }

  @Test
  void thoseWhoWaitAreAdmittedInOrderAndAFrameLargerThanAllGoesAlone() {
    assertThat(take(8 * LARGE, "first")).isTrue();
    assertThat(take(8 * LARGE, "second")).isFalse();
    assertThat(take(SMALL, "small")).isFalse();
    assertThat(take(LARGE, "third")).isFalse();
    budget.giveBack(8 * LARGE);
    assertThat(admitted).containsExactly("small");
    budget.giveBack(SMALL);
    assertThat(admitted).containsExactly("small", "second");
    budget.giveBack(8 * LARGE);
    assertThat(admitted).containsExactly("small", "second", "third");
    budget.giveBack(LARGE);
    assertThat(budget.usedBytes()).isZero();
    assertThat(budget.isWanted()).isFalse();
  }

  @Test
  void whoGivesUpWaitingLetsThoseBehindIn() {
    assertThat(take(3 * LARGE, "first")).isTrue();
    Runnable second = () -> admitted.add("second");
    assertThat(budget.take(2 * LARGE, second)).isFalse();
    assertThat(take(LARGE / 4, "third")).isFalse();
    assertThat(budget.cancel(second)).isTrue();
    assertThat(admitted).containsExactly("third");
    assertThat(budget.cancel(second)).isFalse();
  }
}
