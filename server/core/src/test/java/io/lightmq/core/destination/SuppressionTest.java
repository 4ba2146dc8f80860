package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SuppressionTest {
  @Test
  void theDefaultWindowIsAHundredThousandKeysAndAnHour() {
    assertThat(Suppression.parse("message-id"))
        .isEqualTo(new Suppression(null, 100_000, 3_600_000));
    assertThat(Suppression.parse(" property:orderId , time=5m ,keys=10"))
        .isEqualTo(new Suppression("orderId", 10, 300_000));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"message-id", "property:a.b", "property:x,keys=1,time=1ms", "message-id,time=2d"})
  void itsTextSaysTheSame(String text) {
    Suppression parsed = Suppression.parse(text);
    assertThat(Suppression.parse(parsed.toString())).isEqualTo(parsed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "id",
        "property:",
        "message-id,",
        "message-id,keys=0",
        "message-id,keys=x",
        "message-id,keys=10000001",
        "message-id,time=5",
        "message-id,time=0s",
        "message-id,time=366d",
        "message-id,time=99999999999999999d",
        "message-id,window=3"
      })
  void anythingElseIsToldWithWhatWouldBeRight(String text) {
    assertThatThrownBy(() -> Suppression.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("suppress-duplicates ")
        .hasMessageContaining("message-id or property:NAME");
  }
}
