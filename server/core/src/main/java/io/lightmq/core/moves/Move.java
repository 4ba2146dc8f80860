package io.lightmq.core.moves;

import io.lightmq.core.delivery.Damage;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.intake.Matchings;
import io.lightmq.core.runtime.OwnedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** One message on its way from a subscription to wherever its errand says; in flight to nobody. */
@OwnedBy("shard")
public final class Move implements Matchings.Moved {
  private final Subscription from;
  private final int lane;
  private final long sequence;
  private final Mover.Errand errand;
  private @Nullable ByteBuffer entry;
  private @Nullable IOException failure;

  /** How often it failed for a reason of its own, and when it is tried again. */
  int tries;

  long againNanos;

  Move(Subscription from, int lane, long sequence, Mover.Errand errand) {
    this.from = from;
    this.lane = lane;
    this.sequence = sequence;
    this.errand = errand;
  }

  public Subscription from() {
    return from;
  }

  public int lane() {
    return lane;
  }

  public long sequence() {
    return sequence;
  }

  public Mover.Errand errand() {
    return errand;
  }

  /** Whether the message is still there and nobody else's. */
  @Override
  public boolean isValid() {
    return !from.isClosed() && from.isUnacknowledged(lane, sequence) && from.isHeld(lane, sequence);
  }

  /** The message is free again. */
  void giveBack() {
    if (isValid()) {
      from.giveBack(lane, sequence, 1, false);
    }
  }

  void read(@Nullable ByteBuffer bytes, @Nullable IOException cause) {
    entry = bytes;
    failure = cause;
  }

  /** Its bytes have to be read again. */
  void forgetBytes() {
    entry = null;
    failure = null;
  }

  /** The entry as it is stored; null if it could not be read. */
  public @Nullable ByteBuffer entry() {
    return entry;
  }

  /** What damage there is instead of an entry; null if there is none. */
  @Nullable Damage damage() {
    return Damage.of(failure, sequence, sequence);
  }

  /** Why there is no entry. */
  String failureText() {
    return failure == null ? "nothing came" : failure.toString();
  }
}
