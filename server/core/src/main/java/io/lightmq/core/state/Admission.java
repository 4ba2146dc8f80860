package io.lightmq.core.state;

/** Whether there is room for what is about to be recorded. */
public interface Admission {
  /**
   * Makes room in the turn's batch.
   *
   * @param publishes whether it takes room on the disk and not only frees some
   * @return false if it has to wait for a later turn
   */
  boolean admit(long bytes, boolean publishes);
}
