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

  /**
   * The same for what a client sent: what is too long for any batch is let through, to be refused
   * when it is decided. Alike where no batch is too short.
   */
  default boolean admitSent(long bytes, boolean publishes) {
    return admit(bytes, publishes);
  }
}
