package io.lightmq.wire.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearNamesTest {
  @Test
  void distancesCountChangesAndSwaps() {
    assertThat(NearNames.distance("queue", "queue")).isZero();
    assertThat(NearNames.distance("queue", "queeu")).isEqualTo(1);
    assertThat(NearNames.distance("", "abc")).isEqualTo(3);
    assertThat(NearNames.distance("kitten", "sitting")).isEqualTo(3);
  }

  @Test
  void theNearestComesFirstAndWhatIsLikeNoneHasNoNearName() {
    List<String> known = List.of("prefetchBytes", "prefetchMessages", "user");
    assertThat(NearNames.of("prefetchByte", known, 2)).first().isEqualTo("prefetchBytes");
    assertThat(NearNames.of("usre", known, 1)).containsExactly("user");
    assertThat(NearNames.of("zzzzzzzz", known, 3)).isEmpty();
  }
}
