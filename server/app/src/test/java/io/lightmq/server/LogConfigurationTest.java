package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.status.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration of the log that the server is shipped with. */
class LogConfigurationTest {
  private static final Path SHIPPED = Path.of("src/main/dist/conf/logback.xml");

  @TempDir Path directory;

  private final LoggerContext context = new LoggerContext();

  private Path configured() throws Exception {
    Path file = directory.resolve("log/lightmq.log");
    context.setMDCAdapter(new LogbackMDCAdapter());
    context.putProperty("lightmq.log", "file");
    context.putProperty("LIGHTMQ_LOG_FILE", file.toString());
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(SHIPPED.toFile());
    return file;
  }

  private void end() {
    context.stop();
    assertThat(context.getStatusManager().getCopyOfStatusList())
        .filteredOn(status -> status.getLevel() == Status.ERROR)
        .isEmpty();
  }

  @Test
  void noControlCharacterOfAMessageReachesTheFile() throws Exception {
    Path file = configured();
    Logger log = context.getLogger("io.lightmq.Test");
    log.info("before\t{}\nafter", "\u001b[2J\u009b\u0000\u2028\r");
    log.error("failed", new IllegalStateException("x\u001b[2J\n2026-11-30 ERROR forged"));
    end();
    List<String> lines = Files.readAllLines(file);
    assertThat(lines.get(0)).endsWith("INFO  [main] Test - before\t?[2J?????after");
    assertThat(lines.get(1)).endsWith("ERROR [main] Test - failed");
    assertThat(lines.get(2)).isEqualTo("java.lang.IllegalStateException: x?[2J");
    assertThat(lines.get(3)).isEqualTo("  2026-11-30 ERROR forged");
    assertThat(lines.get(4)).startsWith("\tat io.lightmq.server.LogConfigurationTest");
    assertThat(lines).filteredOn(line -> line.startsWith("2")).hasSize(2);
  }

  @Test
  void theFileIsRolledOverBySizeAndNeverTakesMoreThanItsShare() throws Exception {
    String shipped = Files.readString(SHIPPED);
    assertThat(shipped).contains("<maxFileSize>20MB<", "<totalSizeCap>200MB<", "%i.gz");
    Path file = configured();
    Logger log = context.getLogger("io.lightmq.Test");
    String text = "x".repeat(1_000_000);
    for (int i = 0; i < 24; i++) {
      log.info(text);
    }
    end();
    assertThat(Files.size(file)).isLessThan(24_000_000);
  }
}
