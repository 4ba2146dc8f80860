package io.lightmq.core.transaction;

import io.lightmq.core.destination.Destination;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import org.jspecify.annotations.Nullable;

/**
 * A hidden queue in which messages of one transaction for one destination lie until it is decided;
 * those that are delayed lie by the hours in which they fall due.
 *
 * @param hour of their due time, {@link #AT_ONCE} for those that are not delayed
 */
public record StagedQueue(Destination queue, long transaction, long destinationId, long hour) {
  /** Not delayed. */
  public static final long AT_ONCE = -1;

  /** Its name. */
  public static DestinationName name(long transaction, long destinationId, long hour) {
    String name = Destination.STAGED + transaction + "." + destinationId;
    return new DestinationName(DestinationKind.QUEUE, hour < 0 ? name : name + "." + hour);
  }

  /** What a destination is, or null if it is of another kind. */
  public static @Nullable StagedQueue of(Destination queue) {
    if (!queue.isStaged()) {
      return null;
    }
    String name = queue.name().name();
    int first = Destination.STAGED.length();
    int second = name.indexOf('.', first) + 1;
    int third = name.indexOf('.', second) + 1;
    return new StagedQueue(
        queue,
        Long.parseLong(name.substring(first, second - 1)),
        Long.parseLong(name.substring(second, third == 0 ? name.length() : third - 1)),
        third == 0 ? AT_ONCE : Long.parseLong(name.substring(third)));
  }

  /** Whether its messages are delayed. */
  public boolean isDelayed() {
    return hour >= 0;
  }
}
