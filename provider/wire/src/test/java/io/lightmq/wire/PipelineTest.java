package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When gathered frames are flushed and heartbeats sent or missed, on simulated time. */
class PipelineTest {
  private int flushes;
  private final List<ByteBuf> written = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();

  @AfterEach
  void release() {
    written.forEach(ByteBuf::release);
  }

  /** The clock of the embedded channel, whose time only the test moves. */
  private static final ToLongFunction<ChannelHandlerContext> FROZEN =
      context -> context.executor().ticker().nanoTime();

  private EmbeddedChannel channel(ChannelHandler first) {
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new ChannelOutboundHandlerAdapter() {
              // Kept here: the embedded channel would end the turn with every write.
              @Override
              public void write(
                  ChannelHandlerContext context, Object message, ChannelPromise promise) {
                written.add((ByteBuf) message);
              }

              @Override
              public void flush(ChannelHandlerContext context) {
                flushes++;
                context.flush();
              }
            });
    channel.freezeTime();
    channel.pipeline().addLast(first);
    channel.pipeline().addLast(FrameEncoder.INSTANCE);
    channel
        .pipeline()
        .addLast(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                errors.add(cause);
              }
            });
    return channel;
  }

  // ---- gathering ----

  @Test
  void framesOfOneTurnLeaveInOneFlush() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    for (int i = 1; i <= 100; i++) {
      channel.pipeline().writeAndFlush(new Frame.Ok(i));
    }
    assertThat(flushes).isZero();
    channel.runPendingTasks();
    assertThat(flushes).isEqualTo(1);
    assertThat(written).hasSize(100);
    channel.finishAndReleaseAll();
  }

  @Test
  void loneFramesLeaveAtTheEndOfTheirTurn() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    for (int i = 1; i <= 100; i++) {
      channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
      turn(channel, i);
      assertThat(flushes).isEqualTo(i);
    }
    channel.finishAndReleaseAll();
  }

  @Test
  void underLoadAFlushWaitsUpToThreeMilliseconds() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    load(channel);
    int before = flushes;
    for (int i = 1; i <= 50; i++) {
      turn(channel, i);
    }
    assertThat(flushes).as("put off").isEqualTo(before);
    channel.advanceTimeBy(2_999_999, TimeUnit.NANOSECONDS);
    channel.runPendingTasks();
    assertThat(flushes).isEqualTo(before);
    channel.advanceTimeBy(1, TimeUnit.NANOSECONDS);
    channel.runPendingTasks();
    assertThat(flushes).as("three milliseconds after the last").isEqualTo(before + 1);
    channel.finishAndReleaseAll();
  }

  @Test
  void whatIsReadEndsTheWait() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    load(channel);
    int before = flushes;
    turn(channel, 1);
    assertThat(flushes).isEqualTo(before);
    channel.pipeline().fireChannelReadComplete();
    assertThat(flushes).isEqualTo(before + 1);
    channel.finishAndReleaseAll();
  }

  @Test
  void peerThatAsksOneByOneNeverWaits() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    for (int i = 1; i <= 1000; i++) {
      channel.pipeline().fireChannelReadComplete();
      turn(channel, i);
      assertThat(flushes).isEqualTo(i);
    }
    channel.finishAndReleaseAll();
  }

  @Test
  void sixtyFourKibibytesDoNotWait() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    load(channel);
    int before = flushes;
    turn(channel, 1);
    channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[64 * 1024]));
    assertThat(flushes).isEqualTo(before + 1);
    channel.runPendingTasks();
    channel.advanceTimeBy(10, TimeUnit.MILLISECONDS);
    channel.runPendingTasks();
    assertThat(flushes).as("nothing is left to flush").isEqualTo(before + 1);
    channel.finishAndReleaseAll();
  }

  @Test
  void closingFlushesWhatWaits() {
    EmbeddedChannel channel = channel(new FrameGatherer(FROZEN));
    load(channel);
    written.forEach(ByteBuf::release);
    written.clear();
    turn(channel, 1);
    channel.writeAndFlush(new Frame.Goodbye(FaultCode.CLOSING, "bye"));
    channel.close();
    assertThat(written).hasSize(2);
    channel.finishAndReleaseAll();
  }

  private static void turn(EmbeddedChannel channel, int correlation) {
    channel.writeAndFlush(new Frame.Ok(correlation));
    channel.runPendingTasks();
  }

  private void load(EmbeddedChannel channel) {
    for (int i = 0; i < FrameGatherer.LOAD_FLUSHES; i++) {
      turn(channel, i + 1);
    }
    assertThat(flushes)
        .as("not put off before there is load")
        .isEqualTo(FrameGatherer.LOAD_FLUSHES);
  }

  // ---- heartbeats ----

  @Test
  void silenceIsFilledWithHeartbeats() {
    EmbeddedChannel channel = channel(new Heartbeats(3000, FROZEN));
    pass(channel, 999);
    assertThat(written).isEmpty();
    pass(channel, 1);
    ByteBuf beat = written.remove(0);
    assertThat(FrameCodec.decode(beat.skipBytes(4))).isEqualTo(new Frame.Heartbeat());
    beat.release();
    pass(channel, 500);
    channel.writeAndFlush(new Frame.Ok(1));
    written.forEach(ByteBuf::release);
    written.clear();
    pass(channel, 999);
    assertThat(written).as("a written frame is a sign of life").isEmpty();
    pass(channel, 1);
    assertThat(written).hasSize(1);
    channel.finishAndReleaseAll();
  }

  @Test
  void silentPeerIsReportedAfterThreeIntervals() {
    EmbeddedChannel channel = channel(new Heartbeats(3000, FROZEN));
    pass(channel, 5000);
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[1]));
    pass(channel, 8999);
    assertThat(errors).isEmpty();
    pass(channel, 1);
    assertThat(errors).hasSize(1);
    assertThat(((ProtocolException) errors.get(0)).code()).isEqualTo(FaultCode.HEARTBEAT_LOST);
    assertThat(errors.get(0)).hasMessageContaining("9000 ms");
    pass(channel, 60_000);
    assertThat(errors).as("reported once").hasSize(1);
    channel.finishAndReleaseAll();
  }

  @Test
  void silenceDoesNotCountWhileReadingIsOff() {
    EmbeddedChannel channel = channel(new Heartbeats(3000, FROZEN));
    channel.config().setAutoRead(false);
    pass(channel, 60_000);
    assertThat(errors).isEmpty();
    channel.config().setAutoRead(true);
    pass(channel, 7_999);
    assertThat(errors).isEmpty();
    pass(channel, 2_001);
    assertThat(errors).hasSize(1);
    channel.finishAndReleaseAll();
  }

  @Test
  void heartbeatsEndWithTheConnection() {
    EmbeddedChannel channel = channel(new Heartbeats(3000, FROZEN));
    channel.close();
    written.forEach(ByteBuf::release);
    written.clear();
    pass(channel, 60_000);
    assertThat(written).isEmpty();
    assertThat(errors).isEmpty();
  }

  @Test
  void intervalZeroSwitchesHeartbeatsOff() {
    EmbeddedChannel channel = channel(new Heartbeats(0, FROZEN));
    pass(channel, 600_000);
    assertThat(written).isEmpty();
    assertThat(errors).isEmpty();
    channel.finishAndReleaseAll();
  }

  /** Lets time pass in steps, as an event loop would see it. */
  private static void pass(EmbeddedChannel channel, long millis) {
    long left = millis;
    while (left > 0) {
      long step = Math.min(left, 100);
      channel.advanceTimeBy(step, TimeUnit.MILLISECONDS);
      channel.runPendingTasks();
      left -= step;
    }
  }
}
