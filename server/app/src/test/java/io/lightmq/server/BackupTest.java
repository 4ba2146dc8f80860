package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.server.config.ServerConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A copy of a stopped broker's data directory is all there is of it, as operations.md says. */
class BackupTest {
  private static final String SMALL =
      """
      [listener]
      port = 0
      [http]
      enabled = false
      [memory]
      window = "16MiB"
      [journal]
      file = "8MiB"
      [data]
      ballast = 0
      min-free = 0
      """;

  @TempDir Path directory;
  private final List<String> passwords = new ArrayList<>();

  private Server start(Path data) throws Exception {
    Path file = Files.writeString(directory.resolve("lightmq.toml"), SMALL);
    ServerConfig config = ServerConfig.read(file, 512L << 20).withDataDirectory(data);
    return Server.start(config, false, passwords::add);
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path each : (Iterable<Path>) files::iterator) {
        Path target = to.resolve(from.relativize(each).toString());
        Files.copy(each, target, StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  private String command(Server server, String... arguments) throws IOException {
    Path password = Files.writeString(directory.resolve("password"), passwords.get(0));
    int port = ((InetSocketAddress) server.addresses().get(0)).getPort();
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--port", String.valueOf(port), "--password-file", password.toString()));
    StringWriter out = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(out));
    commandLine.execute(all.toArray(new String[0]));
    return out.toString();
  }

  @Test
  void aCopyIsRestoredWithItsUsersAndSettingsAndWithoutWhatCameLater() throws Exception {
    Path data = directory.resolve("data");
    Path backup = directory.resolve("backup");
    try (Server server = start(data)) {
      command(server, "destination", "create", "queue", "before", "--tier", "balanced");
    }
    copy(data, backup);
    try (Server server = start(data)) {
      command(server, "destination", "create", "queue", "after");
      assertThat(command(server, "destination", "list")).contains("before", "after");
    }
    Path restored = directory.resolve("restored");
    copy(backup, restored);
    try (Server server = start(restored)) {
      assertThat(command(server, "destination", "list")).contains("before").doesNotContain("after");
      assertThat(command(server, "destination", "show", "queue", "before")).contains("balanced");
      assertThat(command(server, "user", "list")).contains("admin");
    }
    assertThat(passwords).as("the user of the first start is there each time").hasSize(1);
  }

  @Test
  void aCopyWithoutItsUsersIsRefused() throws Exception {
    Path data = directory.resolve("data");
    start(data).close();
    Path backup = directory.resolve("backup");
    copy(data, backup);
    Files.delete(backup.resolve("users"));
    assertThatThrownBy(() -> start(backup))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("its file users is missing");
  }
}
