package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnceLogTest {
  private static final int SENT = 5;

  @TempDir Path folder;
  private final SendLog producer = new SendLog(1, "q", 1);
  private Path file;

  @BeforeEach
  void allButTheLastAreConfirmed() {
    file = folder.resolve("processed");
    for (int i = 1; i <= SENT; i++) {
      Stamp stamp = producer.next();
      if (i < SENT) {
        producer.confirmed(stamp);
      } else {
        producer.unknown(stamp);
      }
    }
  }

  private void process(Stamp... stamps) throws IOException {
    try (OnceLog log = new OnceLog(file)) {
      for (Stamp stamp : stamps) {
        log.processed(stamp);
      }
    }
  }

  @Test
  void whatIsMissingIsCountedAndNothingElse() throws Exception {
    process(new Stamp(1, 1), new Stamp(1, 4));
    process(new Stamp(1, 5));
    assertThat(OnceLog.count(file)).isEqualTo(3);
    OnceLog.Result result = OnceLog.check(file, producer);
    assertThat(result.processed()).isEqualTo(3);
    assertThat(result.missing()).isEqualTo(2);
    assertThat(result.violations()).isEmpty();
  }

  @Test
  void aMessageThatWasProcessedTwiceIsFoundWhoeverDidIt() throws Exception {
    process(new Stamp(1, 2));
    process(new Stamp(1, 3), new Stamp(1, 2));
    assertThat(OnceLog.check(file, producer).violations())
        .singleElement()
        .asString()
        .contains("1/2 was processed twice");
  }

  @Test
  void whatNobodySentIsFound() throws Exception {
    process(new Stamp(1, SENT + 1), new Stamp(2, 1), new Stamp(-1, 17));
    assertThat(OnceLog.check(file, producer).violations()).hasSize(3);
  }

  @Test
  void aStampThatAKillTookAPartOfWasNotProcessed() throws Exception {
    process(new Stamp(1, 1));
    Files.write(file, new byte[] {0, 0, 0}, StandardOpenOption.APPEND);
    assertThat(OnceLog.check(file, producer).processed()).isEqualTo(1);
    process(new Stamp(1, 2));
    OnceLog.Result result = OnceLog.check(file, producer);
    assertThat(result.processed()).isEqualTo(2);
    assertThat(result.violations()).isEmpty();
  }

  @Test
  void withoutAFileNothingWasProcessed() throws Exception {
    assertThat(OnceLog.count(file)).isZero();
    assertThat(OnceLog.check(file, producer).missing()).isEqualTo(SENT - 1);
  }
}
