package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The lock of one receiving half, and what decides whether it asks for messages and hands them
 * over. Never held while an application's code runs or while the broker is waited for.
 */
final class Gate {
  /** Waits for ever. */
  static final long FOREVER = -1;

  /** Does not wait. */
  static final long NO_WAIT = 0;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // All of this is guarded by the lock.
  private boolean linkUp = true;
  private boolean started;
  private boolean closed;
  private int returns;

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  /** Changes something under the lock and wakes all that wait. */
  void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Looks at something under the lock. */
  <T> T look(Supplier<T> look) {
    lock.lock();
    try {
      return look.get();
    } finally {
      lock.unlock();
    }
  }

  // ---- with the lock held ----

  /** Wakes all that wait. */
  void signal() {
    changed.signalAll();
  }

  /**
   * Waits for a change.
   *
   * @param nanos at most so long, or {@link #FOREVER}
   * @param what what is waited for, should the thread be interrupted
   */
  void await(long nanos, String what) throws JMSException {
    try {
      awaitChange(nanos);
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted(what, e);
    }
  }

  /** Waits for a change, whatever interrupts the thread. */
  void awaitUninterruptibly() {
    changed.awaitUninterruptibly();
  }

  /** Waits for a change; what is left of the time. */
  long awaitChange(long nanos) throws InterruptedException {
    if (nanos == FOREVER) {
      changed.await();
      return FOREVER;
    }
    return changed.awaitNanos(nanos);
  }

  void linkUp(boolean up) {
    linkUp = up;
  }

  boolean isLinkUp() {
    return linkUp;
  }

  void started(boolean value) {
    started = value;
  }

  boolean isStarted() {
    return started;
  }

  void close() {
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  /** Messages are being given back (1), or have been (-1): until then nothing is handed over. */
  void returning(int change) {
    returns += change;
  }

  /** Whether messages may be handed over. */
  boolean hands() {
    return started && !closed && returns == 0;
  }

  /** Whether messages may be asked for. */
  boolean pulls() {
    return hands() && linkUp;
  }
}
