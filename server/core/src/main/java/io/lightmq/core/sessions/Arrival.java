package io.lightmq.core.sessions;

import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.state.ShardState;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import java.nio.ByteBuffer;

/**
 * Which subscriptions there were when a delayed message came; only these get it when it is due
 * (Jakarta Messaging 3.1, section 7.9). Ids of subscriptions rise and are never used again, so two
 * bounds say it, exactly and through restarts. They stand in the message's entry under its due
 * hour, in the fields for chunks, which such an entry never is.
 *
 * @param durables the lowest id that no durable subscription had, unsigned; 0 if that is not known,
 *     then all had come
 * @param others how many ids things in memory had got in this process
 * @param epoch the shard epoch of the message, which is higher in each later process
 */
public record Arrival(int durables, int others, long epoch) {
  private static final long MOST = 0xFFFF_FFFFL;
  private static final long OTHERS = Subscribing.UNLOGGED_ID_COUNT;

  /** Notes on a stamp which subscriptions there are now. */
  static EntryStamp note(EntryStamp stamp, ShardState state) {
    return stamp.arrival(
        (int) Math.min(state.nextSubscriptionId(), MOST), (int) state.unloggedIds());
  }

  /** What was noted on an entry. */
  public static Arrival of(ByteBuffer entry) {
    return new Arrival(
        Entry.chunk(entry, 0), Entry.chunks(entry, 0), Entry.sequence(entry, 0) >>> 32);
  }

  /**
   * What is known of another moment.
   *
   * @param durablesBelow the lowest id that no durable subscription had
   */
  public static Arrival of(long durablesBelow, int others, long epoch) {
    return new Arrival((int) Math.min(durablesBelow, MOST), others, epoch);
  }

  /** Whether the subscription was there. */
  public boolean had(Subscription subscription) {
    if (durables == 0 || subscription.kind() == SubscriptionKind.QUEUE) {
      return true;
    }
    long id = subscription.id();
    if (subscription.kind().isDurable()) {
      long bound = Integer.toUnsignedLong(durables);
      return id < bound || bound == MOST;
    }
    long began = (id & ~Subscribing.UNLOGGED_ID) >>> Subscribing.UNLOGGED_ID_BITS;
    return began < epoch || (began == epoch && (id & OTHERS) < others);
  }
}
