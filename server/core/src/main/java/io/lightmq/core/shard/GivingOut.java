package io.lightmq.core.shard;

import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.TurnPart;

/**
 * Gives out what a turn made visible or free, and appends what that records, until all is given.
 */
@OwnedBy("shard")
final class GivingOut implements TurnPart {
  private final Dispatcher dispatcher;
  private final DeliveryDecisions decisions;
  private final Ready ready;
  private final Appending appending;

  GivingOut(Dispatcher dispatcher, DeliveryDecisions decisions, Ready ready, Appending appending) {
    this.dispatcher = dispatcher;
    this.decisions = decisions;
    this.ready = ready;
    this.appending = appending;
  }

  @Override
  public void turn() {
    dispatcher.goOn();
    while (!ready.isEmpty() || decisions.isServing()) {
      decisions.serve();
      for (Subscription subscription : ready.take()) {
        dispatcher.dispatch(subscription);
      }
      appending.flush();
    }
  }

  @Override
  public long nextNanos() {
    return dispatcher.nextExpiryNanos();
  }

  @Override
  public boolean waits() {
    return dispatcher.lease().isAwaited();
  }
}
