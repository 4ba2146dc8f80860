package io.lightmq.core.state;

import io.lightmq.core.door.Figure;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.FaultCode;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of an exception that nobody foresaw while something of a client's was decided. It is
 * a bug of the broker's. While nothing has changed it is that decision's refusal, told and counted;
 * behind the first change, be that recorded or not, nobody knows what is half done, and the shard
 * ends. So {@link Recorder#changing} stands before each change that is in no record. An {@code
 * Error} always ends the process.
 */
@OwnedBy("shard")
public final class Unforeseen {
  private static final Logger log = LoggerFactory.getLogger(Unforeseen.class);
  private static final long LOG_NANOS = 10_000_000_000L;

  private final Recorder recorder;
  private final Counters counters;
  private final TurnTime time;
  private long loggedNanos = Long.MIN_VALUE;
  private long unlogged;

  public Unforeseen(Recorder recorder, Counters counters, TurnTime time) {
    this.recorder = recorder;
    this.counters = counters;
    this.time = time;
  }

  /** Who may touch this and what decides. */
  public Guard guard() {
    return recorder.guard();
  }

  /** What has changed so far, to be kept from before a decision for {@link #refusal}. */
  public long changes() {
    return recorder.changes();
  }

  /**
   * The refusal that an exception becomes; a refusal stays what it is.
   *
   * @param what what was decided
   * @param changesBefore {@link #changes} before it was
   * @throws RuntimeException the exception itself if something has changed since, or if the broker
   *     is being closed
   */
  public Refusal refusal(RuntimeException bug, String what, long changesBefore) {
    guard().check();
    if (bug instanceof Refusal refusal) {
      return refusal;
    }
    if (recorder.changes() != changesBefore || bug instanceof RejectedExecutionException) {
      throw bug;
    }
    counters.count(Figure.UNFORESEEN);
    tell(bug, what);
    return new Refusal(
        FaultCode.BAD_REQUEST,
        "the broker failed to decide "
            + what
            + ", which changed nothing and is an error of the broker's: "
            + bug.getClass().getSimpleName());
  }

  /**
   * Runs a piece of the broker's own work, for which nobody waits.
   *
   * @return what an exception of it becomes, null if there is none
   * @throws RuntimeException as {@link #refusal} does
   */
  public @Nullable Refusal run(String what, Runnable piece) {
    guard().check();
    long before = recorder.changes();
    try {
      piece.run();
      return null;
    } catch (RuntimeException thrown) {
      return refusal(thrown, what, before);
    }
  }

  private void tell(RuntimeException bug, String what) {
    long now = time.nanos();
    if (loggedNanos != Long.MIN_VALUE && now - loggedNanos < LOG_NANOS) {
      unlogged++;
      return;
    }
    loggedNanos = now;
    // Its message may hold a client's text, so that only type and place are logged.
    IllegalStateException shown = new IllegalStateException(bug.getClass().getName());
    shown.setStackTrace(bug.getStackTrace());
    log.error(
        "An error of the broker's: {} could not be decided and was refused, nothing has changed;"
            + " please report it ({} more since the last such line)",
        what,
        unlogged,
        shown);
    unlogged = 0;
  }
}
