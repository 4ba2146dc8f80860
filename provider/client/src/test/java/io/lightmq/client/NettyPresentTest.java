package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NettyPresentTest {
  @ParameterizedTest
  @ValueSource(strings = {"3.10.6.Final", "4.0.56.Final", "4.1.99.Final", "4.1.9.Final"})
  void olderThanTheOldestIsTooOld(String version) {
    assertThat(NettyPresent.isTooOld(version)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"4.1.100.Final", "4.1.133.Final", "4.2.0.Final", "4.2.18.Final", "5.0.0.Alpha1"})
  void othersAreTried(String version) {
    assertThat(NettyPresent.isTooOld(version)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "unknown", "4", "99999999999.1.1"})
  void whatIsNoVersionIsTried(String version) {
    assertThat(NettyPresent.isTooOld(version)).isFalse();
  }

  @Test
  void ourOwnFits() {
    assertThatCode(NettyPresent::check).doesNotThrowAnyException();
  }
}
