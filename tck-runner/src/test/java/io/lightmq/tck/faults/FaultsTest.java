package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.samples.broker.BrokerSetup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a verdict comes about: its line, its exit code, and rounds from outside. */
class FaultsTest {

  @TempDir Path folder;
  private EventLog events;
  private BrokerSetup setup;
  private final List<List<String>> calls = new ArrayList<>();
  private final List<Integer> places = new ArrayList<>();

  @BeforeEach
  void open() throws IOException {
    Path command = folder.resolve("bin/lightmq");
    Files.createDirectories(command.getParent());
    Files.createFile(command);
    assertThat(command.toFile().setExecutable(true)).isTrue();
    events = new EventLog(folder.resolve("events.log"));
    setup = new BrokerSetup(folder, folder, folder.resolve("data"), 1, 2, List.of(), "");
  }

  @AfterEach
  void close() {
    events.close();
  }

  @Test
  void theLineHasTheFourFigures() {
    assertThat(new Verdict(5, 4, 12_034, 2).line())
        .isEqualTo("rounds 5, faults fired 4, confirmed 12034, violations 2");
  }

  @Test
  void aViolationFailsAndSoDoesARunInWhichNothingFired() {
    assertThat(new Verdict(5, 5, 100, 0).exitCode()).isZero();
    assertThat(new Verdict(5, 5, 100, 1).exitCode()).isEqualTo(1);
    assertThat(new Verdict(5, 0, 100, 0).exitCode()).isEqualTo(1);
    assertThat(Verdict.none().exitCode()).isEqualTo(1);
  }

  @Test
  void aScenarioThatRepeatsItselfGetsTheRoundsAsItsFirstArgument() throws Exception {
    Scenario itself = scenario("ROUNDS [SEED]", 0);

    Verdict given = run(itself, "7", "4711");
    Verdict asked = run(itself, "4711", "--rounds", "7");

    assertThat(calls).containsExactly(List.of("7", "4711"), List.of("7", "4711"));
    assertThat(given).isEqualTo(asked);
  }

  @Test
  void anyOtherScenarioIsRepeatedInAPlaceOfItsOwnAndItsFiguresAreAdded() throws Exception {
    Verdict verdict = run(scenario("[MESSAGES]", 0), "500", "--rounds", "3");

    assertThat(calls).containsExactly(List.of("500"), List.of("500"), List.of("500"));
    assertThat(places).containsExactly(1, 2, 3);
    assertThat(verdict).isEqualTo(new Verdict(3, 6, 30, 0));
  }

  @Test
  void roundsEndWithTheFirstThatBreaksAPromise() throws Exception {
    Verdict verdict = run(scenario("[MESSAGES]", 2), "--rounds", "5");

    assertThat(verdict).isEqualTo(new Verdict(2, 4, 20, 1));
    assertThat(verdict.exitCode()).isEqualTo(1);
  }

  @Test
  void roundsWithoutAWholeNumberAreTheHarnessesFailure() {
    for (String[] arguments :
        List.of(
            new String[] {"--rounds"},
            new String[] {"--rounds", "many"},
            new String[] {"--rounds", "0"})) {
      assertThatThrownBy(() -> run(scenario("[MESSAGES]", 0), arguments))
          .isInstanceOf(HarnessException.class);
    }
    assertThat(calls).isEmpty();
  }

  private Verdict run(Scenario scenario, String... arguments) throws Exception {
    return Faults.verdict(
        scenario,
        List.of(arguments),
        (round, each) -> {
          places.add(round);
          return new Call(setup, events, each);
        });
  }

  /** Two faults and ten messages a run; the given one, counted from 1, breaks a promise. */
  private Scenario scenario(String arguments, int brokenRun) {
    return new Scenario(
        "--tried",
        arguments,
        "for this test",
        call -> {
          calls.add(call.arguments());
          return new Verdict(1, 2, 10, calls.size() == brokenRun ? 1 : 0);
        });
  }
}
