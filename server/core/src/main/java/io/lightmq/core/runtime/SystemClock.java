package io.lightmq.core.runtime;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The machine's clock without its steps. The wall time begins with the machine's, and goes on with
 * the monotonic clock. When the machine's time is set, or it was suspended, this one does not jump
 * but runs faster or slower by one in {@value #SLEW} until both agree again: after a step of a
 * minute for 100 minutes. So nothing that counts from an arrival ends early because somebody set
 * the time, and a restart takes up the machine's time at once.
 *
 * <p>Any thread. Whoever looks a second after the last comparison makes the next one.
 */
final class SystemClock implements Clock {
  private static final Logger log = LoggerFactory.getLogger(SystemClock.class);

  private static final long COMPARE_NANOS = 1_000_000_000L;

  /** A difference of less comes from rounding and from a thread that was held up in between. */
  private static final long TOLERATED_NANOS = 20_000_000L;

  /** What a second comparison finds beyond this is a step, and told. */
  private static final long STEP_NANOS = 100_000_000L;

  private static final long MILLI = 1_000_000L;

  /**
   * How time goes on from a comparison.
   *
   * @param atNanos when that was
   * @param wallNanos what this clock said then, since 1970
   * @param restNanos how far the machine's time was ahead of it
   */
  private record Line(long atNanos, long wallNanos, long restNanos) {
    long wallAt(long nanos) {
      long passed = nanos - atNanos;
      return wallNanos + passed + gained(passed);
    }

    long restAt(long nanos) {
      return restNanos - gained(nanos - atNanos);
    }

    private long gained(long passed) {
      long most = Math.max(0, passed) / SLEW;
      return Math.max(-most, Math.min(most, restNanos));
    }
  }

  private final LongSupplier machineMillis;
  private final LongSupplier machineNanos;
  private final AtomicReference<Line> line;
  private final AtomicLong steps = new AtomicLong();

  SystemClock() {
    this(System::currentTimeMillis, System::nanoTime);
  }

  SystemClock(LongSupplier machineMillis, LongSupplier machineNanos) {
    this.machineMillis = machineMillis;
    this.machineNanos = machineNanos;
    this.line =
        new AtomicReference<>(
            new Line(machineNanos.getAsLong(), machineMillis.getAsLong() * MILLI, 0));
  }

  @Override
  public long wallMillis() {
    return Math.floorDiv(wallNanos(), MILLI);
  }

  @Override
  public long arrivalMillis() {
    return -Math.floorDiv(-wallNanos(), MILLI);
  }

  private long wallNanos() {
    long now = machineNanos.getAsLong();
    Line known = line();
    if (now - known.atNanos() >= COMPARE_NANOS) {
      compare(known);
      known = line();
    }
    return known.wallAt(now);
  }

  private Line line() {
    return Objects.requireNonNull(line.get(), "it is set from the start");
  }

  private void compare(Line known) {
    long before = machineNanos.getAsLong();
    long machine = machineMillis.getAsLong() * MILLI;
    if (machineNanos.getAsLong() - before > TOLERATED_NANOS) {
      return; // held up in between: the two do not belong together
    }
    long mine = known.wallAt(before);
    long expected = known.restAt(before);
    long ahead = machine - mine;
    // A small difference that comes back is worked off in any case, it just is no step.
    long rest = Math.abs(ahead) < 2 * MILLI ? 0 : ahead;
    if (line.compareAndSet(known, new Line(before, mine, rest))
        && Math.abs(ahead - expected) > STEP_NANOS) {
      steps.incrementAndGet();
      log.warn(
          "The machine's time has jumped by {} ms and is now {} ms {} the broker's, which gains or"
              + " loses 1 ms in {} until both agree; a restart takes up the machine's time at once",
          (ahead - expected) / MILLI,
          Math.abs(ahead) / MILLI,
          ahead > 0 ? "ahead of" : "behind",
          SLEW);
    }
  }

  @Override
  public long behindMillis() {
    long rest = line().restNanos();
    return rest <= 0 ? 0 : rest / MILLI + 1;
  }

  @Override
  public long steps() {
    return steps.get();
  }

  @Override
  public long nanos() {
    return machineNanos.getAsLong();
  }
}
