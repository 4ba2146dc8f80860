package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    assertThat(err.toString()).contains("Did you mean: lightmq destination");
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
