package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The report of a run: a line for each test in a file, and the words for the terminal.
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

  /** Reads what {@link #write} wrote; without a file there are no tests. */
  static Report read(Path file) throws IOException {
    return new Report(
        Files.exists(file)
            ? Files.readAllLines(file).stream().map(TestOutcome::parse).toList()
            : List.of());
  }

  /** What became of some tests, as far as it tells of them. */
  List<TestOutcome> of(Collection<String> tests) {
    Set<String> wanted = Set.copyOf(tests);
    return outcomes.stream().filter(outcome -> wanted.contains(outcome.test())).toList();
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
