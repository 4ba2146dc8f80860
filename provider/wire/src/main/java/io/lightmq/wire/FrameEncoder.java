package io.lightmq.wire;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;

/** Turns frames into bytes; one object serves all connections. */
@ChannelHandler.Sharable
@SuppressWarnings("FutureReturnValueIgnored") // the promise has it
public final class FrameEncoder extends ChannelOutboundHandlerAdapter {
  /** The one encoder. */
  public static final FrameEncoder INSTANCE = new FrameEncoder();

  private FrameEncoder() {}

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof Frame frame) {
      Object bytes;
      try {
        bytes = FrameCodec.encode(frame, context.alloc());
      } catch (RuntimeException e) {
        promise.tryFailure(e);
        return;
      }
      context.write(bytes, promise);
    } else {
      context.write(message, promise);
    }
  }
}
