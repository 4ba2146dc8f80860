package io.lightmq.node.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A budget of bytes for frames of one kind, shared by all connections: what finds no room waits
 * unread, in order, at most one frame per connection. Small frames do not stand behind others: an
 * eighth of the budget is theirs alone. An empty budget admits any frame. Any thread; one lock, and
 * nothing but arithmetic under it.
 */
public final class FrameBudget {
  /** Frames up to this length are small. */
  static final int SMALL_BYTES = 16 << 10;

  private static final int SHARE_OF_SMALL = 8;

  private final long limitBytes;
  private final Deque<Waiting> small = new ArrayDeque<>();
  private final Deque<Waiting> large = new ArrayDeque<>();
  private long used;

  private record Waiting(int bytes, Runnable admitted) {}

  /** For what frames become once they are decoded, on a Java machine of this heap. */
  public static FrameBudget ofDecoded(long heapBytes) {
    return new FrameBudget(FrameHeap.limit(heapBytes));
  }

  public FrameBudget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /**
   * Takes bytes of it, now or later.
   *
   * @param admitted runs on any thread once they are taken, unless they are taken now
   * @return whether they are taken now
   */
  synchronized boolean take(int bytes, Runnable admitted) {
    Deque<Waiting> waiting = bytes <= SMALL_BYTES ? small : large;
    if (waiting.isEmpty() && hasRoom(bytes)) {
      used += bytes;
      return true;
    }
    waiting.add(new Waiting(bytes, admitted));
    return false;
  }

  /** Takes bytes that are there already and are about to be given back under another name. */
  synchronized void keep(int bytes) {
    used += bytes;
  }

  private boolean hasRoom(int bytes) {
    long limit = bytes <= SMALL_BYTES ? limitBytes : limitBytes - limitBytes / SHARE_OF_SMALL;
    return used == 0 || used + bytes <= limit;
  }

  void giveBack(int bytes) {
    List<Runnable> admitted = new ArrayList<>();
    synchronized (this) {
      used -= bytes;
      admit(admitted);
    }
    admitted.forEach(Runnable::run);
  }

  /**
   * Gives up waiting.
   *
   * @return false if the bytes were taken meanwhile
   */
  boolean cancel(Runnable waiter) {
    List<Runnable> admitted = new ArrayList<>();
    boolean found;
    synchronized (this) {
      found =
          small.removeIf(each -> each.admitted() == waiter)
              || large.removeIf(each -> each.admitted() == waiter);
      admit(admitted);
    }
    admitted.forEach(Runnable::run);
    return found;
  }

  /** Whether anybody waits for room. */
  synchronized boolean isWanted() {
    return !small.isEmpty() || !large.isEmpty();
  }

  private void admit(List<Runnable> admitted) {
    admit(small, admitted);
    admit(large, admitted);
  }

  private void admit(Deque<Waiting> waiting, List<Runnable> admitted) {
    Waiting next = waiting.peek();
    while (next != null && hasRoom(next.bytes())) {
      waiting.remove();
      used += next.bytes();
      admitted.add(next.admitted());
      next = waiting.peek();
    }
  }

  /** Of all connections together. */
  long limitBytes() {
    return limitBytes;
  }

  /** Bytes that are taken. */
  synchronized long usedBytes() {
    return used;
  }
}
