package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.netty.channel.DefaultEventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Calls that come in the moment in which the link's loop ends. */
class EndedLoopTest {
  private static DefaultEventLoop ended() throws Exception {
    DefaultEventLoop loop = new DefaultEventLoop();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
    return loop;
  }

  @Test
  void aSendFailsThroughItsReceipt() throws Exception {
    Outbox outbox = new Outbox(SETTINGS, ended(), () -> {});
    BrokerLink.Target target =
        new BrokerLink.Target(1, 1, new DestinationName(DestinationKind.QUEUE, "orders"));
    BrokerLink.Sending sending = outbox.send(target, true, new byte[10]);
    assertThatThrownBy(() -> sending.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LinkException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void whatMustBeAnsweredIsDoneOnTheCallingThread() throws Exception {
    DefaultEventLoop loop = ended();
    Requests requests = new Requests(loop, 10_000, (Frame frame) -> {}, () -> false);
    Asking asking = new Asking(loop, requests, () -> false, () -> true);
    AtomicReference<Thread> ran = new AtomicReference<>();
    asking.onLoopOrAfterIt(() -> ran.set(Thread.currentThread()));
    assertThat(ran).hasValue(Thread.currentThread());
  }

  @Test
  void anInterruptedThreadWaitsToTheEndAndKeepsItsInterrupt() throws Exception {
    CompletableFuture<String> answer = new CompletableFuture<>();
    Thread other = new Thread(() -> answer.complete("late"));
    Thread.currentThread().interrupt();
    other.start();
    assertThat(Uninterrupted.get(answer)).isEqualTo("late");
    Uninterrupted.join(other);
    assertThat(other.isAlive()).isFalse();
    assertThat(Uninterrupted.ended(answer, 1_000)).isTrue();
    assertThat(Uninterrupted.ended(new CompletableFuture<>(), 1)).isFalse();
    assertThat(Thread.interrupted()).isTrue();
  }

  private static final LinkSettings SETTINGS =
      new LinkSettings(
          ClientUri.parse("lightmq://localhost"),
          LinkSettings.Credentials.NONE,
          null,
          new LinkSettings.Timeouts(1_000, 20, 1_000),
          new LinkSettings.Batching(1 << 20, 1, 0),
          new LinkSettings.Reconnect(true, false, 5, 2, 5, -1, 0));
}
