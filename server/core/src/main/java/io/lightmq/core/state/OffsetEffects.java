package io.lightmq.core.state;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayDeque;

/**
 * What the shard itself does once a mark of the journal is at an offset, in order. Bounded by what
 * the window holds: each batch adds a few.
 */
@OwnedBy("shard")
final class OffsetEffects {
  private record Waiting(long offset, Runnable effect) {}

  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** Runs the effect at the next {@link #reached} of the offset. Offsets never fall. */
  void add(long offset, Runnable effect) {
    waiting.add(new Waiting(offset, effect));
  }

  /** Runs what waited for offsets up to this one. */
  void reached(long mark) {
    while (!waiting.isEmpty() && waiting.peek().offset() <= mark) {
      waiting.remove().effect().run();
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  void clear() {
    waiting.clear();
  }
}
