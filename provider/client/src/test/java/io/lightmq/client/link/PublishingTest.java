package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.DefaultEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublishingTest {
  private final DefaultEventLoop loop = new DefaultEventLoop();
  private final List<Frame> written = new ArrayList<>();

  @AfterEach
  void stop() throws Exception {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
  }

  private <T> T onLoop(Callable<T> call) throws Exception {
    return loop.submit(call).get(10, TimeUnit.SECONDS);
  }

  private static Item.Commit commit() {
    return new Item.Commit(1, List.of(), List.of(), null, null);
  }

  @Test
  void aCommitThatIsGivenUpBetweenAttachAndItsAnswerLeavesNoHoleInTheNumbers() throws Exception {
    LinkSettings settings =
        new LinkSettings(
            ClientUri.parse("lightmq://localhost"),
            LinkSettings.Credentials.NONE,
            null,
            new LinkSettings.Timeouts(1_000, 20, 1_000),
            new LinkSettings.Batching(1 << 20, 1, 0),
            new LinkSettings.Reconnect(true, false, 5, 2, 5, -1, 0));
    Publishing publishing =
        new Publishing(settings, loop, UnpooledByteBufAllocator.DEFAULT, written::add);
    CompletableFuture<Void> lost =
        onLoop(
            () -> {
              CompletableFuture<Void> commit = publishing.settle(commit());
              assertThat(publishing.attaching(1, true)).isEqualTo(1);
              return commit;
            });
    assertThatThrownBy(() -> lost.get(10, TimeUnit.SECONDS)).hasMessageContaining("was not sent");
    onLoop(
        () -> {
          publishing.attached(new Frame.Attached(1, 0, List.of(), 1 << 20));
          publishing.resume(Set.of(), () -> {});
          return publishing.settle(commit());
        });
    assertThat(written).hasSize(1);
    assertThat(((Frame.Commit) written.get(0)).number()).isEqualTo(1);
  }
}
