package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The look at a broker's log, shown what must not be in it. */
class LogScanTest {

  private static final String FINE =
      "2026-11-30T10:19:26.775Z INFO  [io-1-1] Connections - Closing connection 7 of anonymous\n";

  @TempDir private Path folder;

  @Test
  void ordinaryLinesAreFine() throws IOException {
    String quoted =
        "2026-11-30T10:19:26.775Z WARN  [io-1-1] Login - user x\\n2026-11-30 ERROR forged\n";
    LogScan scan = scan(FINE + quoted + "LightMQ ready on 127.0.0.1:1, data in /tmp\n");
    assertThat(scan.findings()).isEmpty();
    assertThat(scan.bytes()).isEqualTo(Files.size(folder.resolve("log")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-11-30T10:19:26.775Z ERROR [shard] Shard - unforeseen",
        "\tat io.lightmq.core.shard.Shard.run(Shard.java:1)",
        "    at java.base/java.lang.Thread.run(Thread.java:1)",
        "java.lang.NullPointerException: x",
        "Exception in thread \"io-1-1\" java.lang.OutOfMemoryError: Java heap space",
        "Caused by: java.io.IOException: x",
        "2026-11-30T10:19:26.775Z WARN  [io] Login - user a\rb",
        "2026-11-30T10:19:26.775Z WARN  [io] Login - user \u001b[2J",
        "2026-11-30T10:19:26.775Z WARN  [io] Login - user \u2028b",
        "2026-11-30T10:19:26.775Z WARN  [io] Login - user \u0000",
        "2026-11-30T10:19:26.775Z WARN  [io] Login - user \u009b2J"
      })
  void aLineThatMustNotBeThereIsFound(String line) throws IOException {
    assertThat(scan(FINE + line + "\n" + FINE).findings()).hasSize(1);
  }

  @Test
  void aLineWithoutAnEndIsLookedAt() throws IOException {
    assertThat(scan(FINE + "2026-11-30T10:19:26Z ERROR [x] y").findings()).hasSize(1);
  }

  @Test
  void aLineThatLiesInTwoChunksIsFound() throws IOException {
    String much = FINE.repeat((1 << 20) / FINE.length());
    String error = "2026-11-30T10:19:26.775Z ERROR [shard] Shard - " + "x".repeat(200) + "\n";
    assertThat(scan(much + error + FINE).findings()).hasSize(1);
  }

  @Test
  void whatLiesBeforeTheOffsetIsNotLookedAt() throws IOException {
    String error = "2026-11-30T10:19:26.775Z ERROR [shard] Shard - x\n";
    Path log = Files.writeString(folder.resolve("log"), error + FINE);
    LogScan scan = LogScan.of(log, error.length());
    assertThat(scan.findings()).isEmpty();
    assertThat(scan.bytes()).isEqualTo(FINE.length());
  }

  private LogScan scan(String text) throws IOException {
    return LogScan.of(Files.writeString(folder.resolve("log"), text), 0);
  }
}
