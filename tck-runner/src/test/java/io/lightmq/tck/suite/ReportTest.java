package io.lightmq.tck.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

  private static TestOutcome outcome(String test, TestOutcome.Status status, String reason) {
    return new TestOutcome(test, status, 1, reason);
  }

  private static final TestOutcome PASSED = outcome("a#1", TestOutcome.Status.PASSED, "");

  @Test
  void theLastLineCounts() {
    Report report =
        new Report(
            List.of(
                outcome("b#1", TestOutcome.Status.FAILED, "two\nlines\tand a tab"),
                outcome("a#2", TestOutcome.Status.SKIPPED, "not here"),
                PASSED));
    assertThat(report.lines())
        .containsExactly(
            "skipped a#2: not here",
            "failed b#1: two lines and a tab",
            "1 passed, 1 failed, 1 skipped");
    assertThat(report.isClean()).isFalse();
  }

  @Test
  void onlyPassedTestsAreCleanAndNoneAreNot() {
    assertThat(new Report(List.of(PASSED)).isClean()).isTrue();
    assertThat(new Report(List.of()).isClean()).isFalse();
  }

  @Test
  void aReportComesBackFromItsFileAndTellsOfSomeTests(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("report.txt");
    assertThat(Report.read(file).outcomes()).isEmpty();
    Report report = new Report(List.of(outcome("b#1", TestOutcome.Status.FAILED, "why"), PASSED));
    report.write(file);
    Report read = Report.read(file);
    assertThat(read).isEqualTo(report);
    assertThat(read.of(List.of("a#1", "c#1"))).containsExactly(PASSED);
  }

  @Test
  void anOutcomeComesBackFromItsLine() {
    TestOutcome failed = outcome("b#1", TestOutcome.Status.FAILED, "why\tnot");
    assertThat(TestOutcome.parse(failed.line())).isEqualTo(failed);
    assertThat(TestOutcome.parse(PASSED.line())).isEqualTo(PASSED);
  }
}
