package io.lightmq.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ThreadLoopTest {
  private final CompletableFuture<Throwable> fatal = new CompletableFuture<>();
  private final FatalHandler handler = (name, cause) -> fatal.complete(cause);

  @Test
  void tasksOfEachSenderRunInOrderOnOneThread() throws Exception {
    int senders = 4;
    int each = 20_000;
    List<Integer> seen = new ArrayList<>();
    try (ThreadLoop loop = new ThreadLoop("t", new SystemClock(), handler)) {
      List<Thread> threads = new ArrayList<>();
      for (int sender = 0; sender < senders; sender++) {
        int base = sender * each;
        Thread thread =
            new Thread(
                () -> {
                  for (int i = 0; i < each; i++) {
                    int value = base + i;
                    loop.execute(() -> seen.add(value));
                  }
                });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(seen).hasSize(senders * each);
    int[] last = new int[senders];
    for (int value : seen) {
      int sender = value / each;
      assertThat(value % each).isEqualTo(last[sender]++);
    }
  }

  @Test
  void theBoundRefusesAndNamesLoopAndNumber() throws Exception {
    CountDownLatch hold = new CountDownLatch(1);
    CountDownLatch running = new CountDownLatch(1);
    AtomicInteger ran = new AtomicInteger();
    try (ThreadLoop loop = new ThreadLoop("small", new SystemClock(), handler, 8, 4)) {
      loop.execute(
          () -> {
            running.countDown();
            await(hold);
          });
      running.await();
      for (int i = 0; i < 8; i++) {
        loop.execute(ran::incrementAndGet);
      }
      assertThatThrownBy(() -> loop.execute(ran::incrementAndGet))
          .isInstanceOf(RejectedExecutionException.class)
          .hasMessageContaining("small")
          .hasMessageContaining("8 tasks");
      hold.countDown();
    }
    assertThat(ran).hasValue(8);
  }

  @Test
  void aTurnEndsAfterSoManyTasks() throws Exception {
    CountDownLatch hold = new CountDownLatch(1);
    List<Integer> turns = new ArrayList<>();
    AtomicInteger inTurn = new AtomicInteger();
    try (ThreadLoop loop = new ThreadLoop("turns", new SystemClock(), handler, 1000, 4)) {
      loop.onTurnEnd(() -> turns.add(inTurn.getAndSet(0)));
      loop.execute(() -> await(hold));
      for (int i = 0; i < 10; i++) {
        loop.execute(inTurn::incrementAndGet);
      }
      hold.countDown();
    }
    assertThat(turns).allMatch(tasks -> tasks <= 4);
    assertThat(turns.stream().mapToInt(Integer::intValue).sum()).isEqualTo(10);
  }

  @Test
  void timersRunInTheOrderOfTheirTimesAndNotIfCancelled() throws Exception {
    List<String> seen = new ArrayList<>();
    CountDownLatch last = new CountDownLatch(1);
    AtomicLong nanos = new AtomicLong();
    Clock clock =
        new Clock() {
          @Override
          public long nanos() {
            return nanos.get();
          }

          @Override
          public long wallMillis() {
            return 0;
          }

          @Override
          public long arrivalMillis() {
            return 0;
          }
        };
    try (ThreadLoop loop = new ThreadLoop("timers", clock, handler)) {
      loop.schedule(TimeUnit.MILLISECONDS.toNanos(60), last::countDown);
      loop.schedule(TimeUnit.MILLISECONDS.toNanos(40), () -> seen.add("late"));
      loop.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> seen.add("early"));
      loop.schedule(TimeUnit.MILLISECONDS.toNanos(30), () -> seen.add("never")).cancel();
      CountDownLatch taken = new CountDownLatch(1);
      loop.execute(taken::countDown);
      taken.await();
      nanos.set(TimeUnit.SECONDS.toNanos(1));
      loop.execute(() -> {});
      last.await();
    }
    assertThat(seen).containsExactly("early", "late");
  }

  @Test
  void cancelledTimersDoNotPileUp() {
    Timers timers = new Timers();
    for (int i = 0; i < 100_000; i++) {
      Timers.Entry entry = timers.prepare(Long.MAX_VALUE / 2, () -> {});
      timers.add(entry);
      entry.cancel();
    }
    assertThat(timers.size()).isLessThan(200);
  }

  @Test
  void whatATaskThrowsIsFatalAndEndsTheLoop() throws Exception {
    ThreadLoop loop = new ThreadLoop("dying", new SystemClock(), handler);
    loop.execute(
        () -> {
          throw new IllegalStateException("a bug");
        });
    assertThat(fatal.get()).hasMessage("a bug");
    loop.close();
    assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void runWaitsForTheTaskAndCloseLeavesNoThread() {
    AtomicInteger ran = new AtomicInteger();
    ThreadLoops loops = new ThreadLoops(handler);
    Loop loop = loops.open("loop-that-goes");
    loops.run(loop, ran::incrementAndGet);
    assertThat(ran).hasValue(1);
    loops.close();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("loop-that-goes"));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
