package io.lightmq.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class LineReaderTest {

  @Test
  void keepsBlankLinesLineEndsAndAnUnfinishedLastLine() throws IOException {
    assertThat(texts("a\n\n\r\nb\r\nlast")).containsExactly("a\n", "\n", "\r\n", "b\r\n", "last");
  }

  @Test
  void anEmptyFileHasNoLines() throws IOException {
    assertThat(texts("")).isEmpty();
  }

  @Test
  void refusesALineThatDoesNotFitIntoAMessage() {
    byte[] tooLong = new byte[LineReader.MAX_LINE_BYTES + 2];
    tooLong[0] = '\n';
    assertThatThrownBy(() -> lines(tooLong))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2 is longer than");
  }

  @Property(tries = 200)
  void theLinesInOrderAreTheFile(@ForAll @Size(max = 400) byte[] file) throws IOException {
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    for (byte[] line : lines(file)) {
      joined.write(line);
    }
    assertThat(joined.toByteArray()).isEqualTo(file);
  }

  private static List<String> texts(String file) throws IOException {
    return lines(file.getBytes(StandardCharsets.US_ASCII)).stream()
        .map(line -> new String(line, StandardCharsets.US_ASCII))
        .toList();
  }

  private static List<byte[]> lines(byte[] file) throws IOException {
    List<byte[]> lines = new ArrayList<>();
    try (LineReader reader = new LineReader(new ByteArrayInputStream(file))) {
      byte[] line = reader.next();
      while (line != null) {
        lines.add(line);
        line = reader.next();
      }
    }
    return lines;
  }
}
