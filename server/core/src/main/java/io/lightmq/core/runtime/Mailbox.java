package io.lightmq.core.runtime;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue from many threads to one. Senders push onto a lock-free stack; the owner takes
 * the whole stack at once and turns it round. Two marker nodes say that the owner is parked or has
 * gone, so a sender learns in the same step as it pushes whether it must wake the owner, and
 * nothing can slip in behind the last drain.
 *
 * <p>At the bound {@link #add} refuses; nothing blocks.
 */
final class Mailbox {
  private static final Node PARKED = new Node(() -> {});
  private static final Node CLOSED = new Node(() -> {});

  private final String name;
  private final int capacity;
  private final AtomicReference<@Nullable Node> top = new AtomicReference<>();
  private final AtomicInteger size = new AtomicInteger();

  private @Nullable Node taken;

  Mailbox(String name, int capacity) {
    this.name = name;
    this.capacity = capacity;
  }

  /** Adds a task and wakes the owner if it is parked. Any thread. */
  void add(Runnable task, Thread owner) {
    int waiting = size.incrementAndGet();
    if (waiting > capacity) {
      size.decrementAndGet();
      throw new RejectedExecutionException(
          "loop " + name + " has " + capacity + " tasks waiting, which is its bound");
    }
    Node node = new Node(task);
    while (true) {
      Node head = top.get();
      if (head == CLOSED) {
        size.decrementAndGet();
        throw new RejectedExecutionException("loop " + name + " is closed");
      }
      node.next = head == PARKED ? null : head;
      if (top.compareAndSet(head, node)) {
        if (head == PARKED) {
          LockSupport.unpark(owner);
        }
        return;
      }
    }
  }

  /** The next task, or null if there is none. Owner only. */
  @Nullable Runnable poll() {
    if (taken == null) {
      Node head = top.get();
      if (head == null || head == PARKED || head == CLOSED) {
        return null;
      }
      taken = reversed(top.getAndSet(null));
    }
    Node node = taken;
    if (node == null) {
      return null;
    }
    taken = node.next;
    size.decrementAndGet();
    return node.task;
  }

  /** Parks the owner until a task comes or the time has passed; 0 waits without end. */
  void park(long nanos) {
    if (taken != null || !top.compareAndSet(null, PARKED)) {
      return;
    }
    if (nanos == 0) {
      LockSupport.park(this);
    } else {
      LockSupport.parkNanos(this, nanos);
    }
    top.compareAndSet(PARKED, null);
  }

  /** Closes if empty; false if there is still something to run. Owner only. */
  boolean closeIfEmpty() {
    return taken == null && top.compareAndSet(null, CLOSED);
  }

  /** Refuses everything from now on and drops what waits. Owner only. */
  void abandon() {
    taken = null;
    top.set(CLOSED);
  }

  private static @Nullable Node reversed(@Nullable Node node) {
    Node result = null;
    while (node != null) {
      Node next = node.next;
      node.next = result;
      result = node;
      node = next;
    }
    return result;
  }

  private static final class Node {
    final Runnable task;
    @Nullable Node next;

    Node(Runnable task) {
      this.task = task;
    }
  }
}
