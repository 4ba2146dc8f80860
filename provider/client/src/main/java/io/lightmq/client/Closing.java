package io.lightmq.client;

import io.lightmq.client.link.Uninterrupted;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The end of something that several threads may close at once: the first does it, the others wait
 * until it is done. Holds no lock, so an application's listener that runs meanwhile may close it
 * too; it must not wait then.
 *
 * <p>It has two steps. From {@link #begin} on nothing new is begun, but listeners that run go on,
 * and everything works for them. From {@link #close} on nothing works any more.
 */
final class Closing {
  private final AtomicBoolean begun = new AtomicBoolean();
  private volatile boolean closed;
  private final CountDownLatch done = new CountDownLatch(1);

  /** Whether somebody closes it or has closed it. */
  boolean hasBegun() {
    return begun.get();
  }

  /** Whether it works no more. */
  boolean isClosed() {
    return closed;
  }

  /** Begins; true for one thread only, which has to call {@link #done}. */
  boolean begin() {
    return begun.compareAndSet(false, true);
  }

  /** The last listener has returned. */
  void close() {
    closed = true;
  }

  /** Nothing of it is left. */
  void done() {
    closed = true;
    done.countDown();
  }

  /** Waits until it is closed, whatever interrupts the thread. */
  void awaitDone() {
    Uninterrupted.await(done);
  }
}
