package io.lightmq.core.sessions;

import io.lightmq.core.destination.Subscription;
import org.jspecify.annotations.Nullable;

/** Who is told of messages that have used up their attempts. */
public interface GivingUp {
  /**
   * Messages that are in flight to nobody have used up their attempts.
   *
   * @param last who had it last, which is told of a single message only; null if nobody knows
   */
  void exhausted(Subscription from, int lane, long first, int count, @Nullable LastConsumer last);
}
