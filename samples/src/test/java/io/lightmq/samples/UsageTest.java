package io.lightmq.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {
  private final Usage usage = new Usage("usage: it [ARGUMENT]", 0, List.of("--seconds", "--disk"));

  @ParameterizedTest
  @ValueSource(strings = {"-5", "-0.5", "-", "- what now?", "-what now?", "a-b", ""})
  void whatOnlyBeginsWithADashIsAnArgument(String argument) {
    assertThat(usage.answer(argument)).isNull();
    assertThat(Usage.given(argument)).containsExactly(argument);
  }

  @Test
  void anUnknownOptionIsToldWithTheNearest() {
    Usage.Answer answer = usage.answer("--second", "3");
    assertThat(answer.code()).isEqualTo(2);
    assertThat(answer.text())
        .contains("no option --second;", "the nearest is --seconds", "put -- before it", "usage:");
    assertThat(usage.answer("-q").text()).contains("no option -q");
  }

  @Test
  void behindTwoDashesThereAreNoOptions() {
    assertThat(usage.answer("--", "--second", "-h")).isNull();
    assertThat(Usage.given("--", "--second", "--")).containsExactly("--second", "--");
    assertThat(Usage.of("usage: it A", 1).answer("--").text()).contains("1 arguments are needed");
    assertThat(usage.answer("--help", "--").code()).isZero();
  }

  @Test
  void theValueOfAnOptionMayBeginWithADash() {
    assertThat(usage.answer("--disk", "-folder", "--seconds", "3")).isNull();
    assertThat(usage.answer("--disk", "-folder", "--second", "3")).isNotNull();
  }
}
