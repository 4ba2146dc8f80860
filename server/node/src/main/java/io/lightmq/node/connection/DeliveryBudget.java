package io.lightmq.node.connection;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What all clients together may have waiting to be written to them. Once it is used up deliveries
 * pause everywhere until some has gone out; a client that takes nothing is closed, so that one
 * cannot hold the others up for long. Any thread.
 */
public final class DeliveryBudget {
  private final long limitBytes;
  private final AtomicLong used = new AtomicLong();

  public DeliveryBudget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  boolean hasRoom() {
    return used.get() < limitBytes;
  }

  void take(int bytes) {
    used.addAndGet(bytes);
  }

  void giveBack(int bytes) {
    used.addAndGet(-bytes);
  }

  /** Bytes that wait to be written. */
  long usedBytes() {
    return used.get();
  }
}
