package io.lightmq.node.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import org.jspecify.annotations.Nullable;

/**
 * Notices that bytes wait to be written and none of them goes out, or that some have. Its place is
 * directly above the socket, where it counts the writes that are done. Event loop only.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class StallWatch extends ChannelOutboundHandlerAdapter {
  private final Channel channel;
  private final ChannelFutureListener counting = this::written;
  private @Nullable Runnable whenWritten;
  private boolean waited;
  private long writes;
  private long lastWrites;
  private long lastProgress;

  StallWatch(Channel channel) {
    this.channel = channel;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    ctx.write(message, promise.unvoid().addListener(counting));
  }

  private void written(ChannelFuture done) {
    writes++;
    Runnable next = whenWritten;
    if (next != null) {
      whenWritten = null;
      channel.eventLoop().execute(next); // once the flush is over, and all is counted
    }
  }

  /** Has a task run once, after the next write that is done; one at a time. */
  void whenWritten(Runnable task) {
    whenWritten = task;
  }

  /** Whether nothing has gone out since the call before although something waits. */
  boolean stalled() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    if (buffer == null || buffer.isEmpty()) {
      waited = false;
      return false;
    }
    long progress = buffer.currentProgress();
    boolean stalled = waited && writes == lastWrites && progress == lastProgress;
    waited = true;
    lastWrites = writes;
    lastProgress = progress;
    return stalled;
  }
}
