package io.lightmq.core.sessions;

import io.lightmq.core.door.Command;
import io.lightmq.wire.entry.FaultCode;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A shard's mailbox for commands, in two lanes: publishes, which may be held back by budgets, and
 * all else, which frees room and goes on. Any thread offers, the shard takes.
 *
 * <p>Others may overtake publishes, never the other way round: a client may send a commit and, with
 * the next number, a run. So a publish is given once as many others are carried out as had been
 * offered before it; more that come meanwhile do not keep it waiting.
 *
 * <p>Publishes are bounded in bytes by the credit of their connections; both lanes together hold at
 * most {@link #MAX_COMMANDS} commands, beyond which an offer is refused. The end of a connection is
 * always taken.
 */
public final class CommandQueue {
  /** The most commands that wait. */
  public static final int MAX_COMMANDS = 1 << 18;

  private record Behind(Command.Publish publish, long others) {}

  private final ConcurrentLinkedQueue<Behind> publishes = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Command> others = new ConcurrentLinkedQueue<>();
  private final AtomicLong offeredOthers = new AtomicLong();
  private final AtomicInteger size = new AtomicInteger();
  private final AtomicBoolean awake = new AtomicBoolean();

  /** Of the shard: how many others it has taken since the queue exists. */
  private long takenOthers;

  /** Adds a command; false if the queue is full. */
  public boolean offer(Command command) {
    boolean ending = command instanceof Command.Detach || command instanceof Command.Expel;
    if (size.get() >= MAX_COMMANDS && !ending) {
      return false;
    }
    size.incrementAndGet();
    if (command instanceof Command.Publish publish) {
      publishes.add(new Behind(publish, offeredOthers.get()));
    } else {
      // Counted before it can be seen: whoever reads the count later is behind it.
      offeredOthers.incrementAndGet();
      others.add(command);
    }
    return true;
  }

  /** Whether the caller has to wake the shard: nobody has since its last drain began. */
  public boolean wake() {
    return !awake.get() && awake.compareAndSet(false, true);
  }

  /** The shard begins to drain; what is offered from now on wakes it again. */
  public void draining() {
    awake.set(false);
  }

  /** The next command that is no publish, or null. */
  public @Nullable Command pollOther() {
    Command polled = others.poll();
    if (polled != null) {
      takenOthers++;
      size.decrementAndGet();
    }
    return polled;
  }

  /** How many commands that are no publishes were taken since the queue exists. */
  public long takenOthers() {
    return takenOthers;
  }

  /**
   * The next publish, or null if there is none, or if what was offered before it comes first.
   *
   * @param carriedOut how many others are carried out since the queue exists
   */
  public Command.@Nullable Publish pollPublish(long carriedOut) {
    Behind next = publishes.peek();
    if (next == null || next.others() > carriedOut) {
      return null;
    }
    Behind polled = publishes.poll();
    if (polled == null) {
      return null;
    }
    size.decrementAndGet();
    return polled.publish();
  }

  /** So many others were offered since the queue exists. */
  long offeredOthers() {
    return offeredOthers.get();
  }

  /**
   * Whether a publish may wait that was offered before the caller read {@link #offeredOthers}.
   * Publishes that come later have read no less.
   */
  boolean hasPublishesOfBefore(long offered) {
    Behind next = publishes.peek();
    return next != null && next.others() < offered;
  }

  /** Sends away who has sent what waits: nobody carries it out. */
  public void dismissAll(String text) {
    for (Command each = pollOther(); each != null; each = pollOther()) {
      dismiss(each, text);
    }
    for (Command each = pollPublish(Long.MAX_VALUE);
        each != null;
        each = pollPublish(Long.MAX_VALUE)) {
      dismiss(each, text);
    }
  }

  private static void dismiss(Command command, String text) {
    command.release();
    command.done();
    command.peer().disconnect(FaultCode.CLOSING, text);
  }

  /** How many commands wait. */
  public int size() {
    return size.get();
  }
}
