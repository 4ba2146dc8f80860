package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The lock of one receiving half, and what decides whether it asks for messages and hands them
 * over. Never held while an application's code runs or while the broker is waited for.
 *
 * <p>It ends in two steps, as what it belongs to does: once it is ending nothing new is begun, but
 * a listener that still runs may receive; once it is closed nobody may.
 */
@SuppressWarnings("WaitNotInLoop") // its callers wait in a loop: what has changed is theirs to say
final class Gate {
  /** Waits for ever. */
  static final long FOREVER = -1;

  /** Does not wait. */
  static final long NO_WAIT = 0;

  private final BooleanSupplier inListener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // All of this is guarded by the lock.
  private boolean linkUp = true;
  private boolean started;
  private boolean ending;
  private boolean closed;
  private int returns;

  /**
   * A gate.
   *
   * @param inListener whether the calling thread runs a listener of the connection; asked with the
   *     lock held
   */
  Gate(BooleanSupplier inListener) {
    this.inListener = inListener;
  }

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

  /** Fails unless the calling thread holds the lock: what the lock guards is asked so. */
  void checkHeld() {
    if (!lock.isHeldByCurrentThread()) {
      throw new AssertionError(
          "thread "
              + Thread.currentThread().getName()
              + " touches what a session has received without the lock of its gate: "
              + lock);
    }
  }

  /** Fails if the calling thread holds the lock, before it waits for what needs that. */
  void checkFree() {
    if (lock.isHeldByCurrentThread()) {
      throw new AssertionError(
          "thread "
              + Thread.currentThread().getName()
              + " would wait for the broker and hold the lock of a gate");
    }
  }

  // ---- with the lock held, which each of these checks ----

  /** Wakes all that wait. */
  void signal() {
    checkHeld();
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
    checkHeld();
    linkUp = up;
  }

  boolean isLinkUp() {
    checkHeld();
    return linkUp;
  }

  void started(boolean value) {
    checkHeld();
    started = value;
  }

  boolean isStarted() {
    checkHeld();
    return started;
  }

  void end() {
    checkHeld();
    ending = true;
  }

  boolean isEnding() {
    checkHeld();
    return ending;
  }

  void close() {
    checkHeld();
    ending = true;
    closed = true;
  }

  boolean isClosed() {
    checkHeld();
    return closed;
  }

  /** Whether the calling thread gets nothing more: a listener that runs does until the close. */
  boolean isOver() {
    checkHeld();
    return closed || (ending && !inListener.getAsBoolean());
  }

  /** Messages are being given back (1), or have been (-1): until then nothing is handed over. */
  void returning(int change) {
    checkHeld();
    returns += change;
  }

  /** Whether messages may be handed over to the calling thread. */
  boolean hands() {
    checkHeld();
    return started && returns == 0 && !isOver();
  }

  /** Whether a listener may be called, or a pool's session be loaded. */
  boolean begins() {
    checkHeld();
    return started && returns == 0 && !ending;
  }

  /** Whether messages may be asked for, for the calling thread. */
  boolean pulls() {
    return linkUp && hands();
  }

  /** Whether messages may be asked for in advance. */
  boolean prefetches() {
    return linkUp && begins();
  }
}
