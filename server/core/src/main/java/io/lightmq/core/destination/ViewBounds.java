package io.lightmq.core.destination;

/**
 * How much views with keys may know. One that has come to either bound is shown no more and looks
 * no further until it is below half of both. What one look brings may go beyond it: 16,384 messages
 * in 1,024 parts at most.
 *
 * @param matches messages that match and are not acknowledged
 * @param bytes outside the heap for these: 4 KiB in each block of 4096 sequences with a group, and
 *     512 bytes for each group bucket with something in that block
 * @param recent a view that loses its last consumer keeps what it knows if that is so many at most
 */
record ViewBounds(int matches, long bytes, int recent) {
  static final ViewBounds DEFAULT = new ViewBounds(1 << 20, 16L << 20, 4_096);

  /**
   * A view goes on behind the bounds if somebody waits and nothing is in flight, but not behind so
   * many times as much.
   */
  static final int HARD = 4;

  boolean isFull(long knownMatches, long knownBytes) {
    return knownMatches >= matches || knownBytes >= bytes;
  }

  /** Whether a view that was full goes on. */
  boolean isHalf(long knownMatches, long knownBytes) {
    return knownMatches <= matches / 2 && knownBytes <= bytes / 2;
  }

  /** Whether a view looks no further whoever waits. */
  boolean isTooFull(long knownMatches, long knownBytes) {
    return knownMatches >= (long) HARD * matches || knownBytes >= HARD * bytes;
  }
}
