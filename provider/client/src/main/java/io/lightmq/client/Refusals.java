package io.lightmq.client;

import jakarta.jms.JMSException;
import org.jspecify.annotations.Nullable;

/**
 * What a broker had no room for in the work that a session is at: if the application gives back
 * what it has received, it has not failed. A refusal ends with the work that it belongs to.
 */
final class Refusals {
  private final PassingLimit limit;
  private volatile @Nullable JMSException last;

  /** Of a session of a connection with this. */
  Refusals(PassingLimit limit) {
    this.limit = limit;
  }

  /** Whether a listener that has thrown this has not failed. */
  boolean excuse(@Nullable Throwable failure) {
    return limit.isPassing(failure);
  }

  /** A send, or a new producer, has failed. */
  void note(JMSException failure) {
    if (NoRoom.is(failure)) {
      last = failure;
    }
  }

  /** The last since the work began, if there is one that excuses it; the work ends with that. */
  @Nullable JMSException take() {
    JMSException taken = last;
    last = null;
    return taken != null && limit.isPassing(taken) ? taken : null;
  }

  /** The work has ended otherwise, or another one begins. */
  void forget() {
    last = null;
  }
}
