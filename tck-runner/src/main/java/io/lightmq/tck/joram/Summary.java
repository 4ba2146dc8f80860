package io.lightmq.tck.joram;

import java.util.ArrayList;
import java.util.List;

/** The words for a finished run: each failure with its reason, then the count in the last line. */
final class Summary {

  private final List<Outcome> outcomes;
  private final ExpectedFailures expected;

  Summary(List<Outcome> outcomes, ExpectedFailures expected) {
    this.outcomes = List.copyOf(outcomes);
    this.expected = expected;
  }

  /** Whether every failure is a listed one and every listed one failed. */
  boolean isAsExpected() {
    return expected.unexpected(outcomes).isEmpty() && expected.outdated(outcomes).isEmpty();
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      if (outcome.failure() != null) {
        String feature = expected.missingFeature(outcome.test());
        String known = feature == null ? "UNEXPECTED" : "missing feature: " + feature;
        lines.add("failed %s [%s] %s".formatted(outcome.test(), known, outcome.failure()));
      }
    }
    List<Outcome> unexpected = expected.unexpected(outcomes);
    if (!unexpected.isEmpty()) {
      lines.add(unexpected.size() + " failures are not in the list of expected ones:");
      unexpected.forEach(outcome -> lines.add("  " + outcome.test()));
    }
    List<String> outdated = expected.outdated(outcomes);
    if (!outdated.isEmpty()) {
      lines.add(outdated.size() + " tests are listed as failing but do not; take them out:");
      outdated.forEach(test -> lines.add("  " + test));
    }
    long passed = outcomes.stream().filter(Outcome::passed).count();
    lines.add("%d passed, %d failed".formatted(passed, outcomes.size() - passed));
    return lines;
  }
}
