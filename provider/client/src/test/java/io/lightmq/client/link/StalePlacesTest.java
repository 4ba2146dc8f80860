package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.channel.DefaultEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Places of a lost connection, whose turn on the loop comes when the next one is there. */
class StalePlacesTest {
  private static final List<Frame.Acked> ONE =
      List.of(new Frame.Acked(1, 2, List.of(new SequenceRange(4, 7, 1))));

  private final DefaultEventLoop loop = new DefaultEventLoop();
  private final List<Frame> written = new ArrayList<>();
  private final Requests requests = new Requests(loop, 10_000, written::add, () -> false);
  private final Places places = new Places(new Asking(loop, requests, () -> true, () -> false));

  @AfterEach
  void stop() throws Exception {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
  }

  private <T> T onLoop(Callable<T> call) throws Exception {
    return loop.submit(call).get(10, TimeUnit.SECONDS);
  }

  @Test
  void anAcknowledgementFailsAndDoesNotGoOut() throws Exception {
    CompletableFuture<Void> stale = places.acknowledge(ONE, () -> true);
    assertThatThrownBy(() -> stale.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            LinkException.class,
            failure -> {
              assertThat(failure.code()).isEqualTo(FaultCode.NOT_IN_FLIGHT);
              assertThat(failure.isUnsent()).isTrue();
            });
    assertThat(onLoop(() -> List.copyOf(written))).isEmpty();
  }

  @Test
  void aReturnIsDoneAndDoesNotGoOut() throws Exception {
    places.giveBack(ONE, true, null, () -> true).get(10, TimeUnit.SECONDS);
    assertThat(onLoop(() -> List.copyOf(written))).isEmpty();
  }

  @Test
  void whatIsNotStaleGoesOut() throws Exception {
    CompletableFuture<Void> acknowledged = places.acknowledge(ONE, () -> false);
    CompletableFuture<Void> returned = places.giveBack(ONE, false, null, () -> false);
    List<Frame> out = onLoop(() -> List.copyOf(written));
    assertThat(out).hasSize(2);
    assertThat(out.get(0)).isInstanceOf(Frame.Acknowledge.class);
    assertThat(out.get(1)).isInstanceOf(Frame.Return.class);
    for (Frame frame : out) {
      assertThat(onLoop(() -> requests.answered(new Frame.Ok(frame.correlation())))).isTrue();
    }
    acknowledged.get(10, TimeUnit.SECONDS);
    returned.get(10, TimeUnit.SECONDS);
  }

  @Test
  void afterTheEndOfTheLoopNothingWaitsForEver() throws Exception {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
    assertThatThrownBy(() -> places.acknowledge(ONE, () -> false).get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LinkException.class);
    places.giveBack(ONE, true, null, () -> false).get(10, TimeUnit.SECONDS);
  }
}
