package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SeedsTest {
  private final String seed = System.getProperty("lightmq.seed");

  @AfterEach
  void asItWas() {
    set(seed);
  }

  private static void set(String value) {
    if (value == null) {
      System.clearProperty("lightmq.seed");
    } else {
      System.setProperty("lightmq.seed", value);
    }
  }

  @Test
  void aSeedThatIsNoNumberIsToldAndNotPassedOver() {
    set("abc");
    assertThatThrownBy(() -> Seeds.first(1)).hasMessageContaining("-Dlightmq.seed=abc");
    set("4711");
    assertThat(Seeds.first(1)).isEqualTo(4711);
    set(null);
    assertThat(Seeds.first(1)).isEqualTo(1);
  }
}
