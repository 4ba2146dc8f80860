package io.lightmq.core.destination;

import io.lightmq.core.selector.Selector;
import org.jspecify.annotations.Nullable;

/**
 * Which of a topic's messages a subscription wants.
 *
 * @param selector what they must match, null for all
 * @param noLocal whether it wants none of its own client's: of its connection for a subscription
 *     that ends with its consumer, else of all connections with its client id
 * @param connectionId the connection that opens it
 */
public record Interest(@Nullable Selector selector, boolean noLocal, long connectionId) {
  /** Everything. */
  public static final Interest ALL = new Interest(null, false, 0);

  /** Whether it does not want everything. */
  boolean isPartial() {
    return selector != null || noLocal;
  }
}
