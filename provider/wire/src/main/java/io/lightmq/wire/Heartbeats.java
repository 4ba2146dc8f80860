package io.lightmq.wire;

import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a connection alive and notices when its peer is not: after a third of the interval without
 * a write it sends a {@link Frame.Heartbeat}; after three intervals without a byte read it raises a
 * {@link ProtocolException} with HEARTBEAT_LOST. It counts bytes, so that a long frame in transit
 * is a sign of life: its place is directly above the socket or TLS, below decoder and encoder.
 *
 * <p>While reading is switched off here, silence is not the peer's fault and does not count.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel
public final class Heartbeats extends ChannelDuplexHandler {
  private final long intervalNanos;
  private final ToLongFunction<ChannelHandlerContext> clock;
  private long lastReadNanos;
  private long lastWriteNanos;
  private @Nullable Future<?> nextLook;

  /**
   * For an interval from the broker's Welcome.
   *
   * @param intervalMillis 0 switches heartbeats off
   */
  public Heartbeats(int intervalMillis) {
    // A loop can be asked for its own clock in Netty 4.2 only.
    this(intervalMillis, context -> System.nanoTime());
  }

  Heartbeats(int intervalMillis, ToLongFunction<ChannelHandlerContext> clock) {
    this.clock = clock;
    this.intervalNanos = TimeUnit.MILLISECONDS.toNanos(intervalMillis);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    if (context.channel().isActive()) {
      start(context);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    start(context);
    context.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    stop();
    context.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    stop();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    lastReadNanos = now(context);
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    lastWriteNanos = now(context);
    context.write(message, promise);
  }

  private void start(ChannelHandlerContext context) {
    if (intervalNanos > 0 && nextLook == null) {
      lastReadNanos = now(context);
      lastWriteNanos = lastReadNanos;
      look(context);
    }
  }

  private void stop() {
    if (nextLook != null) {
      nextLook.cancel(false);
      nextLook = null;
    }
  }

  private void look(ChannelHandlerContext context) {
    long now = now(context);
    if (!context.channel().config().isAutoRead()) {
      lastReadNanos = now;
    }
    long silentNanos = now - lastReadNanos;
    if (silentNanos >= 3 * intervalNanos) {
      nextLook = null;
      context.fireExceptionCaught(
          new ProtocolException(
              FaultCode.HEARTBEAT_LOST,
              "nothing came from the peer for "
                  + TimeUnit.NANOSECONDS.toMillis(silentNanos)
                  + " ms; the heartbeat interval is "
                  + TimeUnit.NANOSECONDS.toMillis(intervalNanos)
                  + " ms"));
      return;
    }
    if (now - lastWriteNanos >= intervalNanos / 3) {
      lastWriteNanos = now;
      if (context.channel().isWritable()) { // else there is enough to send
        context.writeAndFlush(FrameCodec.encode(new Frame.Heartbeat(), context.alloc()));
      }
    }
    long next =
        Math.min(lastWriteNanos + intervalNanos / 3, lastReadNanos + 3 * intervalNanos) - now;
    nextLook =
        context.executor().schedule(() -> look(context), Math.max(1, next), TimeUnit.NANOSECONDS);
  }

  private long now(ChannelHandlerContext context) {
    return clock.applyAsLong(context);
  }
}
