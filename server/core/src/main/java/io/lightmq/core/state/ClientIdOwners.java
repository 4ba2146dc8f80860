package io.lightmq.core.state;

import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whose the client ids are under which there are durable subscriptions: of the user who owns these.
 * One entry for each such client id. Fed by applying records, and by nothing else.
 */
@OwnedBy("shard")
public final class ClientIdOwners {
  private static final class Known {
    private int subscriptions;
    private @Nullable String owner;

    /** Those of a store of before; all others have an owner. */
    private final Set<Subscription> ownerless = new LinkedHashSet<>(0);
  }

  private final Map<String, Known> known = new HashMap<>();

  /** A durable subscription is there. */
  void opened(Subscription subscription) {
    String clientId = subscription.clientId();
    if (clientId == null) {
      return;
    }
    Known of = known.computeIfAbsent(clientId, id -> new Known());
    of.subscriptions++;
    if (subscription.owner() != null) {
      of.owner = subscription.owner();
    } else {
      of.ownerless.add(subscription);
    }
  }

  /** One that had no owner has one. */
  void owned(Subscription subscription) {
    Known of = subscription.clientId() == null ? null : known.get(subscription.clientId());
    if (of != null && of.ownerless.remove(subscription)) {
      of.owner = subscription.owner();
    }
  }

  /** A durable subscription is gone. */
  void closed(Subscription subscription) {
    Known of = subscription.clientId() == null ? null : known.get(subscription.clientId());
    if (of != null) {
      of.ownerless.remove(subscription);
      of.subscriptions--;
      if (of.subscriptions == 0) {
        known.remove(subscription.clientId());
      } else if (of.subscriptions == of.ownerless.size()) {
        of.owner = null; // as whoever reads the snapshot sees it
      }
    }
  }

  /** Whether there are durable subscriptions of a client id. */
  boolean knows(String clientId) {
    return known.containsKey(clientId);
  }

  /** The user whose a client id is, null if it is nobody's. */
  public @Nullable String owner(String clientId) {
    Known of = known.get(clientId);
    return of == null ? null : of.owner;
  }

  /** A durable subscription of a client id that has no owner, null if there is none. */
  public @Nullable Subscription ownerless(String clientId) {
    Known of = known.get(clientId);
    return of == null || of.ownerless.isEmpty() ? null : of.ownerless.iterator().next();
  }
}
