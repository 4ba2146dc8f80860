package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lightmq.tck.hostile.Listener;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The honest client, shown a broker that keeps nothing. */
class CanaryTest {

  @TempDir private Path folder;

  @Test
  void aBrokerThatConfirmsAndKeepsNothingIsFound() throws Exception {
    try (Listener broker = new Listener();
        EventLog events = new EventLog(folder.resolve("events.log"));
        Canary canary = new Canary("lightmq://127.0.0.1:" + broker.port(), 1, events, 100)) {
      await().until(() -> canary.confirmed() >= 5);
      Check check = canary.finish();
      assertThat(check.confirmed()).isGreaterThanOrEqualTo(5);
      assertThat(check.lost()).isEqualTo(check.confirmed());
      assertThat(check.violations()).isNotEmpty();
    }
  }
}
