package io.lightmq.core.runtime;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Loops with a thread each and the machine's clock. */
public final class ThreadLoops implements Loops {
  private final FatalHandler fatal;
  private final boolean daemon;
  private final Clock clock = new SystemClock();
  private final Ids ids = new RandomIds();
  private final List<ThreadLoop> loops = new ArrayList<>();
  private final List<Consumer<IOException>> mourners = new CopyOnWriteArrayList<>();
  private boolean closed;

  public ThreadLoops(FatalHandler fatal) {
    this(fatal, false);
  }

  /**
   * Loops for a broker inside an application.
   *
   * @param daemon whether the threads let the Java machine end
   */
  public ThreadLoops(FatalHandler fatal, boolean daemon) {
    this.fatal = fatal;
    this.daemon = daemon;
  }

  @Override
  public synchronized Loop open(String name) {
    if (closed) {
      throw new IllegalStateException("loop " + name + " cannot be opened: the loops are closed");
    }
    ThreadLoop loop =
        new ThreadLoop(
            name,
            clock,
            this::died,
            ThreadLoop.DEFAULT_CAPACITY,
            ThreadLoop.DEFAULT_MAX_TASKS,
            daemon);
    loops.add(loop);
    return loop;
  }

  private void died(String loopName, Throwable cause) {
    fatal.fatal(loopName, cause);
    IOException failure = new IOException("loop " + loopName + " died of " + cause, cause);
    mourners.forEach(mourner -> mourner.accept(failure));
  }

  @Override
  public void whenOneDies(Consumer<IOException> listener) {
    mourners.add(listener);
  }

  @Override
  public Clock clock() {
    return clock;
  }

  @Override
  public Ids ids() {
    return ids;
  }

  @Override
  public void run(Loop loop, Runnable task) {
    if (loop.isCurrent()) {
      throw new IllegalStateException("loop " + loop.name() + " cannot wait for itself");
    }
    CountDownLatch done = new CountDownLatch(1);
    loop.execute(
        () -> {
          task.run();
          done.countDown();
        });
    boolean interrupted = false;
    while (true) {
      try {
        if (done.await(1, TimeUnit.SECONDS)) {
          break;
        }
        if (loop instanceof ThreadLoop threaded && threaded.ended() && done.getCount() > 0) {
          throw new RejectedExecutionException(
              "loop " + loop.name() + " ended before the task that was waited for");
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    List<ThreadLoop> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(loops);
      loops.clear();
    }
    for (int i = all.size() - 1; i >= 0; i--) {
      all.get(i).beginClose();
    }
    for (int i = all.size() - 1; i >= 0; i--) {
      all.get(i).close();
    }
  }
}
