package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the command line says to mistakes that are made before a broker is asked. */
class WordsOfTheCommandLineTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir Path directory;

  private int execute(String line) {
    return execute(Map.of(), line);
  }

  private int execute(Map<String, String> variables, String line) {
    CommandLine commandLine = Main.commandLine(variables);
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(line.split(" "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "destination list --password S3cret",
        "destination list --password=S3cret",
        "destination list --passwordS3cret",
        "destination list --password -S3cret",
        "destination list --password=-S3cret",
        "destination list --password S3cret --json",
        "destination list -pS3cret",
        "destination list -p S3cret",
        "destination list --pasword S3cret",
        "destination list --pass=S3cret",
        "destination list --Password S3cret",
        "destination show --password S3cret queue orders",
        "subscription delete --password S3cret",
        "status --password S3cret",
        "stop --password S3cret",
        "link list --password S3cret",
        "dead-letters list --password S3cret",
        "delayed list --password S3cret",
        "damaged list --password S3cret",
        "run --password S3cret",
        "user list --password S3cret",
        "user add shop S3cret",
        "user add shop --role user S3cret",
        "user set-password shop S3cret",
        "user add shop --new-password S3cret",
        "user add shop --new-password=S3cret",
        "user add shop --new-passwordS3cret",
        "--password S3cret destination list",
        "destination list --host admin:S3cret@127.0.0.1",
        "destination list --user admin:S3cret",
      })
  void aSecretIsNeverRepeated(String line) {
    assertThat(execute(line)).as(err.toString()).isEqualTo(2);
    assertThat(err.toString() + out).doesNotContain("S3cret").doesNotContain("Password:");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status --password S3cret",
        "status --password=S3cret",
        "status --passwordS3cret",
        "user list --password S3cret"
      })
  void aPasswordAmongTheArgumentsIsRefusedWithTheReason(String line) {
    assertThat(execute(line)).isEqualTo(2);
    assertThat(err.toString())
        .contains("can be read by every user of this machine")
        .contains("--password-file", "LIGHTMQ_PASSWORD");
  }

  @Test
  void aUserWithoutAPasswordIsAMistakeAndNobodyElse() {
    assertThat(execute("status --port 1 --user shop")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("no password for shop; use --password, which asks for it, --password-file")
        .contains("LIGHTMQ_PASSWORD");
  }

  @Test
  void aUserOfTheEnvironmentWithoutAPasswordIsAMistakeToo() {
    assertThat(execute(Map.of("LIGHTMQ_USER", "shop"), "status --port 1")).isEqualTo(2);
    assertThat(err.toString()).startsWith("no password for shop; ");
  }

  @Test
  void aVariableThatMeansNothingIsNamedWithItsNearest() {
    Map<String, String> variables =
        Map.of(
            "LIGHTMQ_PRT", "1",
            "LIGHTMQ_PASWORD", "S3cret",
            "LIGHTMQ_SERVICE_HOST", "10.0.0.1",
            "LIGHTMQ_PORT_7654_TCP", "tcp://10.0.0.1:7654",
            "LIGHTMQ_COLOUR", "red");
    assertThat(execute(variables, "version")).isZero();
    assertThat(err.toString().lines())
        .satisfiesExactly(
            line -> assertThat(line).contains("LIGHTMQ_COLOUR", "known are LIGHTMQ_HOST, "),
            line -> assertThat(line).endsWith("the nearest is LIGHTMQ_PASSWORD"),
            line -> assertThat(line).contains("LIGHTMQ_PRT").endsWith("is LIGHTMQ_PORT"));
    assertThat(err.toString()).doesNotContain("S3cret");
  }

  @Test
  void aWrongPortOfTheEnvironmentIsBlamedOnTheEnvironment() {
    assertThat(execute(Map.of("LIGHTMQ_PORT", "tcp://h:1"), "status")).isEqualTo(2);
    assertThat(err.toString())
        .contains("LIGHTMQ_PORT is 'tcp://h:1' but must be 1 to 65535")
        .doesNotContain("--port is");
  }

  @ParameterizedTest
  @ValueSource(strings = {"help user add", "user help add", "user add --help"})
  void theHelpOfAVerbIsFoundInEachForm(String line) {
    assertThat(execute(line)).as(err.toString()).isZero();
    assertThat(out.toString()).contains("lightmq user add", "--role");
  }

  @Test
  void helpOfACommandThatDoesNotExistNamesTheNearest() {
    assertThat(execute("help usr")).isEqualTo(2);
    assertThat(err.toString()).contains("'usr' is no command of lightmq. Did you mean: ", "user?");
    assertThat(execute("help user ad")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean: user add?");
    assertThat(execute("help status now")).isEqualTo(2);
    assertThat(err.toString()).contains("'now' is one argument too many for lightmq status");
    assertThat(execute("user help")).isZero();
    assertThat(out.toString()).contains("set-password");
  }

  @ParameterizedTest
  @ValueSource(strings = {"99999", "0", "-1", "http"})
  void aPortIsToldWithItsRange(String port) {
    assertThat(execute("status --port " + port)).isEqualTo(2);
    assertThat(err.toString()).contains("--port is '" + port + "' but must be 1 to 65535");
  }

  @Test
  void aKindThatIsMistypedIsAnsweredWithTheNearest() {
    assertThat(execute("destination create qeue orders")).isEqualTo(2);
    assertThat(err.toString()).contains("'qeue' is neither queue nor topic; the nearest is queue");
    assertThat(execute("destination create orders")).isEqualTo(2);
    assertThat(err.toString()).contains("write the kind before the name, as in: queue orders");
  }

  @Test
  void aNewPasswordThatIsNotGivenIsSaidNotToBe() throws IOException {
    Path empty = Files.createFile(directory.resolve("empty"));
    assertThat(execute("user add shop --new-password-file " + empty)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith(
            "no password given; use --new-password-file or the environment variable"
                + " LIGHTMQ_NEW_PASSWORD");
  }

  @Test
  void aDirectoryThatCannotBeMadeIsSaidNotTo() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThat(execute("run --data " + file.resolve("data"))).isEqualTo(3);
    assertThat(err.toString()).contains("cannot create the data directory " + file);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tier = 'hihg' -> high",
        "tier = 'balancd' -> balanced",
        "redelivery-order = 'nonblocking' -> non-blocking"
      })
  void aMistypedSettingOfTheConfigurationIsAnsweredWithTheNearest(String line) throws IOException {
    String[] parts = line.split(" -> ");
    Path config = Files.writeString(directory.resolve("c.toml"), "[destinations]\n" + parts[0]);
    assertThat(execute("run --config " + config)).isEqualTo(2);
    assertThat(err.toString()).contains("c.toml line 2", "the nearest is '" + parts[1] + "'");
  }
}
