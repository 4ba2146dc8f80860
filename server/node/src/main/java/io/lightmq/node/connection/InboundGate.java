package io.lightmq.node.connection;

import io.lightmq.node.credit.CreditLine;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for credit when the first five bytes of a run have arrived, before memory is spent on the
 * rest: what is not admitted stays in the socket. Follows frame boundaries and changes nothing; a
 * length that makes no sense is left to the decoder behind it, which ends the connection.
 *
 * <p>At most one read's worth of buffers is held while a run waits.
 */
final class InboundGate extends ChannelInboundHandlerAdapter {
  private static final Logger log = LoggerFactory.getLogger(InboundGate.class);
  private static final int LENGTH_BYTES = 4;
  private static final int PEEK_BYTES = 5;

  /** Of a frame's length, what is not message bytes at the least: type, flags, correlation. */
  private static final int FRAME_BYTES = 8;

  private final int publishType;
  private final int maxFrameBytes;
  private final Deque<ByteBuf> held = new ArrayDeque<>();
  private @Nullable CreditLine credit;
  private @Nullable ReadPause pause;
  private Runnable exceeded = () -> {};
  private boolean off;
  private boolean waiting;
  private int headBytes;
  private int length;
  private long bodyLeft;

  /**
   * Watches for runs.
   *
   * @param publishType the frame type of a run
   */
  InboundGate(int publishType, int maxFrameBytes) {
    this.publishType = publishType;
    this.maxFrameBytes = maxFrameBytes;
  }

  /**
   * Begins to ask; before, a client may not send runs at all.
   *
   * @param exceeded runs when the client sends a run without any credit
   */
  void open(CreditLine line, ReadPause reading, Runnable exceeded) {
    this.credit = line;
    this.pause = reading;
    this.exceeded = exceeded;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (off || !(message instanceof ByteBuf bytes)) {
      ctx.fireChannelRead(message);
    } else if (waiting) {
      held.add(bytes);
    } else {
      pass(ctx, bytes);
    }
  }

  private void pass(ChannelHandlerContext ctx, ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end && !off) {
      if (bodyLeft > 0) {
        int skipped = (int) Math.min(bodyLeft, end - at);
        at += skipped;
        bodyLeft -= skipped;
        continue;
      }
      int value = bytes.getUnsignedByte(at++);
      headBytes++;
      if (headBytes <= LENGTH_BYTES) {
        length = length << 8 | value;
      }
      if (headBytes == PEEK_BYTES && !frameBegins(ctx, value)) {
        int first = at - bytes.readerIndex();
        if (first > 0) {
          ctx.fireChannelRead(bytes.readRetainedSlice(first));
        }
        held.addFirst(bytes);
        return;
      }
    }
    ctx.fireChannelRead(bytes);
  }

  /** Whether reading goes on behind a frame's first five bytes. */
  private boolean frameBegins(ChannelHandlerContext ctx, int type) {
    int frameLength = length;
    headBytes = 0;
    length = 0;
    if (frameLength < FRAME_BYTES || frameLength > maxFrameBytes - LENGTH_BYTES) {
      off = true;
      return true;
    }
    bodyLeft = frameLength - 1L;
    CreditLine line = credit;
    if (type != publishType || line == null) {
      return true;
    }
    Runnable resume = () -> resumeSoon(ctx);
    return switch (line.admit(frameLength - FRAME_BYTES, resume)) {
      case NOW -> true;
      case LATER -> {
        waiting = true;
        pauseReading(true);
        yield false;
      }
      case EXCEEDED -> {
        off = true;
        exceeded.run();
        yield true;
      }
    };
  }

  private void resumeSoon(ChannelHandlerContext ctx) {
    try {
      ctx.executor().execute(() -> resume(ctx));
    } catch (RejectedExecutionException loopHasEnded) {
      log.debug("A run was admitted after its connection's loop had ended");
    }
  }

  private void resume(ChannelHandlerContext ctx) {
    if (ctx.isRemoved()) {
      return;
    }
    waiting = false;
    while (!waiting) {
      ByteBuf next = held.poll();
      if (next == null) {
        break;
      }
      pass(ctx, next);
    }
    if (!waiting) {
      pauseReading(false);
    }
    ctx.fireChannelReadComplete();
  }

  private void pauseReading(boolean pausing) {
    ReadPause reading = pause;
    if (reading != null) {
      reading.set(ReadPause.Reason.CREDIT, pausing);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    off = true;
    held.forEach(ByteBuf::release);
    held.clear();
  }
}
