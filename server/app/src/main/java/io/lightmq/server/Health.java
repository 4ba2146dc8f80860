package io.lightmq.server;

import io.lightmq.server.http.Page;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Whether the broker lives and takes clients. It never asks the broker's threads, so it answers
 * while they are stuck, and says so: a turn over {@link #STUCK_NANOS} is no health.
 */
final class Health {
  /** A turn that takes longer is told of; usual ones take some milliseconds. */
  static final long STUCK_NANOS = 1_000_000_000L;

  private final BooleanSupplier failed;
  private final LongSupplier turnNanos;
  private volatile boolean closing;

  /**
   * Health of a broker.
   *
   * @param turnNanos how long the turn lasts that is under way
   */
  Health(BooleanSupplier failed, LongSupplier turnNanos) {
    this.failed = failed;
    this.turnNanos = turnNanos;
  }

  /** From now on it is not ready. */
  void closing() {
    closing = true;
  }

  /** Whether the broker lives. */
  Page.Answer health() {
    return answer("ok\n");
  }

  /** Whether clients can come. */
  Page.Answer readiness() {
    return closing ? new Page.Answer(503, Page.TEXT, "closing\n") : answer("ready\n");
  }

  private Page.Answer answer(String good) {
    if (failed.getAsBoolean()) {
      return new Page.Answer(503, Page.TEXT, "failed\n");
    }
    long nanos = turnNanos.getAsLong();
    if (nanos > STUCK_NANOS) {
      return new Page.Answer(
          503,
          Page.TEXT,
          String.format(
              Locale.ROOT,
              "stuck: the broker's turn has lasted %.1f s, more than %.0f s is too long; nobody is"
                  + " served meanwhile\n",
              nanos / 1e9,
              STUCK_NANOS / 1e9));
    }
    return new Page.Answer(200, Page.TEXT, good);
  }
}
