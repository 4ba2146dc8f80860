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

  /** Of the frame under way, 0 if it is no run. */
  private int runBytes;

  /** Of runs that have begun and were not counted as received; never too low. */
  private long unreceivedBytes;

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
      } else if (frameBegins(value) && !covered()) {
        forward(ctx, bytes, at);
        if (!admitted(ctx)) {
          held.addFirst(bytes);
          return;
        }
      }
    }
    unreceivedBytes = bodyLeft > 0 ? runBytes : 0;
    ctx.fireChannelRead(bytes);
  }

  /** Hands on what lies before a place, so that all frames that end there are counted. */
  private void forward(ChannelHandlerContext ctx, ByteBuf bytes, int at) {
    int first = at - bytes.readerIndex();
    if (first > 0) {
      ctx.fireChannelRead(bytes.readRetainedSlice(first));
    }
  }

  /** Notes a frame's first five bytes; whether it is a run that needs credit. */
  private boolean frameBegins(int type) {
    int frameLength = length;
    headBytes = 0;
    length = 0;
    runBytes = 0;
    if (frameLength < FRAME_BYTES || frameLength > maxFrameBytes - LENGTH_BYTES) {
      off = true;
      return false;
    }
    bodyLeft = frameLength - 1L;
    if (type != publishType || credit == null) {
      return false;
    }
    runBytes = frameLength - FRAME_BYTES;
    return true;
  }

  /** Whether the credit is enough for all runs that have begun and are not counted yet. */
  private boolean covered() {
    CreditLine line = credit;
    if (line == null || !line.covers(unreceivedBytes + runBytes)) {
      return false;
    }
    unreceivedBytes += runBytes;
    return true;
  }

  /** Whether the run that has just begun may be read on. */
  private boolean admitted(ChannelHandlerContext ctx) {
    CreditLine line = credit;
    if (off || line == null) {
      return true;
    }
    return switch (line.admit(runBytes, () -> resumeSoon(ctx))) {
      case NOW -> {
        unreceivedBytes = runBytes;
        yield true;
      }
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
