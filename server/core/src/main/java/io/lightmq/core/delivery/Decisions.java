package io.lightmq.core.delivery;

import io.lightmq.core.destination.Subscription;
import java.io.IOException;

/**
 * What delivery needs decided and recorded by the shard. Called on the shard loop from within a
 * {@link Dispatcher} method, which the implementation must not call back before it has returned.
 */
public interface Decisions extends Subscription.Touches {
  /** Why messages are given up without having been delivered. */
  enum Reason {
    /** Their time to live is over. */
    EXPIRED,
    /** The subscription does not want what its own connection published. */
    LOCAL
  }

  /**
   * Wants {@code Touched(subscription, lane, block)} recorded and made durable. Then {@link
   * Subscription#touch} when applied, {@link Subscription#touchDurable} and {@link
   * Dispatcher#dispatch} once it is durable. Asked for once per block.
   */
  @Override
  void touch(Subscription subscription, int lane, long blockKey);

  /**
   * Wants consecutive sequences acknowledged for a reason: a record for durable lanes of durable
   * subscriptions, {@link Subscription#acknowledge} in any case. Until then they are in flight to
   * nobody.
   */
  void giveUp(Subscription subscription, int lane, long from, int count, Reason reason);

  /** Stored bytes that cannot be read, also when looked up again. */
  void damaged(Subscription subscription, IOException cause);
}
