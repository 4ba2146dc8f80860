package io.lightmq.tck.suite;

import io.lightmq.samples.Usage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What the user asks for: {@code <jar or folder> [filter] [options]}.
 *
 * @param suite where the TCK is: a jar, or a folder
 * @param filter parts of test names between commas, one of which a test must contain; empty for all
 * @param timeoutMillis how long each receive of the suite waits
 * @param embedded whether the broker runs inside the process of the tests
 * @param restarts whether the broker is restarted, on its data, between the classes
 * @param jobs how many brokers, each with its own processes, share the tests
 * @param resumes whether classes are left out that the report of an earlier run tells of
 */
record TckOptions(
    Path suite,
    String filter,
    long timeoutMillis,
    boolean embedded,
    boolean restarts,
    int jobs,
    boolean resumes) {

  static final String USAGE =
      "--tck <jar or folder> [filter] [--timeout-millis N] [--embedded]"
          + " [--restart-between-classes] [--jobs N] [--resume]";

  static final Usage HELP =
      new Usage(
          "usage: tck-runner/run.sh " + USAGE,
          1,
          List.of(
              "--timeout-millis", "--jobs", "--resume", "--embedded", "--restart-between-classes"));

  private static final long DEFAULT_TIMEOUT_MILLIS = 10_000;
  private static final int MAX_JOBS = 16;

  TckOptions {
    if (!Files.exists(suite)) {
      throw new IllegalArgumentException(
          "no TCK at " + suite.toAbsolutePath() + "; docs/tck.md says how to obtain it");
    }
    if (timeoutMillis < 1) {
      throw new IllegalArgumentException("--timeout-millis must be positive, not " + timeoutMillis);
    }
    if (jobs < 1 || jobs > MAX_JOBS) {
      throw new IllegalArgumentException("--jobs is 1 to " + MAX_JOBS + ", not " + jobs);
    }
    if (embedded && restarts) {
      throw new IllegalArgumentException(
          "an embedded broker ends with each class; --restart-between-classes adds nothing to it");
    }
  }

  /** Reads the arguments; a mistake is told with the usage. */
  static TckOptions parse(List<String> arguments) {
    Queue<String> words = new ArrayDeque<>(arguments);
    String suite = null;
    String filter = null;
    long timeoutMillis = DEFAULT_TIMEOUT_MILLIS;
    boolean embedded = false;
    boolean restarts = false;
    int jobs = 1;
    boolean resumes = false;
    while (!words.isEmpty()) {
      String word = words.remove();
      switch (word) {
        case "--timeout-millis" -> timeoutMillis = number(word, words.poll());
        case "--jobs" -> jobs = Math.toIntExact(number(word, words.poll()));
        case "--resume" -> resumes = true;
        case "--embedded" -> embedded = true;
        case "--restart-between-classes" -> restarts = true;
        default -> {
          if (word.startsWith("--") || filter != null) {
            throw new IllegalArgumentException("unknown argument " + word + "; use " + USAGE);
          } else if (suite == null) {
            suite = word;
          } else {
            filter = word;
          }
        }
      }
    }
    if (suite == null) {
      throw new IllegalArgumentException("name the TCK's jar or folder; use " + USAGE);
    }
    return new TckOptions(
        Path.of(suite),
        filter == null ? "" : filter,
        timeoutMillis,
        embedded,
        restarts,
        jobs,
        resumes);
  }

  /** Whether a test of this name is wanted. */
  boolean wants(String test) {
    for (String part : filter.split(",", -1)) {
      if (test.contains(part.strip())) {
        return true;
      }
    }
    return false;
  }

  private static long number(String option, @Nullable String value) {
    try {
      return Long.parseLong(String.valueOf(value));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(option + " needs a number, not " + value, e);
    }
  }
}
