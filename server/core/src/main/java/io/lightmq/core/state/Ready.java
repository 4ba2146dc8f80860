package io.lightmq.core.state;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The subscriptions that may have something to give at the end of the turn, each once. */
@OwnedBy("shard")
public final class Ready {
  private final Guard guard;
  private final Set<Subscription> subscriptions = new LinkedHashSet<>();

  public Ready(Guard guard) {
    this.guard = guard;
  }

  /** Who may touch this. */
  public Guard guard() {
    return guard;
  }

  /** Something became visible in a destination. */
  public void add(Destination destination) {
    guard.check();
    for (Subscription subscription : destination.subscriptions()) {
      add(subscription);
    }
  }

  /** Something became free or may be given. */
  public void add(Subscription subscription) {
    guard.check();
    if (subscription.consumers() > 0) {
      subscriptions.add(subscription);
    }
  }

  /** Takes all that still exist. */
  public List<Subscription> take() {
    guard.check();
    List<Subscription> taken = new ArrayList<>(subscriptions.size());
    for (Subscription subscription : subscriptions) {
      if (!subscription.isClosed()) {
        taken.add(subscription);
      }
    }
    subscriptions.clear();
    return taken;
  }

  public boolean isEmpty() {
    return subscriptions.isEmpty();
  }
}
