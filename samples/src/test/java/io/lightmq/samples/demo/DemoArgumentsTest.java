package io.lightmq.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoArgumentsTest {
  @TempDir Path folder;

  private static String wrong(Object... arguments) {
    String[] texts = new String[arguments.length];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = arguments[i].toString();
    }
    return Demo.wrongArguments(texts);
  }

  @Test
  void nothingAndAFileWithALineAreRight() throws IOException {
    assertThat(wrong()).isNull();
    assertThat(wrong(Files.writeString(folder.resolve("lines"), "one"))).isNull();
  }

  @Test
  void everythingElseIsRefusedInOneSentence() throws IOException {
    assertThat(wrong(folder.resolve("gone"))).startsWith("There is no file").contains("gone");
    assertThat(wrong(folder)).contains("is a directory, a file is needed");
    assertThat(wrong(Files.createFile(folder.resolve("empty")))).contains("empty is empty");
    assertThat(wrong("a", "b")).contains("not 2 arguments");
    assertThat(wrong("--help")).contains("killed on the way").doesNotContain("no file");
  }
}
