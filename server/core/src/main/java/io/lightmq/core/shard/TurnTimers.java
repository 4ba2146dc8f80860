package io.lightmq.core.shard;

import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import org.jspecify.annotations.Nullable;

/** Wakes the shard when a pull, a wait, a move or a delayed message is due, at that very time. */
@OwnedBy("shard")
final class TurnTimers {
  private static final long MILLI_NANOS = 1_000_000L;

  /** A longer wait is looked at again after so long. */
  private static final long MOST_MILLIS = 86_400_000L;

  private final Loop loop;
  private final TurnTime time;
  private final Dispatcher dispatcher;
  private final Runnable drain;
  private Loop.@Nullable Timer parkedTimer;
  private long parkedNanos = Long.MAX_VALUE;
  private Loop.@Nullable Timer dueTimer;
  private long dueMillis = Long.MAX_VALUE;

  TurnTimers(Loop loop, TurnTime time, Dispatcher dispatcher, Runnable drain) {
    this.loop = loop;
    this.time = time;
    this.dispatcher = dispatcher;
    this.drain = drain;
  }

  /** Sets them to what the parts of an owner want next; at the end of a turn. */
  void set(TurnPart parts) {
    setDue(parts.nextMillis());
    setParked(parts.nextNanos());
  }

  private void setParked(long next) {
    if (next == parkedNanos) {
      return;
    }
    if (parkedTimer != null) {
      parkedTimer.cancel();
      parkedTimer = null;
    }
    parkedNanos = next;
    if (next != Long.MAX_VALUE) {
      parkedTimer =
          loop.schedule(
              Math.max(0, next - time.nowNanos()),
              () -> {
                parkedTimer = null;
                parkedNanos = Long.MAX_VALUE;
                time.look();
                dispatcher.time(time.nanos(), time.millis());
                dispatcher.expireParked();
              });
    }
  }

  private void setDue(long next) {
    if (next == dueMillis) {
      return;
    }
    if (dueTimer != null) {
      dueTimer.cancel();
      dueTimer = null;
    }
    dueMillis = next;
    if (next != Long.MAX_VALUE) {
      long passedNanos = time.nowNanos() - time.nanos(); // of this turn
      long waitMillis = Math.min(next - time.millis(), MOST_MILLIS);
      dueTimer =
          loop.schedule(
              Math.max(MILLI_NANOS, waitMillis * MILLI_NANOS - passedNanos),
              () -> {
                dueTimer = null;
                dueMillis = Long.MAX_VALUE;
                drain.run();
              });
    }
  }

  void cancel() {
    if (dueTimer != null) {
      dueTimer.cancel();
    }
    if (parkedTimer != null) {
      parkedTimer.cancel();
    }
  }
}
