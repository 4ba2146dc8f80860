package io.lightmq.core.destination;

/**
 * The codes of lanes, as they stand in entries, records and acknowledgements: 0 to 9 for the
 * durable lane of a JMS priority, 128 to 137 for the unlogged one.
 */
public final class LaneCode {
  /** How many priorities there are; the highest is one less. */
  public static final int PRIORITIES = 10;

  private static final int UNLOGGED = 0x80;

  private LaneCode() {}

  /** The durable lane of a priority. */
  public static int durable(int priority) {
    return checked(priority);
  }

  /** The unlogged lane of a priority. */
  public static int unlogged(int priority) {
    return UNLOGGED | checked(priority);
  }

  /** Whether a code is that of a durable lane. */
  public static boolean isDurable(int code) {
    return code < UNLOGGED;
  }

  /** The priority of a code. */
  public static int priority(int code) {
    return checked(code & ~UNLOGGED);
  }

  private static int checked(int priority) {
    if (priority < 0 || priority >= PRIORITIES) {
      throw new IllegalArgumentException("a priority is 0 to 9, not " + priority);
    }
    return priority;
  }
}
