package io.lightmq.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SampleTextTest {

  @TempDir Path directory;

  @Test
  void isTheSameEachTime() throws IOException {
    Path first = directory.resolve("first");
    Path second = directory.resolve("second");
    SampleText.write(first, 2_000);
    SampleText.write(second, 2_000);
    assertThat(Files.mismatch(first, second)).isEqualTo(-1);
  }

  @Test
  void holdsEveryKindOfLine() throws IOException {
    Path file = directory.resolve("text");
    SampleText.write(file, 2_000);
    List<byte[]> lines = new ArrayList<>();
    try (LineReader reader = LineReader.open(file)) {
      byte[] line = reader.next();
      while (line != null) {
        lines.add(line);
        line = reader.next();
      }
    }
    assertThat(lines).hasSize(2_000);
    assertThat(lines).anyMatch(line -> line.length == 1);
    assertThat(lines).anyMatch(line -> line.length > 1 && line[line.length - 2] == '\r');
    assertThat(lines).anyMatch(line -> line.length == 1 << 20);
    assertThat(lines).anyMatch(line -> !isUtf8(line));
    Set<Long> different = new HashSet<>();
    lines.forEach(line -> different.add(ContentHash.of(line)));
    assertThat(different).hasSizeBetween(1_500, 1_999);
    byte[] last = lines.get(1_999);
    assertThat(last[last.length - 1]).isNotEqualTo((byte) '\n');
  }

  @Test
  void theDefaultFileIsLongEnough() {
    assertThat(SampleText.LINES).isGreaterThanOrEqualTo(100_000);
  }

  private static boolean isUtf8(byte[] line) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
