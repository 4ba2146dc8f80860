package io.lightmq.tck.hostile;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** What changed frames have in common: each kind of change is among them. */
class MutationTest {

  private static final int MANY = 10_000;
  private static final byte[] FRAME =
      new FrameBytes(22, 7).v(1).v(300).u8(1).text("a queue's name").done();
  private static final byte[] OTHER =
      new FrameBytes(40, 9).raw("zzzzzzzz".getBytes(ISO_8859_1)).done();

  @Test
  void almostAllDifferAndMostAreWholeSoThatTheirFieldsAreRead() {
    assertThat(count(changed -> !Arrays.equals(changed, FRAME))).isGreaterThan(MANY * 9L / 10);
    assertThat(count(FrameBytes::isWhole)).isBetween(MANY / 2L, MANY * 95L / 100);
  }

  @Test
  void typeLengthCorrelationAndFieldsAreChanged() {
    assertThat(count(changed -> FrameBytes.type(changed) != 22)).isGreaterThan(MANY / 50);
    assertThat(count(changed -> !FrameBytes.isWhole(changed))).isGreaterThan(MANY / 50);
    assertThat(count(changed -> changed.length > 12 && FrameBytes.correlation(changed) != 7))
        .isGreaterThan(MANY / 50);
    assertThat(count(changed -> changed.length > FRAME.length)).isGreaterThan(MANY / 10);
    assertThat(count(changed -> changed.length < FRAME.length)).isGreaterThan(MANY / 20);
    assertThat(count(changed -> new String(changed, ISO_8859_1).contains("zz")))
        .isGreaterThan(MANY / 100);
  }

  @Test
  void aFrameFollowsFromItsSeed() {
    assertThat(Mutation.of(FRAME, List.of(OTHER), new SplittableRandom(3)))
        .isEqualTo(Mutation.of(FRAME, List.of(OTHER), new SplittableRandom(3)));
  }

  private static long count(Predicate<byte[]> what) {
    SplittableRandom random = new SplittableRandom(1);
    int found = 0;
    for (int i = 0; i < MANY; i++) {
      found += what.test(Mutation.of(FRAME, List.of(OTHER), random)) ? 1 : 0;
    }
    return found;
  }
}
