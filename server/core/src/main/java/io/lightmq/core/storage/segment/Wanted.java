package io.lightmq.core.storage.segment;

/**
 * The sequences that a read or a checkpoint asks for. Called on reader or destage threads, so it
 * must be an immutable picture.
 */
@FunctionalInterface
public interface Wanted {
  /** Every sequence. */
  Wanted ALL = sequence -> true;

  /** Whether this sequence is asked for. */
  boolean wants(long sequence);

  /**
   * A bound for skipping: no sequence in {@code from} to {@code result - 1} is wanted; {@code
   * Long.MAX_VALUE} if none is from here on. The result itself need not be wanted.
   */
  default long next(long from) {
    return from;
  }

  /** Exactly these sequences, which must rise. The array is taken over. */
  static Wanted of(long... rising) {
    return new PickedSequences(rising);
  }
}
