package io.lightmq.core.state;

import io.lightmq.spi.Mark;
import java.util.ArrayList;
import java.util.List;

/** What runs when a batch has reached its marks; handed over with the batch. */
final class BatchEffects {
  private final List<Runnable> onWritten = new ArrayList<>();
  private final List<Runnable> onDurable = new ArrayList<>();
  private boolean shardWaits;

  /** Adds an effect; on the shard, while the batch grows. */
  void add(Mark mark, Runnable effect) {
    (mark == Mark.WRITTEN ? onWritten : onDurable).add(effect);
  }

  /** How many wait for a mark. */
  int count(Mark mark) {
    return (mark == Mark.WRITTEN ? onWritten : onDurable).size();
  }

  /** The shard itself goes on with something when the batch is written. */
  void shardWaits() {
    shardWaits = true;
  }

  /** Whether the shard has to look at the marks when the batch is written. */
  boolean isShardWaiting() {
    return shardWaits;
  }

  /** Runs those that waited for a mark. */
  void run(Mark mark) {
    (mark == Mark.WRITTEN ? onWritten : onDurable).forEach(Runnable::run);
  }
}
