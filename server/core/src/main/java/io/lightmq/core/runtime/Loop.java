package io.lightmq.core.runtime;

/**
 * An executor with one owner thread: what is given to it runs there, in order of arrival, one task
 * at a time. State that belongs to a loop needs no locks.
 */
public interface Loop {

  /** The loop's name, which is its thread's too. */
  String name();

  /**
   * Runs a task on the loop, soon. Any thread; never blocks.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop is closed or its bounded
   *     mailbox is full; the message says which, with numbers
   */
  void execute(Runnable task);

  /**
   * Runs a task on the loop after a delay in nanoseconds. Any thread; the handle may be cancelled.
   */
  Timer schedule(long delayNanos, Runnable task);

  /**
   * Sets what runs on the loop each time after it has drained its mailbox (at most {@code maxTasks}
   * tasks), before it parks. To be called once, before the first task.
   */
  void onTurnEnd(Runnable hook);

  /** Whether the calling thread is the loop's. */
  boolean isCurrent();

  /**
   * How many nanoseconds the turn lasts that is under way, 0 if none is. Any thread; it tells of a
   * loop that is stuck. A loop without a thread has no turns.
   */
  default long turnNanos() {
    return 0;
  }

  /** The longest turn since the last call, in nanoseconds, the one under way included. */
  default long takeLongestTurnNanos() {
    return 0;
  }

  /** A task that has not run yet. */
  interface Timer {
    /** Keeps the task from running if it has not begun. Any thread. */
    void cancel();
  }
}
