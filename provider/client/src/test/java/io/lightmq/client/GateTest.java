package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What a gate guards is touched with its lock held, and only so. */
class GateTest {
  private final Gate gate = new Gate(() -> false);
  private final HandedOver handedOver = new HandedOver(AckMode.INDIVIDUAL, gate);

  private static void isFound(Runnable call) {
    assertThatThrownBy(call::run)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("thread " + Thread.currentThread().getName())
        .hasMessageContaining("without the lock of its gate");
  }

  @Test
  void whoeverDoesNotHoldTheLockIsFound() {
    isFound(gate::checkHeld);
    isFound(gate::signal);
    isFound(gate::isEnding);
    isFound(() -> gate.linkUp(false));
    isFound(handedOver::lost);
    isFound(handedOver::lossFromNow);
    isFound(() -> new Acknowledging(AckMode.AUTO, null, gate).flush());
  }

  @Test
  void alsoWhileAnotherThreadHoldsIt() throws InterruptedException {
    Thread holder = new Thread(gate::lock);
    holder.start();
    holder.join();
    isFound(handedOver::lost);
  }

  @Test
  void whoeverHoldsItIsNot() {
    assertThatCode(
            () ->
                gate.look(
                    () -> {
                      gate.signal();
                      gate.linkUp(false);
                      return handedOver.lost();
                    }))
        .doesNotThrowAnyException();
  }

  @Test
  void whoeverHoldsItDoesNotWaitForTheBroker() {
    Returning returning = new Returning(AckMode.AUTO, null, gate, handedOver, 1_000);
    gate.lock();
    assertThatThrownBy(() -> returning.inOrder(List.of(), List.of(), List.of(), null, () -> false))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("would wait for the broker and hold the lock of a gate");
  }
}
