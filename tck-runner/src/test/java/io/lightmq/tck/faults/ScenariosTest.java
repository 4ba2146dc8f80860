package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScenariosTest {

  @Test
  void everyScenarioIsInThePageOfTests() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "testing.md"));
    for (Scenario scenario : Scenarios.ALL) {
      assertThat(page)
          .as("docs/testing.md has a command with %s", scenario.name())
          .containsPattern("faults\\.sh " + scenario.name() + "[ `]");
    }
  }

  @Test
  void namesAreDifferentAndEachNamesItsScenario() throws HarnessException {
    assertThat(Scenarios.ALL).extracting(Scenario::name).doesNotHaveDuplicates();
    for (Scenario scenario : Scenarios.ALL) {
      assertThat(Scenarios.namedBy(scenario.words())).isSameAs(scenario);
    }
  }

  @Test
  void theLongerNameWinsAndWhatIsNoNameIsAnArgument() throws HarnessException {
    assertThat(Scenarios.namedBy(List.of("--memory", "--non-persistent", "5")).name())
        .isEqualTo("--memory --non-persistent");
    assertThat(Scenarios.namedBy(List.of("--memory", "5")).name()).isEqualTo("--memory");
    assertThat(Scenarios.namedBy(List.of("--at-most-once", "xfs", "5")).name())
        .isEqualTo("--at-most-once xfs");
  }

  @Test
  void anUnknownNameIsRefusedWithTheListOfAll() {
    for (List<String> typed :
        List.of(List.of("--kil", "5"), List.<String>of(), List.of("--powercut", "ntfs"))) {
      assertThatThrownBy(() -> Scenarios.namedBy(typed))
          .isInstanceOf(HarnessException.class)
          .hasMessageContaining(typed.toString())
          .hasMessageContaining("--powercut ext4 ROUNDS [SEED]");
    }
  }
}
