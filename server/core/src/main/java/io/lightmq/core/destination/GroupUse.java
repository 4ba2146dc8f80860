package io.lightmq.core.destination;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the group buckets of consumers with the same selector are spread.
 *
 * @param selector null for consumers without one
 * @param owned how many each consumer that takes part owns, in the order of their coming
 * @param moving that give nothing, because they leave their owner and something is in flight
 * @param moves how often one was given to a consumer, since these consumers have come
 */
public record GroupUse(@Nullable String selector, List<Integer> owned, int moving, long moves) {
  public GroupUse {
    owned = List.copyOf(owned);
  }
}
