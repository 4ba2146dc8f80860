package io.lightmq.core.shard;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A shard's mailbox for commands, in two lanes: publishes, which may be held back by budgets, and
 * all else, which frees room and goes on. Any thread offers, the shard takes.
 *
 * <p>Publishes are bounded in bytes by the credit of their connections; both lanes together hold at
 * most {@link #MAX_COMMANDS} commands, beyond which an offer is refused. The end of a connection is
 * always taken.
 */
final class CommandQueue {
  /** The most commands that wait. */
  static final int MAX_COMMANDS = 1 << 18;

  private final ConcurrentLinkedQueue<Command> publishes = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Command> others = new ConcurrentLinkedQueue<>();
  private final AtomicInteger size = new AtomicInteger();
  private final AtomicBoolean awake = new AtomicBoolean();

  /** Adds a command; false if the queue is full. */
  boolean offer(Command command) {
    boolean ending = command instanceof Command.Detach || command instanceof Command.Expel;
    if (size.get() >= MAX_COMMANDS && !ending) {
      return false;
    }
    size.incrementAndGet();
    (command instanceof Command.Publish ? publishes : others).add(command);
    return true;
  }

  /** Whether the caller has to wake the shard: nobody has since its last drain began. */
  boolean wake() {
    return !awake.get() && awake.compareAndSet(false, true);
  }

  /** The shard begins to drain; what is offered from now on wakes it again. */
  void draining() {
    awake.set(false);
  }

  /** The next command that is no publish, or null. */
  @Nullable Command pollOther() {
    return count(others.poll());
  }

  /** The next publish, or null. */
  @Nullable Command pollPublish() {
    return count(publishes.poll());
  }

  /** How many commands wait. */
  int size() {
    return size.get();
  }

  private @Nullable Command count(@Nullable Command polled) {
    if (polled != null) {
      size.decrementAndGet();
    }
    return polled;
  }
}
