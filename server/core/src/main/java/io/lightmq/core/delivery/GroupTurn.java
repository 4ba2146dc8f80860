package io.lightmq.core.delivery;

import io.lightmq.core.destination.GroupBuckets;
import io.lightmq.core.destination.GroupOwner;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import java.util.function.Predicate;

/**
 * Serves the consumers of a view with keys: first those that own something that is free, then, in
 * turn, all that wait, with what has no key. One turn serves each pull at most once.
 */
@OwnedBy("shard")
final class GroupTurn {
  /** Gives a consumer that waits what there is for it. */
  interface Serving {
    /**
     * Gives it at most so many messages, or lets it wait for its outlet.
     *
     * @return false if there is nothing for it
     */
    boolean serve(Consumer consumer, int most);
  }

  private final Serving serving;
  private final Predicate<View> cut;

  /**
   * @param cut whether a view has passed by enough for one turn, and goes on in another
   */
  GroupTurn(Serving serving, Predicate<View> cut) {
    this.serving = serving;
    this.cut = cut;
  }

  /**
   * Gives out what a view has, as long as pulls wait for it; then {@link
   * GroupBuckets#nextEvictionNanos} says when another turn is due at the latest.
   */
  void take(View view, GroupBuckets keys, Line line, long nowNanos) {
    if (!line.joined) {
      line.joined = true;
      for (Consumer consumer : line.consumers) {
        if (!consumer.isIdle()) {
          keys.join(consumer);
        }
      }
    }
    view.refresh();
    keys.settle();
    boolean more = serve(keys, line.waiting);
    while (more && keys.evictIdle(nowNanos, line.waiting.size() > 0)) {
      more = serve(keys, line.waiting);
    }
    boolean waits = line.waiting.size() > 0;
    if (more && waits && view.isFull() && view.subscription().inFlight() == 0) {
      view.lookOn();
    }
    keys.watch(waits, view.isFull());
  }

  /** Whether all were served, and not enough was passed by for one turn. */
  private boolean serve(GroupBuckets keys, PullList list) {
    boolean more = true;
    for (GroupOwner owner : keys.readyOwners()) {
      Consumer consumer = (Consumer) owner;
      if (more && consumer.list == list) {
        more = serve(consumer, keys, list.size());
      }
    }
    Consumer next;
    for (Consumer at = list.first(); more && at != null && keys.isLooseReady(); at = next) {
      next = at.listAfter;
      more = serve(at, keys, list.size());
    }
    for (Consumer at = list.first(); more && at != null; at = next) {
      next = at.listAfter;
      if (at.waitsForTouch) {
        more = serve(at, keys, list.size()); // what it waited for may have gone
      }
    }
    return more;
  }

  private boolean serve(Consumer consumer, GroupBuckets keys, int waiting) {
    long share = Math.max(1, keys.share(consumer, waiting));
    serving.serve(consumer, (int) Math.min(consumer.messages, share));
    consumer.waitsForTouch = consumer.open && !consumer.fetching && consumer.view().waitsForTouch();
    return !cut.test(consumer.view());
  }
}
