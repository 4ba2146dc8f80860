package io.lightmq.core.shard;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;

/**
 * Runs on the shard's loop what the journal tells, in order; keeps it back while there is no
 * replica that could hear it, together with wishes for a checkpoint, of which one is enough.
 * Bounded by the journal, which is ahead of its shard by {@link io.lightmq.spi.Journal#AHEAD_BYTES}
 * at most.
 */
@OwnedBy("shard")
final class KeptBack implements Executor {
  private final Executor loop;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean open;

  KeptBack(Executor loop) {
    this.loop = loop;
  }

  /** Any thread. */
  @Override
  public void execute(Runnable task) {
    loop.execute(() -> hear(task));
  }

  private void hear(Runnable task) {
    if (open) {
      task.run();
    } else {
      waiting.add(task);
    }
  }

  /** Keeps back what comes from now on. */
  void close() {
    open = false;
  }

  /** Runs what was kept back, until one of it closes this again, and then what comes. */
  void open() {
    open = true;
    while (open && !waiting.isEmpty()) {
      waiting.remove().run();
    }
  }
}
