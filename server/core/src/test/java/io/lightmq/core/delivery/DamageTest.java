package io.lightmq.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What a failed read says of the messages that were asked for, and of no others. */
class DamageTest {
  private static final IOException FROM_5_TO_8 = new UnreadableException("damaged", 5, 8);

  @Test
  void itIsCutToWhatWasAskedFor() {
    assertThat(Damage.of(FROM_5_TO_8, 1, 20)).isEqualTo(new Damage(5, 8, FROM_5_TO_8));
    assertThat(Damage.of(FROM_5_TO_8, 6, 7)).isEqualTo(new Damage(6, 7, FROM_5_TO_8));
    assertThat(Damage.of(FROM_5_TO_8, 8, 20)).isEqualTo(new Damage(8, 8, FROM_5_TO_8));
  }

  @Test
  void whatLiesElsewhereSaysNothingOfTheMessagesThatWereAskedFor() {
    assertThat(Damage.of(FROM_5_TO_8, 9, 20)).isNull();
    assertThat(Damage.of(FROM_5_TO_8, 1, 4)).isNull();
    assertThat(Damage.of(new IOException("too many open files"), 1, 20)).isNull();
  }
}
