package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Bytes that a format had when it was released, one file each, 16 bytes a line. They are written
 * only with {@code -Dlightmq.golden.write=true}; a difference otherwise fails the test.
 */
public final class Golden {
  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  private Golden() {}

  /** Asserts that the bytes are those of the file. */
  public static void assertSame(String name, byte[] actual) throws IOException {
    String text = dump(actual);
    if (Boolean.getBoolean("lightmq.golden.write")) {
      Path path = Path.of("src/test/resources/golden", name + ".hex");
      Files.createDirectories(path.getParent());
      Files.writeString(path, text);
    } else {
      assertThat(text).as("bytes of " + name).isEqualTo(dump(read(name)));
    }
  }

  /** The bytes of a file. */
  public static byte[] read(String name) throws IOException {
    try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name + ".hex")) {
      assertThat(in).as("golden file " + name).isNotNull();
      String text = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII);
      return HexFormat.of().parseHex(text.replaceAll("\\s", ""));
    }
  }

  private static String dump(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < bytes.length; i += 16) {
      text.append(HEX.formatHex(bytes, i, Math.min(bytes.length, i + 16))).append('\n');
    }
    return text.toString();
  }
}
