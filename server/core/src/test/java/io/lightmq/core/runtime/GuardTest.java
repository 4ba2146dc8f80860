package io.lightmq.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.SimulatedLoops;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class GuardTest {
  private static final class Table {
    private final Guard guard = new Guard();

    void put() {
      guard.check();
    }
  }

  private final Table table = new Table();

  @Test
  void whatIsNotHandedOverBelongsToItsMaker() throws Exception {
    assertThatCode(table::put).doesNotThrowAnyException();
    assertThat(onAnotherThread(table::put))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Table.put was called on thread stranger")
        .hasMessageContaining("belongs to thread " + Thread.currentThread().getName());
  }

  @Test
  void whatIsHandedOverBelongsToTheThreadOfTheLoop() throws Exception {
    FatalHandler none = (name, cause) -> {};
    try (ThreadLoop shard = new ThreadLoop("shard", new SystemClock(), none);
        ThreadLoop read = new ThreadLoop("read", new SystemClock(), none)) {
      table.guard.handOver(shard);
      assertThat(on(shard, table::put)).isNull();
      assertThat(on(read, table::put))
          .isInstanceOf(AssertionError.class)
          .hasMessage(
              "Table.put was called on thread read outside a turn of its loop; it belongs to loop"
                  + " shard");
      assertThatThrownBy(table::put).isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void whoDoesNotHaveItCannotGiveItAway() throws Exception {
    assertThat(onAnotherThread(() -> table.guard.handOver(new SimulatedLoops(1).open("read"))))
        .isInstanceOf(AssertionError.class);
    assertThat(onAnotherThread(() -> table.guard.end("a stranger wants it")))
        .isInstanceOf(AssertionError.class);
    assertThatCode(table::put).doesNotThrowAnyException();
  }

  @Test
  void simulatedLoopsAreToldApartThoughTheyHaveOneThread() throws Exception {
    SimulatedLoops loops = new SimulatedLoops(1);
    Loop shard = loops.open("shard");
    Loop read = loops.open("read");
    table.guard.handOver(shard);
    loops.run(shard, table::put);
    assertThatThrownBy(() -> loops.run(read, table::put)).isInstanceOf(AssertionError.class);
    assertThatThrownBy(table::put)
        .hasMessageContaining("outside a turn of its loop; it belongs to loop shard");
    Throwable[] foreign = new Throwable[1];
    loops.run(shard, () -> foreign[0] = onAnotherThread(table::put));
    assertThat(foreign[0]).isInstanceOf(AssertionError.class);
  }

  @Test
  void whatHasEndedBelongsToNobody() {
    table.guard.end("another node leads");
    assertThatThrownBy(table::put)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("belongs to nobody any more: another node leads");
  }

  @Test
  void whatADeadLoopHadCanBeTakenOver() {
    SimulatedLoops loops = new SimulatedLoops(1);
    table.guard.handOver(loops.open("shard"));
    loops.crash();
    assertThatThrownBy(table::put).isInstanceOf(AssertionError.class);
    table.guard.takeOver();
    assertThatCode(table::put).doesNotThrowAnyException();
  }

  private static @Nullable Throwable on(Loop loop, Runnable task) {
    CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();
    loop.execute(() -> end.complete(thrown(task)));
    return end.join();
  }

  private static @Nullable Throwable onAnotherThread(Runnable task) {
    CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();
    new Thread(() -> end.complete(thrown(task)), "stranger").start();
    return end.join();
  }

  private static @Nullable Throwable thrown(Runnable task) {
    try {
      task.run();
      return null;
    } catch (Throwable e) {
      return e;
    }
  }
}
