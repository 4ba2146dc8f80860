package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What an application takes on with an embedded broker: the build writes its runtime class path
 * into a file.
 */
class ClassPathTest {
  private static final int OWN_BYTES = 2 << 20;
  private static final int OTHERS = 12;
  private static final Path LIST = Path.of("target/runtime-classpath.txt");

  private final List<Path> own = new ArrayList<>();
  private final List<Path> others = new ArrayList<>();

  private void readList() throws IOException {
    own.add(Path.of("target/classes"));
    for (String entry : Files.readString(LIST).strip().split(java.io.File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      boolean ours = entry.contains("lightmq-") || path.endsWith("target/classes");
      (ours ? own : others).add(path);
    }
  }

  @Test
  void ownClassesHaveAtMostTwoMebibytes() throws IOException {
    readList();
    long bytes = 0;
    for (Path each : own) {
      try (Stream<Path> files = Files.walk(each)) {
        bytes += files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
      }
    }
    assertThat(own).as("own modules").hasSizeGreaterThanOrEqualTo(6);
    assertThat(bytes).as("bytes of " + own).isBetween(100_000L, (long) OWN_BYTES);
  }

  @Test
  void atMostTwelveOtherJarsAreNeeded() throws IOException {
    readList();
    assertThat(others).as("jars of others").hasSizeBetween(5, OTHERS);
  }
}
