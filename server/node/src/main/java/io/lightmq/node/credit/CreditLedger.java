package io.lightmq.node.credit;

import io.lightmq.node.credit.CreditLine.Admission;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The broker's one budget of publish credit, shared by the lines of all connections.
 *
 * <p>A line's <em>exposure</em> is what its client may still send plus what the broker has not yet
 * given back. The sum of all exposures never passes the budget: first grants and growth come out of
 * what is free, a returned byte is granted again only up to the line's window, and when less than
 * an eighth is free the windows of lines above their fair share are halved.
 *
 * <p>A client may send a run while any credit is left, so that a message larger than its window
 * gets through. Such a run is admitted when its first bytes arrive: out of what is free, or one at
 * a time out of the part that is kept for it; the others wait, unread, in order. At most one waits
 * per connection.
 *
 * <p>Any thread. One lock guards all lines; nothing but arithmetic happens under it.
 */
public final class CreditLedger {
  private final CreditSettings settings;
  private final Deque<CreditLine> waiting = new ArrayDeque<>();
  private long exposure;
  private int lines;
  private @Nullable CreditLine large;

  public CreditLedger(CreditSettings settings) {
    this.settings = settings;
  }

  /** Opens a connection's line with its first grant. */
  public synchronized CreditLine open() {
    lines++;
    long first = settings.floorBytes();
    first = Math.min(settings.firstBytes(), first + Math.max(0, free()) / 8);
    CreditLine line = new CreditLine(this, first);
    exposure += line.exposure();
    return line;
  }

  /** The settings. */
  public CreditSettings settings() {
    return settings;
  }

  /** What all clients together may have under way or have under way in the broker, in bytes. */
  public synchronized long exposedBytes() {
    return exposure;
  }

  /** Connections whose large run waits for room. */
  public synchronized int waitingLines() {
    return waiting.size();
  }

  /** What may be given out without taking the least grant from connections still to come. */
  private long free() {
    long forNewcomers = settings.floorBytes() * Math.max(0, settings.connections() - lines);
    return settings.sharedBytes() - exposure + largeExcess() - forNewcomers;
  }

  /** What of the large run lies in the part of the budget that is kept for it. */
  private long largeExcess() {
    return large == null ? 0 : large.excess;
  }

  synchronized boolean covers(CreditLine line, long bytes) {
    return line.received + bytes <= line.granted;
  }

  synchronized Admission admit(CreditLine line, int bytes, Runnable admitted) {
    if (line.closed) {
      return Admission.NOW;
    }
    if (line.received >= line.granted) {
      return Admission.EXCEEDED;
    }
    if (waiting.isEmpty() && grantLarge(line, bytes)) {
      return Admission.NOW;
    }
    line.waitsFor = bytes;
    line.admitted = admitted;
    waiting.add(line);
    return Admission.LATER;
  }

  private boolean grantLarge(CreditLine line, int bytes) {
    long missing = Math.max(0, line.received + bytes - line.granted);
    if (missing > free()) {
      if (large != null || missing > settings.largestRunBytes()) {
        return false;
      }
      large = line;
      line.excess = missing;
    }
    long before = line.exposure();
    line.arriving = bytes;
    exposure += line.exposure() - before;
    return true;
  }

  synchronized void received(CreditLine line, int bytes) {
    if (!line.closed && line.received + bytes > line.granted && bytes > line.arriving) {
      throw new IllegalStateException(
          "a run of "
              + bytes
              + " bytes was read without admission: "
              + line.received
              + " received, "
              + line.granted
              + " granted");
    }
    long before = line.exposure();
    line.received += bytes;
    line.arriving = 0;
    line.sinceGrowth += bytes;
    exposure += line.exposure() - before;
  }

  void returned(CreditLine line, long bytes) {
    List<Runnable> admitted = new ArrayList<>();
    synchronized (this) {
      if (bytes < 0 || line.returned + bytes > line.received) {
        throw new IllegalArgumentException(
            "a return of "
                + bytes
                + " bytes: "
                + line.returned
                + " of "
                + line.received
                + " received were returned before");
      }
      if (!line.closed) {
        resize(line);
      }
      long before = line.exposure();
      line.returned += bytes;
      if (!line.closed) {
        line.granted = Math.max(line.granted, line.returned + line.window);
      }
      exposure += line.exposure() - before;
      settleLarge(line);
      admitWaiting(admitted);
    }
    admitted.forEach(Runnable::run);
  }

  /** The part for large runs is free again once its line is back within its window. */
  private void settleLarge(CreditLine line) {
    if (large == line) {
      line.excess = Math.min(line.excess, Math.max(0, line.exposure() - line.window));
      if (line.excess == 0) {
        large = null;
      }
    }
  }

  private void resize(CreditLine line) {
    long free = free();
    long fair = Math.max(settings.floorBytes(), settings.sharedBytes() / 2 / Math.max(1, lines));
    if (!waiting.isEmpty() || free < settings.sharedBytes() / 8) {
      if (line.window > fair) {
        line.window = Math.max(fair, line.window / 2);
      }
    } else if (line.sinceGrowth >= line.window && line.window < settings.maxBytes()) {
      long growth = Math.min(line.window, settings.maxBytes() - line.window);
      if (free - growth >= settings.sharedBytes() / 4) {
        line.window += growth;
        line.sinceGrowth = 0;
      }
    }
  }

  private void admitWaiting(List<Runnable> admitted) {
    CreditLine next = waiting.peek();
    while (next != null && grantLarge(next, next.waitsFor)) {
      waiting.remove();
      admitted.add(next.takeAdmitted());
      next = waiting.peek();
    }
  }

  void close(CreditLine line) {
    List<Runnable> admitted = new ArrayList<>();
    synchronized (this) {
      if (line.closed) {
        return;
      }
      long before = line.exposure();
      line.closed = true;
      line.granted = 0;
      line.arriving = 0;
      line.window = 0;
      lines--;
      waiting.remove(line);
      exposure += line.exposure() - before;
      settleLarge(line);
      admitWaiting(admitted);
    }
    admitted.forEach(Runnable::run);
  }

  synchronized long granted(CreditLine line) {
    return line.granted;
  }

  synchronized long window(CreditLine line) {
    return line.window;
  }

  synchronized long outstanding(CreditLine line) {
    return line.received - line.returned;
  }
}
