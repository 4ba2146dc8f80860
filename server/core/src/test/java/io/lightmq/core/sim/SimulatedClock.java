package io.lightmq.core.sim;

import io.lightmq.core.runtime.Clock;

/** Time that moves only when told to, or by a little each time that somebody looks. */
public final class SimulatedClock implements Clock {
  private static final long START_MILLIS = 1_800_000_000_000L;

  private long nanos;
  private long wallShiftMillis;
  private long lookNanos;

  @Override
  public long wallMillis() {
    return START_MILLIS + wallShiftMillis + nanos / 1_000_000;
  }

  @Override
  public long arrivalMillis() {
    return START_MILLIS + wallShiftMillis + -Math.floorDiv(-nanos, 1_000_000L);
  }

  @Override
  public long nanos() {
    nanos += lookNanos;
    return nanos;
  }

  /** Each look takes so long from now on, so that what is done in slices of time is cut. */
  public void looksTake(long newLookNanos) {
    lookNanos = newLookNanos;
  }

  /** Lets time pass. */
  public void advance(long byNanos) {
    if (byNanos < 0) {
      throw new IllegalArgumentException("time does not go back: " + byNanos);
    }
    nanos += byNanos;
  }

  /** Makes the wall clock jump, which the other one does not. */
  public void jumpWall(long byMillis) {
    wallShiftMillis += byMillis;
  }
}
