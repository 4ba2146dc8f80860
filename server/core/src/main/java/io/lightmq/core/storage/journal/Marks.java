package io.lightmq.core.storage.journal;

/**
 * The journal's marks, start ≤ durable ≤ written ≤ appended. Each is moved by one thread at a time,
 * forward only, and read by any.
 */
final class Marks {
  private volatile long start;
  private volatile long durable;
  private volatile long written;
  private volatile long appended;

  void begin(long startOffset, long end) {
    start = startOffset;
    durable = end;
    written = end;
    appended = end;
  }

  long start() {
    return start;
  }

  long durable() {
    return durable;
  }

  long written() {
    return written;
  }

  long appended() {
    return appended;
  }

  void start(long offset) {
    check("start", start, offset, durable);
    start = offset;
  }

  void durable(long offset) {
    check("durable", durable, offset, written);
    durable = offset;
  }

  void written(long offset) {
    check("written", written, offset, appended);
    written = offset;
  }

  void appended(long offset) {
    check("appended", appended, offset, Long.MAX_VALUE);
    appended = offset;
  }

  private static void check(String name, long from, long to, long bound) {
    if (to < from || to > bound) {
      throw new IllegalStateException(
          "mark " + name + " cannot move from " + from + " to " + to + " (bound " + bound + ")");
    }
  }
}
