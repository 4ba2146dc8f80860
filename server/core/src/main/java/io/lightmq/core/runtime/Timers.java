package io.lightmq.core.runtime;

import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The timers of one loop in a heap, touched by its owner only; only {@link Entry#cancel} may come
 * from elsewhere. A cancelled timer lets go of its task at once, and its place in the heap is
 * cleared when more than half of the heap is cancelled, so the heap stays below twice the live
 * ones.
 */
final class Timers {
  private static final int FEW = 64;

  private final PriorityQueue<Entry> heap = new PriorityQueue<>();
  private final AtomicInteger cancelled = new AtomicInteger();
  private long order;

  Entry prepare(long deadlineNanos, Runnable task) {
    return new Entry(this, deadlineNanos, task);
  }

  void add(Entry entry) {
    entry.order = order++;
    heap.add(entry);
    if (cancelled.get() > FEW && cancelled.get() > heap.size() / 2) {
      heap.removeIf(each -> each.task == null);
      cancelled.set(0);
    }
  }

  /** The next task that is due, or null. */
  @Nullable Runnable poll(long now) {
    while (true) {
      Entry first = heap.peek();
      if (first == null || (first.task != null && first.deadlineNanos - now > 0)) {
        return null;
      }
      heap.poll();
      Runnable task = first.task;
      if (task != null) {
        first.task = null;
        return task;
      }
    }
  }

  /** Nanoseconds until the first timer is due, at least 1; 0 if there is none. */
  long untilNext(long now) {
    Entry first = heap.peek();
    return first == null ? 0 : Math.max(1, first.deadlineNanos - now);
  }

  int size() {
    return heap.size();
  }

  static final class Entry implements Loop.Timer, Comparable<Entry> {
    private final Timers timers;
    private final long deadlineNanos;
    private volatile @Nullable Runnable task;
    private long order;

    Entry(Timers timers, long deadlineNanos, Runnable task) {
      this.timers = timers;
      this.deadlineNanos = deadlineNanos;
      this.task = task;
    }

    @Override
    public void cancel() {
      if (task != null) {
        task = null;
        timers.cancelled.incrementAndGet();
      }
    }

    @Override
    public int compareTo(Entry other) {
      int byTime = Long.signum(deadlineNanos - other.deadlineNanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }
}
