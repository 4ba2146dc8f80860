package io.lightmq.core.runtime;

import java.io.IOException;
import java.util.function.Consumer;

/**
 * Where every loop, the clock and random ids come from: threads in production, one simulated thread
 * in tests. The owner closes it last; what a broker opened here lives until then.
 */
public interface Loops extends AutoCloseable {

  /** Opens a loop; its name is its thread's. */
  Loop open(String name);

  /** The clock that goes with the loops' timers. */
  Clock clock();

  /** Random ids, reproducible in simulations. */
  Ids ids();

  /**
   * Runs a task on a loop and waits until it has ended. Blocks, so never to be called on a loop.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop is closed
   */
  void run(Loop loop, Runnable task);

  /**
   * Tells when a loop has died of an unexpected error, on that loop's thread and after the {@link
   * FatalHandler}. The listener must not block. Simulated loops fail their test instead.
   */
  default void whenOneDies(Consumer<IOException> listener) {}

  /** Drains and ends all loops, the newest first, and waits for their threads. */
  @Override
  void close();
}
