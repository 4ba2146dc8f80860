package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages for one destination that fall due within one hour: a hidden queue in which they live
 * until then, and the due times of those that were read from it.
 */
@OwnedBy("shard")
public final class DueHour {
  static final long HOUR_MILLIS = 3_600_000;
  private static final String PREFIX = Destination.HIDDEN + "due.";

  private final Destination holder;
  private final long hour;
  private final long destinationId;
  public DueHeap heap = new DueHeap();

  /** Behind the last sequence of each lane whose due time is known. */
  private final Map<Integer, Long> readTo = new HashMap<>();

  /** When there is something to do for it next; {@code Long.MAX_VALUE} for nothing known. */
  public long lookMillis = Long.MAX_VALUE;

  /** When messages came under it last. */
  public long cameMillis;

  public boolean opened;
  public boolean reading;

  private DueHour(Destination holder, long hour, long destinationId) {
    this.holder = holder;
    this.hour = hour;
    this.destinationId = destinationId;
  }

  /** The holder's name. */
  static DestinationName name(long hour, long destinationId) {
    return new DestinationName(DestinationKind.QUEUE, PREFIX + hour + "." + destinationId);
  }

  /** Whether it is the name of a holder for a destination. */
  static boolean isOf(DestinationName holder, long destinationId) {
    return holder.name().startsWith(PREFIX) && holder.name().endsWith("." + destinationId);
  }

  /** The hour that a holder is for, or null if it is another kind of destination. */
  public static @Nullable DueHour of(Destination holder) {
    String name = holder.name().name();
    if (!name.startsWith(PREFIX)) {
      return null;
    }
    int dot = name.indexOf('.', PREFIX.length());
    return new DueHour(
        holder,
        Long.parseLong(name.substring(PREFIX.length(), dot)),
        Long.parseLong(name.substring(dot + 1)));
  }

  public Destination holder() {
    return holder;
  }

  public Subscription subscription() {
    return holder.queueSubscription();
  }

  /** Where its messages go. */
  public long destinationId() {
    return destinationId;
  }

  public long beginMillis() {
    return hour * HOUR_MILLIS;
  }

  public boolean isOver(long nowMillis) {
    return nowMillis >= beginMillis() + HOUR_MILLIS;
  }

  /** When the first message is due whose time is known, {@code Long.MAX_VALUE} if there is none. */
  public long nextMillis() {
    return heap.size() == 0 ? Long.MAX_VALUE : beginMillis() + heap.dueMillis();
  }

  public void add(long dueMillis, int lane, long sequence) {
    long within = Math.max(0, Math.min(HOUR_MILLIS - 1, dueMillis - beginMillis()));
    heap.add((int) within, lane, sequence);
  }

  /** The first sequence of a lane whose due time is not known. */
  public long unread(Lane lane) {
    return readTo.getOrDefault(lane.code(), 0L);
  }

  /** All due times are read once more. */
  public void readAgain() {
    heap = new DueHeap();
    readTo.clear();
  }

  public void readTo(Lane lane, long behind) {
    readTo.put(lane.code(), behind);
  }
}
