package io.lightmq.wire.entry;

/**
 * Consecutive sequences of one lane: {@code from} to {@code from + count - 1}, within one shard
 * epoch.
 *
 * @param lane the lane's code: 0 to 9 durable, 128 + 0 to 9 unlogged
 */
public record SequenceRange(int lane, long from, int count) {
  public SequenceRange {
    if (count <= 0) {
      throw new IllegalArgumentException("a range has at least one sequence, not " + count);
    }
    if (from < 0 || (from >>> 32) != ((from + count - 1) >>> 32)) {
      throw new IllegalArgumentException(
          "range from " + from + " with " + count + " sequences leaves its shard epoch");
    }
    if (!isLane(lane)) {
      throw new IllegalArgumentException("lane " + lane + " is neither 0 to 9 nor 128 to 137");
    }
  }

  private static boolean isLane(int lane) {
    return (lane & ~0x8F) == 0 && (lane & 0x0F) <= 9;
  }

  /** Whether a message can have this lane and sequence. */
  public static boolean isPlace(int lane, long sequence) {
    return isLane(lane) && sequence >= 0;
  }
}
