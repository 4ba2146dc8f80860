package io.lightmq.core.shard;

import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import java.util.ArrayDeque;

/**
 * Long work in pieces of a millisecond at most, of which each turn has one, in the order of their
 * coming. Bounded by who adds: one piece for each look of an administrator, for the janitor, and
 * for each subscription that gives up thousands of messages.
 */
@OwnedBy("shard")
final class Slices implements TurnPart {
  private final Loop loop;
  private final TurnTime time;
  private final Dispatcher dispatcher;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean begun;
  private boolean ended;

  Slices(Loop loop, TurnTime time, Dispatcher dispatcher) {
    this.loop = loop;
    this.time = time;
    this.dispatcher = dispatcher;
  }

  /** Adds a piece; called within a turn. */
  void add(Runnable piece) {
    if (!ended) {
      waiting.add(piece);
    }
  }

  /** Sees to it that another turn has the next piece. */
  @Override
  public void turn() {
    if (begun || ended || waiting.isEmpty()) {
      return;
    }
    begun = true;
    loop.execute(
        () -> {
          begun = false;
          if (!ended) {
            time.look();
            dispatcher.time(time.nanos(), time.millis());
            waiting.remove().run();
          }
        });
  }

  /** Nothing goes on. */
  @Override
  public void end() {
    ended = true;
    waiting.clear();
  }
}
