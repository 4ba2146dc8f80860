package io.lightmq.node.connection;

import io.netty.channel.Channel;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;

/**
 * Whether a connection is read; it is not while any reason to pause holds. Some reasons stop even
 * the frames that were read before and not carried out: such frames come first when it goes on.
 * Event loop only.
 */
final class ReadPause {

  /** Why nothing is read. */
  enum Reason {
    /** A large run waits for room in the broker's publish credit. */
    CREDIT,
    /** Too many requests are not answered or not carried out, or commits hold too many bytes. */
    REQUESTS,
    /** The client does not read its answers. */
    ANSWERS,
    /** It has come from where many logins are refused. */
    NEWCOMER,
    /** It is put out, and told so late. */
    REFUSED,
    /** What was read before is about to be carried out. */
    REST
  }

  private final Channel channel;
  private final Runnable rest;
  private final Set<Reason> reasons = EnumSet.noneOf(Reason.class);
  private boolean stopped;

  /**
   * No reason yet.
   *
   * @param rest carries out what was read, until it is stopped again
   */
  ReadPause(Channel channel, Runnable rest) {
    this.channel = channel;
    this.rest = rest;
  }

  void set(Reason reason, boolean holds) {
    boolean changed = holds ? reasons.add(reason) : reasons.remove(reason);
    if (!changed) {
      return;
    }
    boolean before = stopped;
    look();
    if (before && !stopped) {
      goOnSoon();
    }
    channel.config().setAutoRead(reasons.isEmpty());
  }

  private void look() {
    stopped =
        reasons.contains(Reason.REQUESTS)
            || reasons.contains(Reason.ANSWERS)
            || reasons.contains(Reason.REST);
  }

  /** Whether no frame is to be carried out. */
  boolean stopsFrames() {
    return stopped;
  }

  private void goOnSoon() {
    try {
      channel.eventLoop().execute(this::goOn); // frames may be under way further up this stack
      reasons.add(Reason.REST);
      look();
    } catch (RejectedExecutionException loopHasEnded) {
      reasons.clear();
    }
  }

  private void goOn() {
    reasons.remove(Reason.REST);
    look();
    if (!stopped) {
      rest.run();
    }
    channel.config().setAutoRead(reasons.isEmpty());
  }
}
