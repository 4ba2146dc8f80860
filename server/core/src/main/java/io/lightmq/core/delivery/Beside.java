package io.lightmq.core.delivery;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.selector.Work;
import java.util.concurrent.RejectedExecutionException;

/**
 * The loop beside the shard that evaluates selectors on texts which are too long for a turn. It
 * takes one slice after the other, in the order of their coming; whoever has more to do gives it
 * the next slice when the one before is done, so that all take turns.
 */
public final class Beside {
  private final Loop shard;
  private final Loop loop;
  private final Work work = new Work();

  /**
   * Work beside a shard.
   *
   * @param shard the loop on which results arrive
   */
  public Beside(Loop shard, Loop loop) {
    this.shard = shard;
    this.loop = loop;
  }

  /** What evaluating selectors costs the shard itself. */
  public Work work() {
    return work;
  }

  /**
   * Runs a slice on the loop, then something on the shard.
   *
   * @param lost runs instead of that, on the loop, if the shard has ended meanwhile
   * @throws RejectedExecutionException if the loop takes nothing more
   */
  public void run(Runnable slice, Runnable then, Runnable lost) {
    loop.execute(
        () -> {
          slice.run();
          try {
            shard.execute(then);
          } catch (RejectedExecutionException e) {
            lost.run();
          }
        });
  }
}
