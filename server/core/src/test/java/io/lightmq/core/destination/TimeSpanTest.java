package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeSpanTest {
  @ParameterizedTest
  @CsvSource({"0ms,0", "7s,7000", "' 5 M ',300000", "2h,7200000", "1d,86400000"})
  void aNumberWithItsUnitIsRead(String text, long millis) {
    assertThat(TimeSpan.millis(text)).isEqualTo(millis);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "m", "-5m", "1.5h", "5 min", "\u0665m", "1h30m"})
  void whatIsNoneIsRefused(String text) {
    assertThatThrownBy(() -> TimeSpan.millis(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + text + "\" is no number with ms, s, m, h or d");
  }

  @Test
  void whatCannotBeCountedIsRefused() {
    for (String text : new String[] {"99999999999999999d", "99999999999999999999ms"}) {
      assertThatThrownBy(() -> TimeSpan.millis(text))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("longer than a clock can count");
    }
  }
}
