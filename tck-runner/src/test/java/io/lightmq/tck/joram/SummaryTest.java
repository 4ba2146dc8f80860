package io.lightmq.tck.joram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTest {

  private static final Outcome PASSED = new Outcome("session.A#one", null, 1);
  private static final Outcome FAILED = new Outcome("selector.B#two", "not available", 1);

  @Test
  void aListedFailureIsAsExpected() {
    Summary summary = summary(List.of("# waits", "selector.B#two -> selectors"), PASSED, FAILED);
    assertThat(summary.isAsExpected()).isTrue();
    assertThat(summary.lines())
        .containsExactly(
            "failed selector.B#two [missing feature: selectors] not available",
            "1 passed, 1 failed");
  }

  @Test
  void aFailureThatIsNotListedIsNamed() {
    Summary summary = summary(List.of(), PASSED, FAILED);
    assertThat(summary.isAsExpected()).isFalse();
    assertThat(summary.lines())
        .containsSubsequence(
            "1 failures are not in the list of expected ones:", "  selector.B#two");
  }

  @Test
  void aListedTestThatPassesIsNamed() {
    Summary summary = summary(List.of("session.A#one -> sessions"), PASSED);
    assertThat(summary.isAsExpected()).isFalse();
    assertThat(summary.lines())
        .containsExactly(
            "1 tests are listed as failing but do not; take them out:",
            "  session.A#one",
            "1 passed, 0 failed");
  }

  @Test
  void aListedTestThatDidNotRunIsNamed() {
    assertThat(summary(List.of("gone.C#three -> x"), PASSED).isAsExpected()).isFalse();
  }

  @Test
  void aPartialRunIsComparedWithItsPartOfTheList() {
    ExpectedFailures part =
        ExpectedFailures.parse(List.of("selector.B#two -> selectors", "queue.C#three -> browser"))
            .containing("selector");
    assertThat(new Summary(List.of(FAILED), part).isAsExpected()).isTrue();
  }

  @Test
  void aLineWithoutAnArrowIsRefused() {
    assertThatThrownBy(() -> ExpectedFailures.parse(List.of("selector.B#two")))
        .hasMessageContaining("found 'selector.B#two'");
  }

  @Test
  void aTestListedTwiceIsRefused() {
    assertThatThrownBy(() -> ExpectedFailures.parse(List.of("a -> b", "a -> c")))
        .hasMessage("a is listed twice");
  }

  private static Summary summary(List<String> list, Outcome... outcomes) {
    return new Summary(List.of(outcomes), ExpectedFailures.parse(list));
  }
}
