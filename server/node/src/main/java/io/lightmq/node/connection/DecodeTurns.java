package io.lightmq.node.connection;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;

/**
 * How much of long frames an event loop decodes before it looks at its other connections again:
 * what takes {@value #TURN_BYTES} bytes of heap, or one frame. What is beyond that waits, one frame
 * of each connection, in the order of coming; one that has ended meanwhile is told as well. So each
 * step of a handshake waits for one slice of what strangers send, however many they are. Event loop
 * only.
 */
final class DecodeTurns {
  /** About a millisecond's work. */
  static final int TURN_BYTES = 512 << 10;

  private final Executor nextTurn;
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private int left = TURN_BYTES;
  private boolean scheduled;

  private record Waiting(int bytes, Runnable admitted) {}

  /**
   * Nothing decoded.
   *
   * @param nextTurn runs a task of the loop after it has looked at its sockets once more
   */
  DecodeTurns(Executor nextTurn) {
    this.nextTurn = nextTurn;
  }

  /**
   * Takes a part of the turn for a frame, or of a later one.
   *
   * @param bytes what the frame takes of the heap at most
   * @param admitted runs once it is its turn, unless it is now
   * @return whether it is now
   */
  boolean take(int bytes, Runnable admitted) {
    boolean now = left > 0 && waiting.isEmpty();
    if (now) {
      left -= bytes;
    } else {
      waiting.add(new Waiting(bytes, admitted));
    }
    if (!now || left < TURN_BYTES / 2) {
      wake();
    }
    return now;
  }

  private void wake() {
    if (!scheduled) {
      scheduled = true;
      nextTurn.execute(this::turn);
    }
  }

  private void turn() {
    scheduled = false;
    left = TURN_BYTES;
    Waiting next = waiting.poll();
    while (next != null) {
      left -= next.bytes();
      next.admitted().run();
      next = left > 0 ? waiting.poll() : null;
    }
    if (!waiting.isEmpty()) {
      wake();
    }
  }
}
