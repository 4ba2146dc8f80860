package io.lightmq.core.runtime;

/** The machine's clock. */
final class SystemClock implements Clock {
  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }
}
