package io.lightmq.node.connection;

import io.netty.channel.Channel;
import java.util.EnumSet;
import java.util.Set;

/** Whether a connection is read; it is not while any reason to pause holds. Event loop only. */
final class ReadPause {

  /** Why nothing is read. */
  enum Reason {
    /** A large run waits for room in the broker's publish credit. */
    CREDIT,
    /** Too many requests are not answered or not carried out, or commits hold too many bytes. */
    REQUESTS
  }

  private final Channel channel;
  private final Set<Reason> reasons = EnumSet.noneOf(Reason.class);

  ReadPause(Channel channel) {
    this.channel = channel;
  }

  void set(Reason reason, boolean holds) {
    boolean changed = holds ? reasons.add(reason) : reasons.remove(reason);
    if (changed) {
      channel.config().setAutoRead(reasons.isEmpty());
    }
  }
}
