package io.lightmq.core.delivery;

import io.lightmq.core.destination.DamagedMessages;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.SeenMessages;
import io.lightmq.core.destination.Subscription;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.List;

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
    LOCAL,
    /** Too many attempts to process them have failed. */
    EXHAUSTED,
    /** Another message with the same key was acknowledged. */
    SUPPRESSED
  }

  /**
   * Wants {@code Touched(subscription, lane, from, count)} recorded and made durable. Then {@link
   * SeenMessages#touch} when applied, {@link SeenMessages#touchDurable} and {@link
   * Dispatcher#dispatch} once it is durable. Asked for once.
   */
  @Override
  void touch(Subscription subscription, int lane, long from, int count);

  /**
   * Wants consecutive sequences acknowledged for a reason: a record for durable lanes of durable
   * subscriptions, {@link Subscription#acknowledge} in any case. Until then they are in flight to
   * nobody.
   */
  void giveUp(Subscription subscription, int lane, long from, int count, Reason reason);

  /**
   * Wants messages acknowledged because their consumer acknowledges by pulling: records for durable
   * lanes of durable subscriptions, {@link Subscription#acknowledge} in any case. Until then they
   * are in flight to nobody. Then {@link Dispatcher#consumed}, once the record has its
   * subscription's mark. A consumer that has gone before that is recorded gets nothing, and they
   * are free again.
   */
  void consume(Consumer consumer, List<SequenceRange> ranges);

  /** Wants {@link Dispatcher#dispatch} called in another turn: enough was passed by in this one. */
  void goOnLater(Subscription subscription);

  /**
   * Wants messages set aside that are free and cannot be read: a record for durable lanes, {@link
   * DamagedMessages#setAside} in any case. Until then they are in flight to nobody. Then {@link
   * Dispatcher#dispatch} for all subscriptions of the destination.
   *
   * @return false if they stay as they are, because too many wait for that
   */
  boolean setAside(Subscription subscription, Lane lane, Damage damage);

  /** Stored bytes that cannot be read now, for a reason that says nothing of them. */
  void unreadable(Subscription subscription, IOException cause);
}
