package io.lightmq.node.connection;

import io.lightmq.core.shard.Command;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One connection's way to the shard. When the shard's mailbox is full the connection is not read any
 * more and its commands are tried again, in order; what is held is bounded by one read and the
 * largest frame. Event loop only.
 */
final class ShardLine implements Consumer<Command> {
  private static final int RETRY_MILLIS = 5;

  private final EventExecutor loop;
  private final Consumer<Command> shard;
  private final ReadPause pause;
  private final Deque<Command> held = new ArrayDeque<>();

  ShardLine(EventExecutor loop, Consumer<Command> shard, ReadPause pause) {
    this.loop = loop;
    this.shard = shard;
    this.pause = pause;
  }

  @Override
  public void accept(Command command) {
    if (held.isEmpty() && submitted(command)) {
      return;
    }
    if (held.isEmpty()) {
      pause.set(ReadPause.Reason.SHARD, true);
      loop.schedule(this::retry, RETRY_MILLIS, TimeUnit.MILLISECONDS);
    }
    held.add(command);
  }

  /** Submits the connection's last command, in front of which nothing waits any more. */
  void last(Command command) {
    for (Command unsent = held.poll(); unsent != null; unsent = held.poll()) {
      CommandBytes.release(unsent);
    }
    accept(command);
  }

  private void retry() {
    while (!held.isEmpty()) {
      if (!submitted(held.element())) {
        loop.schedule(this::retry, RETRY_MILLIS, TimeUnit.MILLISECONDS);
        return;
      }
      held.remove();
    }
    pause.set(ReadPause.Reason.SHARD, false);
  }

  private boolean submitted(Command command) {
    try {
      shard.accept(command);
      return true;
    } catch (RejectedExecutionException full) {
      return false;
    }
  }
}
