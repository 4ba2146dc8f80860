package io.lightmq.tck.suite;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the file that the JavaTest harness writes for each test. */
final class JavaTestResult {

  private static final String SECTION = "#-----testresult-----";

  private JavaTestResult() {}

  /**
   * The outcome in the lines of a result file.
   *
   * @throws IllegalArgumentException if they name no test or no status
   */
  static TestOutcome parse(List<String> lines) {
    Map<String, String> values = new HashMap<>();
    boolean within = false;
    for (String line : lines) {
      if (line.equals(SECTION)) {
        within = true;
      } else if (within && line.isEmpty()) {
        break;
      } else if (within) {
        int equals = line.indexOf('=');
        if (equals > 0) {
          values.put(line.substring(0, equals), line.substring(equals + 1).replace("\\", ""));
        }
      }
    }
    String test = values.get("test");
    String status = values.get("execStatus");
    if (test == null || status == null) {
      throw new IllegalArgumentException("no test and execStatus after " + SECTION);
    }
    int dot = status.indexOf('.');
    String word = dot < 0 ? status : status.substring(0, dot);
    return new TestOutcome(
        name(test),
        switch (word) {
          case "Passed" -> TestOutcome.Status.PASSED;
          case "Failed", "Error" -> TestOutcome.Status.FAILED;
          default -> TestOutcome.Status.SKIPPED;
        },
        Long.parseLong(values.getOrDefault("totalTime", "0")),
        word.equals("Passed") ? "" : status);
  }

  private static String name(String test) {
    String path =
        test.startsWith(JavaTestSuite.FOLDER)
            ? test.substring(JavaTestSuite.FOLDER.length())
            : test;
    String name = path.replace(".java#", "#").replace('/', '.');
    return name.endsWith(JavaTestSuite.VEHICLE)
        ? name.substring(0, name.length() - JavaTestSuite.VEHICLE.length())
        : name;
  }
}
