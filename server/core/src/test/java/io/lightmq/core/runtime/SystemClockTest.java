package io.lightmq.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The broker's wall time does not jump when the machine's time does. */
class SystemClockTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;

  private long nanos = 5 * SECOND + 123_456;
  private long shiftMillis = 1_800_000_000_000L;
  private final SystemClock clock = new SystemClock(() -> shiftMillis + nanos / MILLI, () -> nanos);

  private long machine() {
    return shiftMillis + nanos / MILLI;
  }

  /** Lets time pass while somebody looks now and then. */
  private void pass(long byNanos) {
    for (long left = byNanos; left > 0; left -= SECOND / 2) {
      nanos += Math.min(left, SECOND / 2);
      clock.wallMillis();
    }
  }

  @Test
  void withoutAStepItIsTheMachinesTime() {
    for (int i = 0; i < 1_000; i++) {
      pass(7 * SECOND + 333_333);
      assertThat(machine() - clock.wallMillis()).isBetween(0L, 1L);
    }
    assertThat(clock.steps()).isZero();
    assertThat(clock.behindMillis()).isZero();
  }

  @Test
  void aStepForwardIsFollowedOnePartInAHundred() {
    pass(10 * SECOND);
    shiftMillis += 60_000;
    long before = clock.wallMillis();
    pass(100 * SECOND);
    assertThat(clock.wallMillis() - before).isBetween(100_980L, 101_001L);
    assertThat(clock.steps()).isEqualTo(1);
    pass(5_900 * SECOND);
    assertThat(machine() - clock.wallMillis()).isBetween(-1L, 20L);
    assertThat(clock.steps()).isEqualTo(1);
    pass(100 * SECOND);
    assertThat(clock.behindMillis()).isZero();
  }

  @Test
  void aStepBackIsFollowedOnePartInAHundredAndTimeNeverGoesBack() {
    pass(10 * SECOND);
    shiftMillis -= 3_000;
    long before = clock.wallMillis();
    pass(100 * SECOND);
    assertThat(clock.wallMillis() - before).isBetween(98_999L, 99_020L);
    pass(250 * SECOND);
    assertThat(machine() - clock.wallMillis()).isBetween(-1L, 1L);
    assertThat(clock.steps()).isEqualTo(1);
    assertThat(clock.behindMillis()).isZero();
  }

  /** The bound that the documents state for what was sent before the step. */
  @Test
  void anHourThatBeganBeforeAStepForwardIsOverByAHundredAndFirstTooEarlyAtMost() {
    for (long stepMillis : new long[] {5_000, 3_600_000}) {
      pass(10 * SECOND);
      long end = clock.arrivalMillis() + 3_600_000;
      long began = nanos;
      shiftMillis += stepMillis;
      while (clock.wallMillis() < end) {
        pass(SECOND / 2);
      }
      long early = 3_600_000 - (nanos - began) / MILLI;
      assertThat(early).isPositive().isLessThanOrEqualTo(Math.min(stepMillis, 3_600_000 / 101 + 1));
      pass(100 * stepMillis * MILLI);
    }
  }

  @Test
  void anArrivalIsNoEarlierThanNow() {
    long first = clock.arrivalMillis();
    assertThat(first).isEqualTo(clock.wallMillis());
    nanos += 1;
    assertThat(clock.wallMillis()).isEqualTo(first);
    assertThat(clock.arrivalMillis()).isEqualTo(first + 1);
    nanos += MILLI - 1;
    assertThat(clock.arrivalMillis()).isEqualTo(first + 1);
    assertThat(clock.wallMillis()).isEqualTo(first + 1);
  }

  @Test
  void itNeverGoesBackAndGainsNoMoreThanItSays() {
    Random random = new Random(7);
    long last = clock.wallMillis();
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(500) == 0) {
        shiftMillis += random.nextInt(2_000_000) - 1_000_000;
      }
      long passed = random.nextInt(2_000) * MILLI;
      long behind = clock.behindMillis();
      nanos += passed;
      long now = clock.wallMillis();
      assertThat(now).isGreaterThanOrEqualTo(last);
      long most = passed / MILLI + passed / MILLI / Clock.SLEW + 2;
      assertThat(now - last).isLessThanOrEqualTo(behind == 0 ? passed / MILLI + 2 : most);
      last = now;
    }
    assertThat(clock.steps()).isPositive();
  }
}
