package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * The heap that destinations, their lanes and their subscriptions take, reckoned by what each costs
 * as measured, a little more rather than less. Counted where they come and go, so that a start that
 * replays them has the same sum. What is set aside for damage is counted by its ranges.
 */
@OwnedBy("shard")
public final class NamedHeap {
  /** A destination without subscriptions; its name comes on top. */
  public static final int DESTINATION = 832;

  /** A subscription; name and client id come on top. */
  public static final int SUBSCRIPTION = 1_408;

  /** A lane of a destination: a priority that was used, persistent or not. */
  public static final int LANE = 1_408;

  /** What each subscription knows of a lane. */
  public static final int CURSOR = 448;

  private static final int BYTES_PER_CHAR = 2;

  private long bytes;
  private int durableAside;
  private int unloggedAside;

  /** What there is takes so much. */
  public long bytes() {
    return bytes;
  }

  /** What a text takes. */
  public static long text(@Nullable String text) {
    return text == null ? 0 : (long) BYTES_PER_CHAR * text.length();
  }

  /** What a destination of a name takes at first, a queue with its subscription. */
  public static long of(String name, boolean queue) {
    return DESTINATION + text(name) + (queue ? SUBSCRIPTION : 0);
  }

  /** What a subscription takes at first. */
  public static long ofSubscription(@Nullable String name, @Nullable String clientId) {
    return SUBSCRIPTION + text(name) + text(clientId);
  }

  void add(long more) {
    bytes += more;
  }

  /** How many ranges of messages are set aside in all lanes of a kind, durable or unlogged. */
  public int asideRanges(boolean durable) {
    return durable ? durableAside : unloggedAside;
  }

  void addAside(boolean durable, int more) {
    if (durable) {
      durableAside += more;
    } else {
      unloggedAside += more;
    }
  }
}
