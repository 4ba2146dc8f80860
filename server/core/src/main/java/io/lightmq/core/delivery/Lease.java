package io.lightmq.core.delivery;

import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Whether messages may be handed out and pulls be answered, and who waits for that. A leader that
 * is cut off does not know that another one has taken over and hands out the same; so it asks each
 * time, and what it may not give now stays free, and its pulls open.
 */
@OwnedBy("shard")
public final class Lease {
  private BooleanSupplier granted = () -> true;
  private boolean over;
  private boolean awaited;

  /** Each once; bounded by the subscriptions with consumers. */
  private final Set<Subscription> waiting = new LinkedHashSet<>();

  /** Sets who says whether it is granted now. */
  public void asks(BooleanSupplier whether) {
    granted = whether;
  }

  /** Whether somebody waits for it; {@link Dispatcher#goOn} is then to be called soon. */
  public boolean isAwaited() {
    return awaited;
  }

  /** It never comes back, and nobody waits for it. */
  void end() {
    over = true;
    awaited = false;
    waiting.clear();
  }

  /** Whether it holds now; if not, somebody waits for it. */
  boolean holds() {
    if (over || !granted.getAsBoolean()) {
      awaited = !over;
      return false;
    }
    return true;
  }

  /** The same for a subscription. */
  boolean holdsFor(Subscription subscription) {
    boolean holds = holds();
    if (!holds && !over) {
      waiting.add(subscription);
    }
    return holds;
  }

  /** Those that waited; they wait no longer. */
  List<Subscription> take() {
    List<Subscription> all = List.copyOf(waiting);
    waiting.clear();
    awaited = false;
    return all;
  }
}
