package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The report of a finished run: a line for each test in a file, and the words for the terminal.
 *
 * @param outcomes all tests of the run, sorted by name
 */
record Report(List<TestOutcome> outcomes) {

  Report {
    outcomes = outcomes.stream().sorted(Comparator.comparing(TestOutcome::test)).toList();
  }

  /** Whether there were tests and every one of them passed. */
  boolean isClean() {
    return !outcomes.isEmpty() && count(TestOutcome.Status.PASSED) == outcomes.size();
  }

  /** Writes a line for each test: status, milliseconds, name and reason, between tabs. */
  void write(Path file) throws IOException {
    Files.write(file, outcomes.stream().map(TestOutcome::line).toList());
  }

  /** Each test that did not pass with its reason, then the counts. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (TestOutcome outcome : outcomes) {
      if (outcome.status() != TestOutcome.Status.PASSED) {
        lines.add("%s %s: %s".formatted(outcome.status().word(), outcome.test(), outcome.reason()));
      }
    }
    lines.add(
        "%d passed, %d failed, %d skipped"
            .formatted(
                count(TestOutcome.Status.PASSED),
                count(TestOutcome.Status.FAILED),
                count(TestOutcome.Status.SKIPPED)));
    return lines;
  }

  private long count(TestOutcome.Status status) {
    return outcomes.stream().filter(outcome -> outcome.status() == status).count();
  }
}
