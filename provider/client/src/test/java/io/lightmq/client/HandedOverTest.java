package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.HandedOver.Taken;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is remembered of messages that were lost with connections. */
class HandedOverTest {
  private final Gate gate = new Gate(() -> false);
  private final HandedOver handedOver = new HandedOver(AckMode.INDIVIDUAL, gate);

  private boolean add(Arrived message) {
    return gate.look(() -> handedOver.add(message, handedOver.losses()));
  }

  private static Arrived message(long number) {
    return new Arrived(null, number, 1, 4, number, 1, new byte[0]).placeOnly();
  }

  /** So many that are never acknowledged, each lost with a connection of its own. */
  private void lose(long count) {
    for (long number = 0; number < count; number++) {
      add(message(number));
      assertThat(gate.look(handedOver::lost)).hasSize(1);
    }
  }

  @BeforeEach
  void losesOneMoreThanItRemembers() {
    lose(HandedOver.MAX_LOST + 1L);
  }

  @Test
  void oneThatIsForgottenIsStillNotTakenForSettled() {
    for (long number : new long[] {0, 1, HandedOver.MAX_LOST}) {
      Taken taken = handedOver.take(message(number));
      assertThat(taken.isLost()).as("message %d", number).isTrue();
      assertThat(taken.open()).isEmpty();
    }
  }

  @Test
  void oneThatCameLaterIsSettledOnce() {
    Arrived later = message(HandedOver.MAX_LOST + 5L);
    add(later);
    assertThat(handedOver.take(later).open()).containsExactly(later);
    assertThat(handedOver.take(later).isLost()).isFalse();
  }

  @Test
  void aRecoverForgetsAll() {
    assertThat(handedOver.take().isLost()).isTrue();
    assertThat(handedOver.take(message(0)).isLost()).isFalse();
    assertThat(handedOver.take(message(HandedOver.MAX_LOST)).isLost()).isFalse();
  }
}
