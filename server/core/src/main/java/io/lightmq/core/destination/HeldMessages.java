package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What a transaction acknowledges in one subscription, if it is committed: until then nobody gets
 * it, and it is needed as before.
 */
@OwnedBy("shard")
public final class HeldMessages {
  private static final int MAX_KEYS = 10_000_000;

  private final Subscription subscription;
  private final LaneSequences messages;
  private final List<UUID> keys = new ArrayList<>(0);
  private long keysMillis;

  /** None yet. */
  public HeldMessages(Subscription subscription) {
    this.subscription = subscription;
    this.messages = subscription.destination().newSequences();
  }

  public Subscription subscription() {
    return subscription;
  }

  /** The first so many of the messages' ranges, or some more; of one shard epoch each. */
  public List<SequenceRange> ranges(int most) {
    subscription.destination().guard().check();
    return messages.ranges(most);
  }

  /** How many there are. */
  public long size() {
    return messages.size();
  }

  /**
   * Holds messages that are not acknowledged, with the keys by which their duplicates are known.
   */
  public void hold(List<SequenceRange> ranges, List<UUID> seen, long atMillis) {
    subscription.destination().guard().check();
    for (SequenceRange range : ranges) {
      long end = range.from() + range.count();
      subscription.cursor(range.lane()).stage(range.from(), end);
    }
    messages.add(ranges);
    if (!seen.isEmpty()) {
      keys.addAll(seen);
      keysMillis = atMillis;
    }
  }

  /** Holds messages that are in no record, until the process ends or they are given back. */
  public static void holdUnrecorded(Subscription subscription, List<SequenceRange> ranges) {
    subscription.destination().guard().check();
    for (SequenceRange range : ranges) {
      subscription.cursor(range.lane()).stage(range.from(), range.from() + range.count());
    }
  }

  /** They are acknowledged. */
  public void acknowledge() {
    subscription.destination().guard().check();
    if (!subscription.isClosed()) {
      subscription.remember(keys, keysMillis);
      messages.forEach(subscription::acknowledge);
    }
    messages.clear();
  }

  /** They are free again, and were delivered. */
  public void giveBack() {
    subscription.destination().guard().check();
    if (!subscription.isClosed()) {
      messages.forEach(this::giveBack);
    }
    messages.clear();
  }

  private void giveBack(int lane, long from, int count) {
    Cursor cursor = subscription.cursor(lane);
    long end = from + count;
    for (long at = cursor.nextStaged(from, end); at < end; at = cursor.nextStaged(at, end)) {
      long stop = cursor.unstage(at, end);
      subscription.giveBack(lane, at, stop - at, true);
      at = stop;
    }
  }

  /** Long destination, long subscription, its messages, varint keys: two longs each; long when. */
  public void encode(DataOutput out) throws IOException {
    subscription.destination().guard().check();
    out.writeLong(subscription.destination().id());
    out.writeLong(subscription.id());
    messages.encode(out);
    Formats.writeVarint(out, keys.size());
    for (UUID key : keys) {
      out.writeLong(key.getMostSignificantBits());
      out.writeLong(key.getLeastSignificantBits());
    }
    out.writeLong(keysMillis);
  }

  /** Holds again what {@link #encode} wrote. */
  public static HeldMessages decode(DataInput in, Destinations destinations) throws IOException {
    long destinationId = in.readLong();
    long subscriptionId = in.readLong();
    Destination destination = destinations.find(destinationId);
    Subscription subscription =
        destination == null ? null : destination.subscription(subscriptionId);
    if (destination == null || subscription == null) {
      throw new IOException(
          "a transaction acknowledges in subscription %d of destination %d, unknown"
              .formatted(subscriptionId, destinationId));
    }
    HeldMessages held = new HeldMessages(subscription);
    LaneSequences messages = destination.newSequences();
    messages.decode(in);
    List<UUID> seen = new ArrayList<>();
    int count = Formats.readCount(in, "keys", MAX_KEYS);
    for (int i = 0; i < count; i++) {
      seen.add(new UUID(in.readLong(), in.readLong()));
    }
    held.hold(messages.ranges(), seen, in.readLong());
    messages.clear();
    return held;
  }
}
