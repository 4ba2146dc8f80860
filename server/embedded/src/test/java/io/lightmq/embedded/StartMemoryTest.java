package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSException;
import java.io.File;
import java.io.IOException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker for which there is too little direct memory refuses to start, and leaves nothing. */
@Timeout(60)
class StartMemoryTest {
  private static final String LEFT = "left: ";

  @TempDir Path directory;

  /** An application of its own. */
  static final class Application {
    public static void main(String[] uris) throws Exception {
      Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
      for (String uri : uris) {
        try {
          new LightmqConnectionFactory(uri).createConnection().close();
          System.out.println("started");
        } catch (JMSException e) {
          System.out.println(e.getMessage());
        }
      }
      for (Thread each : Thread.getAllStackTraces().keySet()) {
        each.join(before.contains(each) ? 1 : 5_000);
        if (each.isAlive() && !before.contains(each)) {
          System.out.println(LEFT + each.getName());
        }
      }
      try (Stream<Path> handles = Files.list(Path.of("/proc/self/fd"))) {
        for (Path each : handles.toList()) {
          if (Files.isSymbolicLink(each) && target(each).contains("lightmq-data")) {
            System.out.println(LEFT + target(each));
          }
        }
      }
    }

    private static String target(Path handle) {
      try {
        return Files.readSymbolicLink(handle).toString();
      } catch (IOException closedMeanwhile) {
        return "";
      }
    }
  }

  private static String classPath() {
    return StartMemoryTest.class.getClassLoader() instanceof URLClassLoader loader
        ? Arrays.stream(loader.getURLs())
            .map(each -> new File(each.getPath()).toString())
            .collect(Collectors.joining(File.pathSeparator))
        : System.getProperty("java.class.path");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1m", "8m", "15m"})
  void tooLittleDirectMemoryIsToldWithTheNumbers(String memory) throws Exception {
    String file = "lightmq:file:" + directory.resolve("lightmq-data");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:MaxDirectMemorySize=" + memory,
                "-cp",
                classPath(),
                Application.class.getName(),
                file,
                "lightmq:mem",
                file,
                "lightmq:mem")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    List<String> told;
    try (Stream<String> lines = process.inputReader().lines()) {
      told = lines.toList();
    } finally {
      process.destroyForcibly().waitFor();
    }
    assertThat(told)
        .hasSize(4)
        .allSatisfy(
            line ->
                assertThat(line)
                    .contains(
                        "-XX:MaxDirectMemorySize",
                        Integer.toString(EmbeddedSettings.WINDOW_BYTES)));
  }
}
