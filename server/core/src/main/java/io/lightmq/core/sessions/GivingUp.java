package io.lightmq.core.sessions;

import io.lightmq.core.destination.Subscription;

/** Who is told of messages that have used up their attempts. */
public interface GivingUp {
  /** A message that is in flight to nobody has used up its attempts. */
  void exhausted(Subscription from, int lane, long sequence, LastConsumer last);
}
