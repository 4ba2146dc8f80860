package io.lightmq.node.credit;

/**
 * How publish credit is shared out.
 *
 * @param budgetBytes all grants together never exceed it
 * @param firstBytes what a connection gets at first while the budget has room
 * @param maxBytes the most that one connection's grant grows to
 * @param largestRunBytes the largest run of one message; so much of the budget is kept for runs
 *     that are larger than their connection's grant
 * @param connections how many connections must always find their least grant
 */
public record CreditSettings(
    long budgetBytes, long firstBytes, long maxBytes, int largestRunBytes, int connections) {

  /** The smallest grant that is useful at all: a run of small messages. */
  static final int LEAST_BYTES = 4 << 10;

  /** The least grant is never set higher than this, however large the budget. */
  private static final int LARGEST_FLOOR_BYTES = 64 << 10;

  public CreditSettings {
    if (connections < 1 || largestRunBytes < 1) {
      throw new IllegalArgumentException(
          "publish credit needs at least 1 connection and a run of 1 byte, not "
              + connections
              + " and "
              + largestRunBytes);
    }
    long least = largestRunBytes + 2L * connections * LEAST_BYTES;
    if (budgetBytes < least) {
      throw new IllegalArgumentException(
          "a publish credit of "
              + budgetBytes
              + " bytes is too small for "
              + connections
              + " connections and messages of "
              + largestRunBytes
              + " bytes: set at least "
              + least);
    }
    if (firstBytes < LEAST_BYTES || maxBytes < firstBytes) {
      throw new IllegalArgumentException(
          "a connection's credit begins with at least "
              + LEAST_BYTES
              + " bytes and grows from there, not from "
              + firstBytes
              + " to "
              + maxBytes);
    }
  }

  /** What grants share: the budget without the part for large runs. */
  long sharedBytes() {
    return budgetBytes - largestRunBytes;
  }

  /** What every connection has at least; for all of them it is at most half of the shared part. */
  long floorBytes() {
    return Math.min(LARGEST_FLOOR_BYTES, sharedBytes() / 2 / connections);
  }
}
