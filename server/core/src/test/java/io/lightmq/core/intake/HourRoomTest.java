package io.lightmq.core.intake;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.state.Refusal;
import org.junit.jupiter.api.Test;

/** Each bound counts what is its own: all hours, or those of one destination. */
class HourRoomTest {
  private final HourRoom room = new HourRoom(2L * 400 * HourRoom.HOLDER_BYTES);

  @Test
  void whatAPlanCreatesForOthersCountsForAllOnly() {
    assertThatCode(() -> room.check(1, 350, 0, 50)).doesNotThrowAnyException();
    assertThatThrownBy(() -> room.check(1, 350, 0, 51))
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("of all destinations are 400");
  }

  @Test
  void whatItCreatesForTheSameOneCountsForBoth() {
    assertThatCode(() -> room.check(1, 290, 290, 10)).doesNotThrowAnyException();
    assertThatThrownBy(() -> room.check(1, 290, 290, 11))
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("of one destination are 300");
  }
}
