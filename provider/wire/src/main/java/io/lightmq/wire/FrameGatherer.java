package io.lightmq.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Gathers what is written in one turn of the event loop, from whatever thread, into one flush. It
 * sits below the encoder.
 *
 * <p>The rule: a flush request is carried out at the end of the turn. Only under load, which means
 * at least {@value #LOAD_FLUSHES} flushes within the last {@value #WINDOW_MILLIS} ms, and while
 * nothing has been read since the last flush, it is put off until {@value #WINDOW_MILLIS} ms after
 * that one, or until something is read: a peer that waits for an answer is never kept waiting by
 * it, because it is the one who would be read from. {@value #MAX_PENDING_BYTES} unflushed bytes, a
 * channel that stops being writable, and closing flush at once.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the promise has it
public final class FrameGatherer extends ChannelDuplexHandler {
  static final int MAX_PENDING_BYTES = 64 * 1024;
  static final int WINDOW_MILLIS = 3;
  static final int LOAD_FLUSHES = 16;

  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(WINDOW_MILLIS);

  private final ToLongFunction<ChannelHandlerContext> clock;
  private int pendingBytes;
  private boolean unflushed;
  private boolean endOfTurn;
  private @Nullable Future<?> putOff;
  private boolean readSinceFlush = true;
  private final long[] flushNanos = new long[LOAD_FLUSHES];
  private long flushes;

  /** For one channel. */
  public FrameGatherer() {
    this(context -> System.nanoTime()); // a loop can be asked for its own clock in Netty 4.2 only
  }

  FrameGatherer(ToLongFunction<ChannelHandlerContext> clock) {
    this.clock = clock;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof ByteBuf bytes) {
      pendingBytes += bytes.readableBytes();
    }
    unflushed = true;
    context.write(message, promise);
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    if (!unflushed) {
      return;
    }
    if (pendingBytes >= MAX_PENDING_BYTES) {
      flushNow(context);
    } else if (!endOfTurn && putOff == null) {
      endOfTurn = true;
      context.executor().execute(() -> endTurn(context));
    }
  }

  private void endTurn(ChannelHandlerContext context) {
    if (!endOfTurn) {
      return;
    }
    endOfTurn = false;
    if (!readSinceFlush && flushes >= LOAD_FLUSHES) {
      long now = now(context);
      long oldest = flushNanos[(int) (flushes % LOAD_FLUSHES)];
      long newest = flushNanos[(int) ((flushes - 1) % LOAD_FLUSHES)];
      if (now - oldest < WINDOW_NANOS) {
        putOff =
            context
                .executor()
                .schedule(
                    () -> flushNow(context), newest + WINDOW_NANOS - now, TimeUnit.NANOSECONDS);
        return;
      }
    }
    flushNow(context);
  }

  private void flushNow(ChannelHandlerContext context) {
    endOfTurn = false;
    if (putOff != null) {
      putOff.cancel(false);
      putOff = null;
    }
    pendingBytes = 0;
    unflushed = false;
    readSinceFlush = false;
    flushNanos[(int) (flushes % LOAD_FLUSHES)] = now(context);
    flushes++;
    context.flush();
  }

  private long now(ChannelHandlerContext context) {
    return clock.applyAsLong(context);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    readSinceFlush = true;
    context.fireChannelReadComplete();
    if (putOff != null) {
      flushNow(context);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (!context.channel().isWritable()) {
      flushNow(context);
    }
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void disconnect(ChannelHandlerContext context, ChannelPromise promise) {
    flushNow(context);
    context.disconnect(promise);
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    flushNow(context);
    context.close(promise);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (putOff != null) {
      putOff.cancel(false);
      putOff = null;
    }
    endOfTurn = false;
    if (unflushed) {
      context.flush();
    }
  }
}
