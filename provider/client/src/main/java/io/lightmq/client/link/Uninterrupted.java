package io.lightmq.client.link;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits that an interrupt does not end: what is being closed must be closed to its end, or half of
 * it stays open in the broker. The thread's interrupt status is set again when the wait is over.
 */
public final class Uninterrupted {
  private static final long FOREVER = Long.MAX_VALUE;

  private Uninterrupted() {}

  /** Waits at most so many nanoseconds; true if what is waited for has come. */
  private interface Wait {
    boolean nanos(long nanos) throws InterruptedException;
  }

  /** The result of a future that ends for certain. */
  public static <T> T get(CompletableFuture<T> future) throws ExecutionException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return future.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      restore(interrupted);
    }
  }

  /** Waits until a future has ended, one way or another; false if the time is over before. */
  public static boolean ended(CompletableFuture<?> future, long millis) {
    return waited(
        TimeUnit.MILLISECONDS.toNanos(millis),
        nanos -> {
          try {
            future.get(nanos, TimeUnit.NANOSECONDS);
            return true;
          } catch (ExecutionException | CancellationException e) {
            return true;
          } catch (TimeoutException e) {
            return false;
          }
        });
  }

  /** Waits for the end of a thread; false if the time is over before. */
  public static boolean join(Thread thread, long millis) {
    return waited(TimeUnit.MILLISECONDS.toNanos(millis), nanos -> joined(thread, nanos));
  }

  /** Waits for the end of a thread. */
  public static void join(Thread thread) {
    waited(FOREVER, nanos -> joined(thread, nanos));
  }

  private static boolean joined(Thread thread, long nanos) throws InterruptedException {
    TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    return !thread.isAlive();
  }

  /** Waits for a latch. */
  public static void await(CountDownLatch latch) {
    waited(FOREVER, nanos -> latch.await(nanos, TimeUnit.NANOSECONDS));
  }

  private static boolean waited(long nanos, Wait wait) {
    long endNanos = System.nanoTime() + nanos;
    boolean interrupted = false;
    try {
      while (true) {
        long left = nanos == FOREVER ? FOREVER : Math.max(0, endNanos - System.nanoTime());
        try {
          boolean came = wait.nanos(left);
          if (came || left == 0) {
            return came;
          }
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      restore(interrupted);
    }
  }

  private static void restore(boolean interrupted) {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
