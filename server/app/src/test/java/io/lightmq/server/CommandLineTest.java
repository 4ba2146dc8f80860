package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.NioDisk;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CommandLineTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir Path directory;

  private int execute(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(arguments);
  }

  @Test
  void helpNamesCommandsAndExitCodes() {
    assertThat(execute("--help")).isZero();
    assertThat(out.toString()).contains("run", "destination", "Exit codes", "143");
  }

  @Test
  void noCommandAndUnknownOptionsAreWrongUsage() {
    assertThat(execute()).isEqualTo(2);
    assertThat(execute("run", "--confg", "x")).isEqualTo(2);
    assertThat(execute("destination")).isEqualTo(2);
    assertThat(execute("destination", "show", "stack", "x")).isEqualTo(2);
    assertThat(err.toString()).contains("--confg").contains("name a verb");
  }

  @Test
  void aMistypedVerbIsAnsweredWithTheNearest() {
    assertThat(execute("destination", "lst")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean: destination list");
    assertThat(execute("dead-letters", "rety")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean: dead-letters retry");
    assertThat(execute("delayed", "cancl", "ID:1")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean: delayed cancel");
    assertThat(execute("delayed", "cancel")).isEqualTo(2);
    assertThat(err.toString()).contains("<id>");
    assertThat(execute("destinaton", "list")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean: lightmq destination?");
  }

  @Test
  void aNameThatIsNearNoneIsAnsweredWithAllAndNotWithAWrongOne() {
    for (String word : List.of("serve", "launch", "quit", "show")) {
      err.getBuffer().setLength(0);
      assertThat(execute(word)).isEqualTo(2);
      assertThat(err.toString())
          .startsWith("'" + word + "' is no command of lightmq; commands are run, stop, status")
          .doesNotContain("Did you mean");
    }
    assertThat(execute("destination", "list", "--porrt", "1")).isEqualTo(2);
    assertThat(err.toString()).contains("Did you mean: --port?");
  }

  @Test
  void helpAndVersionAreCommandsToo() {
    assertThat(execute("help")).isZero();
    assertThat(out.toString()).contains("Exit codes");
    assertThat(execute("version")).isZero();
    assertThat(out.toString()).contains("LightMQ ");
    assertThat(execute("help", "user")).isZero();
    assertThat(out.toString()).contains("set-password");
  }

  @Test
  void aMistakeIsAnsweredInTwoLines() {
    assertThat(execute("destination", "create", "orders")).isEqualTo(2);
    assertThat(err.toString().lines()).hasSize(2);
    assertThat(err.toString())
        .contains("'orders' is neither queue nor topic", "queue orders")
        .contains("Help: lightmq destination create --help")
        .doesNotContain("[QUEUE");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n"})
  void anEmptyPasswordIsAMistake(String text) throws IOException {
    Path file = Files.writeString(directory.resolve("secret"), text);
    assertThat(execute("status", "--port", "1", "--password-file", file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("empty").doesNotContain("Exception");
  }

  @ParameterizedTest
  @ValueSource(strings = {"70000", "-1"})
  void aPortThatCannotBeOneIsAMistake(String port) {
    assertThat(execute("status", "--port", port)).isEqualTo(2);
    assertThat(err.toString()).doesNotContain("Exception").contains("port");
  }

  @Test
  void allLettersAreMovedOnlyWhenAllIsSaid() {
    assertThat(execute("dead-letters", "retry")).isEqualTo(2);
    assertThat(err.toString()).contains("--all");
    assertThat(execute("dead-letters", "retry", "ID:1", "--all")).isEqualTo(2);
  }

  @Test
  void aDirectoryThatCannotBeMadeIsToldWithItsReason() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThat(execute("run", "--data", file.resolve("data").toString())).isEqualTo(3);
    assertThat(err.toString())
        .startsWith("The broker cannot start: cannot create the data directory " + file)
        .containsAnyOf("exists already", "Not a directory", "not a directory");
  }

  @Test
  void usersOfADirectoryAreKeptWithoutABroker() throws IOException {
    Path data = directory.resolve("data");
    Path secret = Files.writeString(directory.resolve("secret"), "a password\n");
    String at = data.toString();
    assertThat(execute("user", "list", "--data", at)).isEqualTo(2);
    assertThat(data).doesNotExist();
    assertThat(add("root", "--role", "admin", "--data", at, secret)).as(err.toString()).isZero();
    assertThat(add("ada", "--role", "user", "--data", at, secret)).isZero();
    assertThat(add("ada", "--role", "user", "--data", at, secret)).isEqualTo(1);
    assertThat(err.toString()).contains("exists already");
    out.getBuffer().setLength(0);
    assertThat(execute("user", "list", "--data", at)).isZero();
    assertThat(out.toString()).isEqualTo("NAME  ROLES\nada   user\nroot  admin\n");
    assertThat(execute("user", "remove", "root", "--data", at)).isEqualTo(1);
    assertThat(err.toString()).contains("last user with the role admin");
    assertThat(execute("user", "remove", "ada", "--data", at)).isZero();
    try (NioDisk used = NioDisk.open(data)) {
      assertThat(execute("user", "list", "--data", at)).isEqualTo(3);
      assertThat(err.toString()).contains(used.root() + " is in use");
    }
  }

  private int add(String name, String a, String role, String b, String data, Path secret) {
    return execute("user", "add", name, a, role, b, data, "--new-password-file", secret.toString());
  }

  @Test
  void aWrongConfigurationHasItsOwnExitCodeAndNamesTheLine() throws IOException {
    Path config = Files.writeString(directory.resolve("c.toml"), "[listener]\nprot = 1\n");
    assertThat(execute("run", "--config", config.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("c.toml line 2").contains("listener.port");
  }

  @Test
  void adminCommandsWithoutABrokerSaySo() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    assertThat(execute("destination", "list", "--port", String.valueOf(port))).isEqualTo(4);
    assertThat(err.toString()).contains("no answer from a broker at 127.0.0.1:" + port);
  }

  @Test
  void aPasswordFileThatIsNotThereIsWrongUsage() {
    assertThat(execute("destination", "list", "--password-file", "/nowhere/secret")).isEqualTo(2);
    assertThat(err.toString()).contains("/nowhere/secret");
  }

  @Test
  void helpOfAVerbNamesKindNameAndTier() {
    assertThat(execute("destination", "create", "--help")).isZero();
    assertThat(execute("destination", "set", "--help")).isZero();
    assertThat(out.toString()).contains("<kind> <name>", "--tier=TIER").doesNotContain("<arg");
  }

  @Test
  void aFileAsDataDirectoryIsSaidToBeOne() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThat(execute("run", "--data", file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains(file + " is a file, a directory is needed");
  }

  @Test
  void aConfigurationThatIsNotThereIsSaidNotToBe() {
    Path missing = directory.resolve("none.toml");
    assertThat(execute("run", "--config", missing.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("there is no configuration file " + missing);
  }

  @Test
  void theConfigurationOfTheServersFolderCountsUnlessAnotherIsNamed() throws IOException {
    Path conf = Files.createDirectory(directory.resolve("conf"));
    Path ours = Files.writeString(conf.resolve("lightmq.toml"), "[listener]\nprot = 1\n");
    Path other = Files.writeString(directory.resolve("other.toml"), "[http]\nprot = 1\n");
    System.setProperty("lightmq.home", directory.toString());
    try {
      assertThat(execute("run")).isEqualTo(2);
      assertThat(err.toString()).contains(ours + " line 2");
      assertThat(execute("run", "--config", other.toString())).isEqualTo(2);
      assertThat(err.toString()).contains("other.toml line 2");
    } finally {
      System.clearProperty("lightmq.home");
    }
  }
}
