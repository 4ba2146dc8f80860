package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StallWatchTest {
  private int taken;

  /** A socket that takes as many writes as it is allowed to. */
  private final EmbeddedChannel channel =
      new EmbeddedChannel() {
        @Override
        protected void doWrite(ChannelOutboundBuffer buffer) {
          while (taken > 0 && buffer.remove()) {
            taken--;
          }
        }
      };

  private final StallWatch watch = new StallWatch(channel);
  private final ByteBuf recycled = Unpooled.buffer(100).writeZero(100);

  StallWatchTest() {
    channel.pipeline().addFirst(watch);
  }

  @AfterEach
  void close() {
    channel.close();
  }

  private void write() {
    channel.writeAndFlush(recycled.retain(), channel.voidPromise());
  }

  @Test
  void nothingToWriteIsNoStall() {
    assertThat(watch.stalled()).isFalse();
    assertThat(watch.stalled()).isFalse();
  }

  @Test
  void whatWaitsFromOneLookToTheNextIsAStall() {
    write();
    assertThat(watch.stalled()).isFalse();
    assertThat(watch.stalled()).isTrue();
  }

  @Test
  void aWriteThatIsDoneIsProgressThoughTheNextOneUsesTheSameBuffer() {
    write();
    write();
    assertThat(watch.stalled()).isFalse();
    taken = 1;
    channel.flush();
    write();
    assertThat(watch.stalled()).isFalse();
    assertThat(watch.stalled()).isTrue();
  }
}
