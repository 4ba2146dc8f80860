package io.lightmq.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TurnWatchTest {
  private final AtomicLong now = new AtomicLong(5);

  private final Clock clock =
      new Clock() {
        @Override
        public long wallMillis() {
          return 0;
        }

        @Override
        public long arrivalMillis() {
          return 0;
        }

        @Override
        public long nanos() {
          return now.get();
        }
      };

  @Test
  void aStuckTurnIsSeenWhileItLasts() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch hold = new CountDownLatch(1);
    try (ThreadLoop loop = new ThreadLoop("stuck", clock, (name, cause) -> {})) {
      assertThat(loop.turnNanos()).isZero();
      loop.execute(
          () -> {
            running.countDown();
            await(hold);
          });
      running.await();
      now.addAndGet(3_000_000_000L);
      assertThat(loop.turnNanos()).isEqualTo(3_000_000_000L);
      assertThat(loop.takeLongestTurnNanos()).isEqualTo(3_000_000_000L);
      hold.countDown();
    }
  }

  @Test
  void theLongestOfTheTurnsSinceTheLastLookIsTold() {
    TurnWatch watch = new TurnWatch(clock);
    turn(watch, 20);
    turn(watch, 70);
    turn(watch, 30);
    assertThat(watch.nanos()).isZero();
    assertThat(watch.takeLongest()).isEqualTo(70);
    assertThat(watch.takeLongest()).isZero();
    turn(watch, 10);
    assertThat(watch.takeLongest()).isEqualTo(10);
  }

  private void turn(TurnWatch watch, long nanos) {
    watch.begin(now.get());
    now.addAndGet(nanos);
    watch.end();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
