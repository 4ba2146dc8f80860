package io.lightmq.tck.joram;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tests that are known to fail, each with the feature that this version does not have.
 *
 * <p>The file has one test a line, {@code test -> missing feature}; {@code #} begins a comment.
 */
final class ExpectedFailures {

  private static final String ARROW = " -> ";

  private final Map<String, String> featureOfTest;

  private ExpectedFailures(Map<String, String> featureOfTest) {
    this.featureOfTest = featureOfTest;
  }

  static ExpectedFailures read(Path file) throws IOException {
    return parse(Files.readAllLines(file));
  }

  static ExpectedFailures parse(List<String> lines) {
    Map<String, String> features = new LinkedHashMap<>();
    for (String line : lines) {
      if (line.isBlank() || line.startsWith("# ")) {
        continue;
      }
      int arrow = line.indexOf(ARROW);
      if (arrow < 0) {
        throw new IllegalArgumentException(
            "expected 'test -> missing feature', found '" + line + "'");
      }
      String test = line.substring(0, arrow).strip();
      if (features.put(test, line.substring(arrow + ARROW.length()).strip()) != null) {
        throw new IllegalArgumentException(test + " is listed twice");
      }
    }
    return new ExpectedFailures(features);
  }

  /** Those whose name contains the given text. */
  ExpectedFailures containing(String part) {
    Map<String, String> some = new LinkedHashMap<>(featureOfTest);
    some.keySet().removeIf(test -> !test.contains(part));
    return new ExpectedFailures(some);
  }

  /** The feature that the test waits for, or null if it has to pass. */
  @Nullable String missingFeature(String test) {
    return featureOfTest.get(test);
  }

  /** Failures that are not in the list. */
  List<Outcome> unexpected(List<Outcome> outcomes) {
    return outcomes.stream()
        .filter(outcome -> !outcome.passed() && !featureOfTest.containsKey(outcome.test()))
        .toList();
  }

  /** Listed tests that passed or do not exist, so that the list is out of date. */
  List<String> outdated(List<Outcome> outcomes) {
    List<String> failed =
        outcomes.stream().filter(outcome -> !outcome.passed()).map(Outcome::test).toList();
    return featureOfTest.keySet().stream().filter(test -> !failed.contains(test)).toList();
  }
}
