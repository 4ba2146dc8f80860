package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;

/** A consumer as its view's group buckets know it. */
@OwnedBy("shard")
public abstract class GroupOwner {
  private final Holding holding;

  /** The group buckets that it owns. */
  long owned;

  /** Those of which something was taken for it that is not in its holding yet. */
  long taken;

  /** Whether it takes part when group buckets are spread. */
  boolean member;

  /** Since when it is known to be idle while another one waits; meaningful if {@link #idle}. */
  long idleSinceNanos;

  boolean idle;

  /** An owner of nothing, with what is in flight to it: nothing yet. */
  protected GroupOwner(Subscription subscription) {
    this.holding = subscription.newHolding();
  }

  /** What is in flight to it. */
  public final Holding holding() {
    return holding;
  }

  /** What was taken for it is in its holding, acknowledged or free again. */
  public final void arrived() {
    holding.guard().check();
    taken = 0;
  }

  /** Whether it waits for messages. */
  protected abstract boolean isWaiting();

  /** Whether it neither waits nor has anything, in its holding or on the way. */
  protected abstract boolean isIdle();
}
