package io.lightmq.core.runtime;

import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A loop with a thread of its own. The thread parks when there is nothing to do and never spins; it
 * is not a daemon unless asked for and is never interrupted, so it may touch files.
 *
 * <p>The mailbox is bounded: at the bound {@link #execute} throws. A turn runs at most {@code
 * maxTasks} tasks and then the turn's hook. Anything that a task throws goes to the {@link
 * FatalHandler} and ends the loop.
 */
final class ThreadLoop implements Loop, AutoCloseable {
  /** Tasks that may wait unless another bound is given. */
  public static final int DEFAULT_CAPACITY = 1 << 18;

  /** Tasks of one turn unless told otherwise. */
  public static final int DEFAULT_MAX_TASKS = 256;

  private final Mailbox mailbox;
  private final Timers timers = new Timers();
  private final Clock clock;
  private final FatalHandler fatal;
  private final int maxTasks;
  private final Thread thread;
  private final TurnWatch watch;
  private volatile boolean closing;
  private volatile @Nullable Runnable hook;

  public ThreadLoop(String name, Clock clock, FatalHandler fatal) {
    this(name, clock, fatal, DEFAULT_CAPACITY, DEFAULT_MAX_TASKS);
  }

  public ThreadLoop(String name, Clock clock, FatalHandler fatal, int capacity, int maxTasks) {
    this(name, clock, fatal, capacity, maxTasks, false);
  }

  ThreadLoop(
      String name, Clock clock, FatalHandler fatal, int capacity, int maxTasks, boolean daemon) {
    this.mailbox = new Mailbox(name, capacity);
    this.clock = clock;
    this.fatal = fatal;
    this.maxTasks = maxTasks;
    this.watch = new TurnWatch(clock);
    this.thread = new Thread(this::live, name);
    thread.setDaemon(daemon);
    thread.start();
  }

  @Override
  public String name() {
    return thread.getName();
  }

  @Override
  public void execute(Runnable task) {
    mailbox.add(task, thread);
  }

  @Override
  public Timer schedule(long delayNanos, Runnable task) {
    Timers.Entry entry = timers.prepare(clock.nanos() + Math.max(0, delayNanos), task);
    if (isCurrent()) {
      timers.add(entry);
    } else {
      execute(() -> timers.add(entry));
    }
    return entry;
  }

  @Override
  public void onTurnEnd(Runnable hook) {
    this.hook = hook;
  }

  @Override
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  @Override
  public long turnNanos() {
    return watch.nanos();
  }

  @Override
  public long takeLongestTurnNanos() {
    return watch.takeLongest();
  }

  /** Asks the loop to end once its mailbox is empty; timers that are not due are dropped. */
  void beginClose() {
    closing = true;
    try {
      execute(() -> {});
    } catch (RejectedExecutionException alreadyClosedOrAwake) {
      return;
    }
  }

  /** Drains the mailbox, ends the thread and waits for it. Not to be called on the loop. */
  @Override
  public void close() {
    beginClose();
    if (isCurrent()) {
      throw new IllegalStateException("loop " + name() + " cannot wait for its own end");
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether the thread has ended. */
  boolean ended() {
    return !thread.isAlive();
  }

  private void live() {
    try {
      while (true) {
        int ran = turn();
        if (ran > 0) {
          continue;
        }
        if (closing && mailbox.closeIfEmpty()) {
          return;
        }
        mailbox.park(timers.untilNext(clock.nanos()));
      }
    } catch (Throwable e) {
      mailbox.abandon();
      fatal.fatal(name(), e);
    }
  }

  private int turn() {
    int ran = 0;
    while (ran < maxTasks) {
      long now = clock.nanos();
      Runnable task = timers.poll(now);
      if (task == null) {
        task = mailbox.poll();
      }
      if (task == null) {
        break;
      }
      if (ran == 0) {
        watch.begin(now);
      }
      run(task);
      ran++;
    }
    Runnable turnEnd = hook;
    if (ran > 0 && turnEnd != null) {
      run(turnEnd);
    }
    if (ran > 0) {
      watch.end();
    }
    return ran;
  }

  /** While all loops close, a task may find another loop closed already; that is no fault. */
  private void run(Runnable task) {
    try {
      task.run();
    } catch (RejectedExecutionException e) {
      if (!closing) {
        throw e;
      }
    }
  }
}
