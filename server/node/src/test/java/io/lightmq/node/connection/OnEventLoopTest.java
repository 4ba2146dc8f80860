package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.local.LocalChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What belongs to the event loop of a connection is touched there. */
@Timeout(30)
class OnEventLoopTest {
  @Test
  void whatGoesOutIsWrittenOnTheEventLoopOnly() throws InterruptedException {
    DefaultEventLoop loop = new DefaultEventLoop();
    try {
      LocalChannel channel = new LocalChannel();
      loop.register(channel).await();
      Outbound outbound =
          new Outbound(channel, 1, "orders", false, ConnectionSettings.defaults(), null, null);
      assertThatThrownBy(outbound::roomChanged)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("was called on thread " + Thread.currentThread().getName());
      assertThat(loop.submit(outbound::roomChanged).await().isSuccess()).isTrue();
    } finally {
      loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
    }
  }
}
