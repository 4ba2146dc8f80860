package io.lightmq.tck.suite;

import java.util.Locale;

/**
 * What became of one test.
 *
 * @param test its name: class without the suite's common prefix, {@code #}, method
 * @param status how it ended
 * @param millis how long it took
 * @param reason why it failed or was skipped, in one line; empty if it passed
 */
record TestOutcome(String test, Status status, long millis, String reason) {

  private static final int MAX_REASON_LENGTH = 600;

  /** How a test ends. */
  enum Status {
    PASSED,
    FAILED,
    SKIPPED;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  TestOutcome {
    String line = reason.replaceAll("\\s+", " ").strip();
    reason =
        line.length() > MAX_REASON_LENGTH ? line.substring(0, MAX_REASON_LENGTH) + "..." : line;
  }

  /** The outcome in the file by which a process tells its results. */
  String line() {
    return String.join("\t", status.name(), Long.toString(millis), test, reason);
  }

  /** Reads what {@link #line} wrote. */
  static TestOutcome parse(String line) {
    String[] parts = line.split("\t", 4);
    if (parts.length != 4) {
      throw new IllegalArgumentException(
          "expected status, milliseconds, test and reason between tabs, found: " + line);
    }
    return new TestOutcome(parts[2], Status.valueOf(parts[0]), Long.parseLong(parts[1]), parts[3]);
  }
}
