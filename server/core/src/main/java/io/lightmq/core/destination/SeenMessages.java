package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.util.List;

/**
 * What the consumers of a subscription have seen of its durable lanes, or may have: how often
 * messages were delivered, for who begins behind an orderly end; and what was touched, for who
 * begins behind a crash.
 */
@OwnedBy("shard")
public final class SeenMessages {
  private final Subscription subscription;

  SeenMessages(Subscription subscription) {
    this.subscription = subscription;
  }

  /** Whether anything of its durable lanes was delivered and is not acknowledged. */
  public boolean hasDeliveries() {
    boolean any = false;
    for (Cursor cursor : subscription.cursors()) {
      any |= LaneCode.isDurable(cursor.lane.code()) && cursor.hasDeliveries();
    }
    return any;
  }

  /**
   * Applies what an orderly end says: nothing of the durable lanes was delivered but what {@link
   * #delivered} tells next.
   */
  public void forgetDeliveries() {
    subscription.guard().check();
    for (Cursor cursor : subscription.cursors()) {
      if (LaneCode.isDurable(cursor.lane.code())) {
        cursor.forgetDeliveries();
      }
    }
  }

  /** Applies that these were delivered so often, unless they are acknowledged. */
  public void delivered(int deliveries, List<SequenceRange> ranges) {
    subscription.guard().check();
    ranges.forEach(
        each ->
            subscription
                .cursor(each.lane())
                .delivered(each.from(), Subscription.end(each), deliveries));
  }

  /** Takes messages that were delivered equally often. */
  @FunctionalInterface
  public interface Delivered {
    /** {@code count} sequences of a lane. */
    void delivered(int lane, long from, int count, int deliveries);
  }

  /** Shows what of its durable lanes was delivered and is not acknowledged. */
  public void forEachDelivered(Delivered taker) {
    subscription.guard().check();
    for (Cursor cursor : subscription.cursors()) {
      if (LaneCode.isDurable(cursor.lane.code())) {
        cursor.forEachDelivered(taker);
      }
    }
  }

  /** Applies a Touched record; give nothing of it before {@link #touchDurable}. */
  public void touch(int lane, long from, long count) {
    subscription.guard().check();
    subscription.cursor(lane).touched.touch(from, count);
  }

  /** The Touched record is durable. */
  public void touchDurable(int lane, long from, long count) {
    subscription.guard().check();
    subscription.cursor(lane).touched.touchDurable(from, count);
  }

  /** After an unclean stop: what is touched and not acknowledged may have been seen. */
  public void flagTouched() {
    subscription.guard().check();
    for (Cursor cursor : subscription.cursors()) {
      cursor.touched.flag();
    }
  }

  /** Asks for the Touched record of a run that was appended, if consumers wait for it. */
  public void touchForRun(
      DurableLane lane, long firstSequence, int count, Subscription.Touches touches) {
    subscription.guard().check();
    if (subscription.consumers() > 0 && subscription.kind().isDurable()) {
      subscription.cursor(lane).touched.appended(firstSequence, count, subscription, touches);
    }
  }
}
