package io.lightmq.core.delivery;

import io.lightmq.core.runtime.OwnedBy;
import java.util.LinkedHashSet;
import java.util.Set;

/** The consumers of a view, and those with a pull that waits. */
@OwnedBy("shard")
final class Line {
  final Set<Consumer> consumers = new LinkedHashSet<>();
  final PullList waiting = new PullList();

  /** Whether those that wait take part in the spreading of keys. */
  boolean joined;
}
