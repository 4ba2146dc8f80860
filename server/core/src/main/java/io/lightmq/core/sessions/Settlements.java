package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.destination.Duplicates;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.Holding;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Split;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.DistinctRanges;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Finds what a client may acknowledge, and gives back what it returns. */
@OwnedBy("shard")
public final class Settlements {
  /**
   * Acknowledgements as they may be taken.
   *
   * @param recorded those that need a record: durable lanes of durable subscriptions
   * @param unrecorded the others
   * @param atMillis the wall clock's time
   */
  public record Accepted(
      Subscription subscription,
      @Nullable Holding holding,
      List<SequenceRange> recorded,
      List<SequenceRange> unrecorded,
      long refused,
      long atMillis) {

    /** The records, each of a bounded number of ranges; a key was seen if it is acknowledged. */
    public List<ShardRecord.Acked> records(Reason reason) {
      List<ShardRecord.Acked> records = new ArrayList<>(1);
      for (int from = 0; from < recorded.size(); from += ShardRecord.MAX_RANGES) {
        int to = Math.min(recorded.size(), from + ShardRecord.MAX_RANGES);
        records.add(
            new ShardRecord.Acked(
                subscription.destination().id(),
                subscription.id(),
                reason,
                recorded.subList(from, to),
                reason == Reason.ACKNOWLEDGED
                    ? seen(recorded.subList(from, to))
                    : ShardRecord.SeenKeys.NONE));
      }
      return records;
    }

    /** The same for a transaction that acknowledges them if it is committed. */
    public List<ShardRecord.Held> held(long transaction) {
      List<ShardRecord.Held> records = new ArrayList<>(1);
      for (ShardRecord.Acked acked : records(Reason.ACKNOWLEDGED)) {
        records.add(
            new ShardRecord.Held(
                transaction,
                acked.destinationId(),
                acked.subscriptionId(),
                acked.ranges(),
                acked.seen()));
      }
      return records;
    }

    /** What of them no record tells; nobody's any more but the transaction's that has them. */
    public Accepted ofMemory() {
      return new Accepted(subscription, null, List.of(), unrecorded, 0, atMillis);
    }

    private ShardRecord.SeenKeys seen(List<SequenceRange> ranges) {
      Duplicates duplicates = subscription.duplicates();
      List<UUID> keys = duplicates == null ? List.of() : duplicates.keys(ranges);
      return keys.isEmpty() ? ShardRecord.SeenKeys.NONE : new ShardRecord.SeenKeys(atMillis, keys);
    }

    /** Acknowledges what no record tells. */
    public void acknowledgeUnrecorded() {
      subscription.rememberUnrecorded(seen(unrecorded).keys(), atMillis);
      subscription.acknowledge(unrecorded);
    }

    /** Counts of accepted messages. */
    public long count() {
      return Settlements.count(recorded) + Settlements.count(unrecorded);
    }
  }

  private final ShardState state;
  private final TurnTime time;
  private final Ready ready;

  public Settlements(ShardState state, TurnTime time, Ready ready) {
    this.state = state;
    this.time = time;
    this.ready = ready;
  }

  /**
   * Looks what of an acknowledgement may be taken; changes nothing. Null if the consumer, its
   * subscription or the destination is gone.
   */
  public @Nullable Accepted look(PeerSession session, Command.Acked acked) {
    state.guard().check();
    return look(session, acked, List.of());
  }

  /**
   * The same within a commit. What it names twice is accepted once.
   *
   * @param before what the commit acknowledges already
   */
  public @Nullable Accepted look(PeerSession session, Command.Acked acked, List<Accepted> before) {
    state.guard().check();
    if (state.destinations().find(acked.destinationId()) == null) {
      return null;
    }
    Consumer consumer = session.recipient().consumer(acked.consumerId());
    Subscription subscription =
        consumer == null
            ? session.closedConsumer(acked.consumerId(), state.destinations())
            : consumer.subscription();
    if (subscription == null
        || subscription.isClosed()
        || subscription.destination().id() != acked.destinationId()) {
      return null;
    }
    Holding holding = consumer == null ? null : consumer.holding();
    // Once each, or a range with gaps could be cut anew for each time that it is named.
    List<SequenceRange> named = DistinctRanges.of(acked.ranges());
    Split split = (holding == null ? subscription.newHolding() : holding).split(named);
    long refused = split.refused();
    List<SequenceRange> ranges = split.accepted();
    Duplicates duplicates = subscription.duplicates();
    if (duplicates != null) {
      // Without its key an acknowledgement would let duplicates through.
      ranges = duplicates.known(ranges);
      refused += count(split.accepted()) - count(ranges);
    }
    for (Accepted other : before) {
      if (other.subscription() == subscription) {
        ranges = DistinctRanges.without(ranges, other.recorded());
        ranges = DistinctRanges.without(ranges, other.unrecorded());
      }
    }
    return accepted(subscription, holding, ranges, refused, time.millis());
  }

  /**
   * The bytes that the records of acknowledgements take at most, by what is in flight now: a range
   * with gaps in it becomes several.
   */
  public long recordBytes(PeerSession session, List<Command.Acked> acked) {
    state.guard().check();
    long bytes = 0;
    for (Command.Acked each : acked) {
      Accepted accepted = look(session, each);
      if (accepted != null) {
        bytes += RecordBytes.of(accepted.subscription(), accepted.recorded());
      }
    }
    return bytes;
  }

  private static long count(List<SequenceRange> ranges) {
    long count = 0;
    for (SequenceRange range : ranges) {
      count += range.count();
    }
    return count;
  }

  /** Tells what of these acknowledgements needs a record. */
  public static Accepted accepted(
      Subscription subscription,
      @Nullable Holding holding,
      List<SequenceRange> ranges,
      long refused,
      long atMillis) {
    if (allRecorded(subscription, ranges)) {
      return new Accepted(subscription, holding, ranges, List.of(), refused, atMillis);
    }
    List<SequenceRange> durable = new ArrayList<>();
    List<SequenceRange> unrecorded = new ArrayList<>();
    for (SequenceRange range : ranges) {
      (isRecorded(subscription, range) ? durable : unrecorded).add(range);
    }
    return new Accepted(subscription, holding, durable, unrecorded, refused, atMillis);
  }

  private static boolean allRecorded(Subscription subscription, List<SequenceRange> ranges) {
    for (SequenceRange range : ranges) {
      if (!isRecorded(subscription, range)) {
        return false;
      }
    }
    return true;
  }

  /** Whether an acknowledgement in this lane is a durable fact. */
  public static boolean isRecorded(Subscription subscription, SequenceRange range) {
    return isRecorded(subscription, range.lane());
  }

  /** Whether an acknowledgement in this lane is a durable fact. */
  public static boolean isRecorded(Subscription subscription, int lane) {
    return subscription.kind().isDurable() && LaneCode.isDurable(lane);
  }

  /** Ends what was accepted: the records are applied before. */
  public void settle(Accepted accepted) {
    state.guard().check();
    accepted.acknowledgeUnrecorded();
    if (accepted.holding() != null) {
      accepted.holding().settle(accepted.recorded());
      accepted.holding().settle(accepted.unrecorded());
    }
    settled(accepted.subscription());
  }

  /** Something is acknowledged in a subscription. */
  public void settled(Subscription subscription) {
    state.guard().check();
    if (subscription.duplicates() != null || subscription.views().isWatching()) {
      // What waited for messages of the same key is free now.
      ready.add(subscription);
    }
  }

  /**
   * A transaction has what was accepted: it is its consumer's no more. What a record tells of it is
   * applied before.
   */
  public void hand(Accepted accepted) {
    state.guard().check();
    HeldMessages.holdUnrecorded(accepted.subscription(), accepted.unrecorded());
    if (accepted.holding() != null) {
      accepted.holding().settle(accepted.recorded());
      accepted.holding().settle(accepted.unrecorded());
    }
  }

  /** The consumer that gives messages back, or null if it or what it consumes is gone. */
  public static @Nullable Consumer consumer(PeerSession session, Command.Acked returned) {
    Consumer consumer = session.recipient().consumer(returned.consumerId());
    if (consumer == null
        || consumer.subscription().isClosed()
        || consumer.subscription().destination().id() != returned.destinationId()) {
      return null;
    }
    return consumer;
  }
}
