package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What the decoder lets through, and when. */
class FrameDecoderTest {
  private final FrameDecoder decoder = new FrameDecoder(FrameType.Sender.CLIENT);
  private final EmbeddedChannel channel = new EmbeddedChannel(decoder);

  @Test
  void framesComeOutWhereverTheirBytesAreCut() {
    decoder.authenticated(1 << 20);
    Random random = new Random(7);
    List<Frame> sent = new ArrayList<>();
    ByteBuf bytes = Unpooled.buffer();
    for (int round = 0; round < 20; round++) {
      for (Frame frame : SampleFrames.all().values()) {
        if (FrameCodec.typeOf(frame).isFrom(FrameType.Sender.CLIENT)) {
          sent.add(frame);
          append(bytes, copy(frame));
        }
      }
    }
    while (bytes.isReadable()) {
      int piece = Math.min(bytes.readableBytes(), 1 + random.nextInt(60));
      channel.writeInbound(bytes.readBytes(piece));
    }
    for (Frame expected : sent) {
      Frame actual = channel.readInbound();
      SameFrame.assertSame(actual, expected);
      FrameCodec.release(actual);
    }
    assertThat((Object) channel.readInbound()).isNull();
  }

  @Test
  void framesAreKeptBackInTheMiddleOfWhatWasReadAndNothingMoreIsRead() {
    AtomicBoolean held = new AtomicBoolean();
    AtomicInteger reads = new AtomicInteger();
    channel
        .pipeline()
        .addFirst(
            new ChannelOutboundHandlerAdapter() {
              @Override
              public void read(ChannelHandlerContext context) {
                reads.incrementAndGet();
              }
            });
    channel
        .pipeline()
        .addLast(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object frame) {
                held.set(true);
                context.fireChannelRead(frame);
              }
            });
    decoder.holdWhile(held::get);
    channel.config().setAutoRead(false);
    ByteBuf three = Unpooled.buffer();
    for (int i = 0; i < 3; i++) {
      append(three, new Frame.Heartbeat());
    }
    channel.writeInbound(three);
    channel.writeInbound(bytes(new Frame.Heartbeat())); // was on its way
    assertThat(channel.inboundMessages()).hasSize(1);
    for (int i = 2; i <= 4; i++) {
      held.set(false);
      channel.writeInbound(Unpooled.EMPTY_BUFFER);
      assertThat(channel.inboundMessages()).hasSize(i);
    }
    assertThat(reads).hasValue(0);
  }

  @Test
  void aLongFrameIsCollectedInABufferOfItsOwnLength() {
    decoder.authenticated(4 << 20);
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    channel.config().setAllocator(allocator);
    int messageBytes = 2 << 20;
    ByteBuf run = Unpooled.buffer().writeInt(messageBytes).writeZero(messageBytes);
    ByteBuf bytes = bytes(new Frame.Publish(1, 2, 3, 1, run));
    int frameBytes = bytes.readableBytes();
    long most = 0;
    while (bytes.isReadable()) {
      int piece = Math.min(bytes.readableBytes(), 32 << 10);
      channel.writeInbound(allocator.directBuffer(32 << 10).writeBytes(bytes, piece));
      most = Math.max(most, allocator.metric().usedDirectMemory());
    }
    FrameCodec.release((Frame) channel.readInbound());
    assertThat(most).isBetween((long) frameBytes, frameBytes + (64L << 10));
  }

  @Test
  void aPeerReservesNoMoreThanTwiceWhatItHasSent() {
    decoder.authenticated(Integer.MAX_VALUE);
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    channel.config().setAllocator(allocator);
    int announced = Protocol.MAX_FRAME_BYTES - 4;
    ByteBuf start = allocator.directBuffer(32 << 10).writeInt(announced);
    channel.writeInbound(start.writeByte(FrameType.PUBLISH.code()).writeZero(200));
    assertThat(allocator.metric().usedDirectMemory()).isLessThanOrEqualTo(300 << 10);
    long sent = 205;
    for (int piece = 0; piece < 40; piece++) {
      channel.writeInbound(allocator.directBuffer(32 << 10).writeZero(32 << 10));
      sent += 32 << 10;
      assertThat(allocator.metric().usedDirectMemory())
          .isLessThanOrEqualTo(Math.max(300 << 10, 2 * sent + (32 << 10)));
    }
    channel.finishAndReleaseAll();
  }

  @Test
  void noFrameIsLongerThanTheProtocolsLongest() {
    for (int length : new int[] {Protocol.MAX_FRAME_BYTES - 3, 1 << 30, Integer.MAX_VALUE - 4}) {
      EmbeddedChannel own = new EmbeddedChannel(decoderWith(Integer.MAX_VALUE));
      assertThatThrownBy(
              () ->
                  own.writeInbound(
                      Unpooled.buffer()
                          .writeInt(length)
                          .writeByte(FrameType.PUBLISH.code())
                          .writeZero(200)))
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining("the limit is " + Protocol.MAX_FRAME_BYTES);
    }
  }

  @Test
  void onlyHandshakeFramesPassBeforeAuthentication() {
    channel.writeInbound(bytes(new Frame.Hello(1, 1, 0, "test")));
    assertThat((Object) channel.readInbound()).isInstanceOf(Frame.Hello.class);
    assertRefused(
        bytes(new Frame.OpenSession(1, 1)), FaultCode.PROTOCOL_ERROR, "before authentication");
  }

  @Test
  void frameOfAnyLengthIsRefusedByItsFirstFiveBytes() {
    ByteBuf start = Unpooled.buffer().writeInt(16_000).writeByte(FrameType.PUBLISH.code());
    assertRefused(start, FaultCode.PROTOCOL_ERROR, "PUBLISH before authentication");
  }

  @Test
  void longFrameIsRefusedByItsLengthAlone() {
    assertRefused(
        Unpooled.buffer().writeInt(16 * 1024 - 3), FaultCode.TOO_LARGE, "limit is 16384 before");
  }

  @Test
  void longestHandshakeFramePasses() {
    byte[] data = new byte[16 * 1024 - 12 - 1 - 1 - 2];
    ByteBuf bytes = bytes(new Frame.AuthStart("M", data));
    assertThat(bytes.readableBytes()).isEqualTo(16 * 1024);
    channel.writeInbound(bytes);
    assertThat((Object) channel.readInbound()).isInstanceOf(Frame.AuthStart.class);
  }

  @Test
  void limitAfterAuthenticationIsTheOneThatWasSet() {
    decoder.authenticated(100_000);
    channel.writeInbound(Unpooled.buffer().writeInt(100_000 - 4));
    assertRefusedNext(Unpooled.EMPTY_BUFFER);
    EmbeddedChannel other = new EmbeddedChannel(decoderWith(100_000));
    assertThatThrownBy(() -> other.writeInbound(Unpooled.buffer().writeInt(100_000 - 3)))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("100001 bytes; the limit is 100000");
  }

  private static FrameDecoder decoderWith(int limit) {
    FrameDecoder decoder = new FrameDecoder(FrameType.Sender.CLIENT);
    decoder.authenticated(limit);
    return decoder;
  }

  private void assertRefusedNext(ByteBuf nothing) {
    channel.writeInbound(nothing);
    assertThat((Object) channel.readInbound()).isNull();
  }

  @Test
  void framesOfTheOtherSideAreRefused() {
    decoder.authenticated(1 << 20);
    assertRefused(bytes(new Frame.Credit(1)), FaultCode.PROTOCOL_ERROR, "not sent by the client");
  }

  @Test
  void negativeAndTinyLengthsAreRefused() {
    assertRefused(Unpooled.buffer().writeInt(-1), FaultCode.PROTOCOL_ERROR, "length -1");
    EmbeddedChannel other = new EmbeddedChannel(decoderWith(1000));
    assertThatThrownBy(() -> other.writeInbound(Unpooled.buffer().writeInt(7)))
        .isInstanceOf(ProtocolException.class);
  }

  @Test
  void unknownTypeIsRefused() {
    decoder.authenticated(1 << 20);
    assertRefused(
        Unpooled.buffer().writeInt(8).writeByte(99).writeZero(7),
        FaultCode.PROTOCOL_ERROR,
        "frame type 99 is unknown");
  }

  @Test
  void whatFollowsABadFrameIsThrownAway() {
    decoder.authenticated(1 << 20);
    ByteBuf bytes = Unpooled.buffer().writeInt(8).writeByte(99).writeZero(7);
    append(bytes, new Frame.OpenSession(1, 1));
    assertRefused(bytes, FaultCode.PROTOCOL_ERROR, "99");
    channel.writeInbound(bytes(new Frame.OpenSession(2, 2)));
    assertThat((Object) channel.readInbound()).isNull();
  }

  /** The broker admits the next frames while it handles AuthResponse, in the same read. */
  @Test
  void framesAreAdmittedFromTheNextOneOn() {
    FrameDecoder own = new FrameDecoder(FrameType.Sender.CLIENT);
    EmbeddedChannel pipelined =
        new EmbeddedChannel(
            own,
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object frame) {
                if (frame instanceof Frame.AuthResponse) {
                  own.authenticated(1 << 20);
                }
                context.fireChannelRead(frame);
              }
            });
    ByteBuf both = bytes(new Frame.AuthResponse(new byte[1]));
    append(both, new Frame.OpenSession(1, 1));
    pipelined.writeInbound(both);
    assertThat((Object) pipelined.readInbound()).isInstanceOf(Frame.AuthResponse.class);
    assertThat((Object) pipelined.readInbound()).isEqualTo(new Frame.OpenSession(1, 1));
  }

  @Test
  void versionsAreNegotiated() {
    assertThat(Protocol.negotiate(new Frame.Hello(1, 9, -1, "new"))).isEqualTo(1);
    assertThat(Protocol.features(new Frame.Hello(1, 9, -1, "new"))).isEqualTo(Protocol.FEATURES);
    assertThatThrownBy(() -> Protocol.negotiate(new Frame.Hello(2, 9, 0, "newer")))
        .isInstanceOfSatisfying(
            ProtocolException.class,
            e -> assertThat(e.goodbye().code()).isEqualTo(FaultCode.VERSION_MISMATCH));
    Protocol.check(new Frame.Welcome(1, 0, SampleFrames.ID, 16 << 20, 4 << 20, 1 << 20, 10_000));
    assertThatThrownBy(
            () -> Protocol.check(new Frame.Welcome(2, 0, SampleFrames.ID, 1 << 20, 1, 1, 1)))
        .isInstanceOf(ProtocolException.class);
    assertThatThrownBy(
            () -> Protocol.check(new Frame.Welcome(1, 1 << 20, SampleFrames.ID, 1 << 20, 1, 1, 1)))
        .isInstanceOf(ProtocolException.class);
    assertThatThrownBy(
            () -> Protocol.check(new Frame.Welcome(1, 0, SampleFrames.ID, 1 << 20, 2 << 20, 1, 1)))
        .isInstanceOf(ProtocolException.class);
  }

  private void assertRefused(ByteBuf bytes, FaultCode code, String text) {
    assertThatThrownBy(() -> channel.writeInbound(bytes))
        .isInstanceOfSatisfying(ProtocolException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContaining(text);
  }

  private static void append(ByteBuf to, Frame frame) {
    ByteBuf bytes = bytes(frame);
    to.writeBytes(bytes);
    bytes.release();
  }

  private static ByteBuf bytes(Frame frame) {
    return FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
  }

  /** Encoding consumes a frame; the original stays for the comparison. */
  private static Frame copy(Frame frame) {
    if (frame instanceof Frame.Publish publish) {
      publish.messages().retain();
    } else if (frame instanceof Frame.Commit commit) {
      commit.runs().forEach(run -> run.messages().retain());
    } else if (frame instanceof Frame.Stage stage) {
      stage.runs().forEach(run -> run.messages().retain());
    } else if (frame instanceof Frame.Prepare prepare) {
      prepare.runs().forEach(run -> run.messages().retain());
    }
    return frame;
  }
}
