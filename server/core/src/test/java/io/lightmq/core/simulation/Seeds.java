package io.lightmq.core.simulation;

/**
 * Which seeds a run tries, by system properties; a number that is none is told, not passed over.
 */
public final class Seeds {
  private Seeds() {}

  /** How many: {@code -Dlightmq.seeds}. */
  public static int count(int usual) {
    return Math.toIntExact(number("lightmq.seeds", usual));
  }

  /** The first: {@code -Dlightmq.seed}. */
  public static long first(long usual) {
    return number("lightmq.seed", usual);
  }

  private static long number(String property, long usual) {
    String text = System.getProperty(property, "").strip();
    if (text.isEmpty()) {
      return usual;
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "-D" + property + "=" + text + " is no whole number; for example -D" + property + "=4711",
          e);
    }
  }

  /** Says that asked seeds hold: without it a passed run tells nothing of what it tried. */
  static void held(long first, int count) {
    if (System.getProperty("lightmq.seed") != null || System.getProperty("lightmq.seeds") != null) {
      System.out.printf("seeds %d to %d: 0 violations%n", first, first + count - 1);
    }
  }
}
