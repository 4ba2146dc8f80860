package io.lightmq.tck.faults;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Holds the workers of a load between its rounds, and tells them when it is over. */
final class Gate {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean open;
  private boolean over;

  /** Waits while the gate is shut; returns false when the load is over. */
  boolean pass() throws InterruptedException {
    lock.lock();
    try {
      while (!open && !over) {
        changed.await();
      }
      return !over;
    } finally {
      lock.unlock();
    }
  }

  /** Waits a moment without keeping anybody from shutting the gate. */
  void rest(long millis) throws InterruptedException {
    lock.lock();
    try {
      long leftNanos = TimeUnit.MILLISECONDS.toNanos(millis);
      while (leftNanos > 0 && !over) {
        leftNanos = changed.awaitNanos(leftNanos);
      }
    } finally {
      lock.unlock();
    }
  }

  void open() {
    set(true, false);
  }

  void shut() {
    set(false, false);
  }

  void end() {
    set(false, true);
  }

  private void set(boolean nowOpen, boolean nowOver) {
    lock.lock();
    try {
      open = nowOpen;
      over |= nowOver;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
