package io.lightmq.client;

import io.lightmq.wire.entry.FaultCode;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether a want of room is passing, so that what failed for it is no failed attempt. A full disk,
 * full memory and a busy broker are its operator's to mend, and every message of everybody would
 * become a dead letter meanwhile: for these there is no end. A limit that is reached may be the
 * application's own doing, as that of a connection's producers is, and lasts as long as it runs: if
 * messages have come again for it for {@value #MINUTES} minutes, never a minute without, it counts.
 * One for each connection. Any thread.
 */
final class PassingLimit {
  static final int MINUTES = 5;

  private final LongSupplier nanoTime;
  private boolean reached;
  private long sinceNanos;
  private long lastNanos;

  PassingLimit() {
    this(System::nanoTime);
  }

  PassingLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Whether what goes back for this failure now has not failed. */
  synchronized boolean isPassing(@Nullable Throwable failure) {
    if (!NoRoom.is(failure, FaultCode.LIMIT_REACHED)) {
      return NoRoom.is(failure);
    }
    long now = nanoTime.getAsLong();
    if (!reached || now - lastNanos > TimeUnit.MINUTES.toNanos(1)) {
      reached = true;
      sinceNanos = now;
    }
    lastNanos = now;
    return now - sinceNanos < TimeUnit.MINUTES.toNanos(MINUTES);
  }
}
