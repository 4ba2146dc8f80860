package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HealthTest {
  private boolean failed;
  private long turnNanos;
  private final Health health = new Health(() -> failed, () -> turnNanos);

  @Test
  void aBrokerWithShortTurnsIsWell() {
    turnNanos = 900_000_000L;
    assertThat(health.health().status()).isEqualTo(200);
    assertThat(health.readiness().status()).isEqualTo(200);
  }

  @Test
  void aStuckTurnIsToldWithItsSeconds() {
    turnNanos = 21_140_000_000L;
    assertThat(health.health().status()).isEqualTo(503);
    assertThat(health.health().body()).contains("stuck", "21.1 s");
    assertThat(health.readiness().status()).isEqualTo(503);
    assertThat(health.readiness().body()).contains("21.1 s");
    turnNanos = 0;
    assertThat(health.health().body()).isEqualTo("ok\n");
    assertThat(health.readiness().body()).isEqualTo("ready\n");
  }

  @Test
  void failureAndClosingAreTold() {
    health.closing();
    assertThat(health.health().status()).isEqualTo(200);
    assertThat(health.readiness().body()).isEqualTo("closing\n");
    failed = true;
    assertThat(health.health().body()).isEqualTo("failed\n");
  }
}
