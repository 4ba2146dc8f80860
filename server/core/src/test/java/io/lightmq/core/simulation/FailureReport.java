package io.lightmq.core.simulation;

import java.util.List;
import java.util.function.Supplier;

/** What failed, how to see it again, and the smallest history that fails so. */
final class FailureReport {
  /** To shrink a failure takes so many histories at most. */
  private static final int MOST_RUNS = Integer.getInteger("lightmq.shrink", 300);

  /** So much is told of how the smallest one ends. */
  private static final int LAST_WORDS = Integer.getInteger("lightmq.story", 40);

  private FailureReport() {}

  /**
   * Tells of a failure.
   *
   * @param test the one that plays the history again
   */
  static String of(History history, Throwable thrown, Supplier<Plant> planted, Class<?> test) {
    History smallest = Shrinking.shrink(history, thrown, planted, MOST_RUNS);
    List<String> story = smallest.story(planted);
    String line = System.lineSeparator() + "  ";
    return "seed "
        + history.seed()
        + " fails: "
        + thrown
        + line
        + "again: "
        + history.command(test)
        + line
        + "smallest: "
        + smallest.command(test)
        + line
        + "which ends so:"
        + line
        + String.join(line, story.subList(Math.max(0, story.size() - LAST_WORDS), story.size()))
        + line;
  }
}
