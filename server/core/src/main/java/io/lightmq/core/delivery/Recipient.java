package io.lightmq.core.delivery;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A connection as delivery knows it: its consumers and its outlet. */
@OwnedBy("shard")
public final class Recipient {
  private final Outlet outlet;
  final Map<Integer, Consumer> consumers = new HashMap<>();

  /** Consumers whose pull waits until the outlet is writable again. */
  final PullList blocked = new PullList();

  int parked;

  private long orders;

  /** Numbers what is given to the connection's consumers. */
  long nextOrder() {
    return orders++;
  }

  Recipient(Outlet outlet) {
    this.outlet = outlet;
  }

  /** Where its messages go. */
  public Outlet outlet() {
    return outlet;
  }

  /** The consumer of an id, or null. */
  public @Nullable Consumer consumer(int consumerId) {
    return consumers.get(consumerId);
  }

  /** Its consumers. */
  public Collection<Consumer> consumers() {
    return Collections.unmodifiableCollection(consumers.values());
  }

  /** Pulls that are parked now. */
  public int parked() {
    return parked;
  }
}
