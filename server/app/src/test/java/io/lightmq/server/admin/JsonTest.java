package io.lightmq.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-7",
        "999999999999999999",
        "2305843009213693954",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808"
      })
  void wholeNumbersArePrintedDigitForDigit(String digits) {
    assertThat(String.valueOf(Json.parse(digits))).isEqualTo(digits);
  }
}
