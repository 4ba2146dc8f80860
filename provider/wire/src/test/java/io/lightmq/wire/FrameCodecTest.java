package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Frames survive the wire, and bad bytes are refused without harm. */
class FrameCodecTest {
  private final ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;

  @Provide
  Arbitrary<FrameArbitraries.Seeded> frames() {
    return FrameArbitraries.frames();
  }

  @Property(tries = 200)
  void frameComesBackAsItWas(@ForAll("frames") FrameArbitraries.Seeded seeded) {
    ByteBuf bytes = FrameCodec.encode(seeded.frame(), allocator);
    assertThat(bytes.readInt()).isEqualTo(bytes.readableBytes());
    Frame frame = FrameCodec.decode(bytes);
    SameFrame.assertSame(frame, seeded.frame());
    FrameCodec.release(frame);
    assertThat(bytes.refCnt()).isEqualTo(1);
    bytes.release();
  }

  /** Quicker than comparing objects: what a reader lost or mixed up cannot be written again. */
  @Property(tries = 3000)
  void frameThatCameBackHasTheSameBytes(@ForAll("frames") FrameArbitraries.Seeded seeded) {
    byte[] bytes = body(seeded.frame());
    assertThat(body(FrameCodec.decode(Unpooled.wrappedBuffer(bytes)))).isEqualTo(bytes);
  }

  @Property(tries = 3000)
  void mutatedFrameIsRefusedOrValid(
      @ForAll("frames") FrameArbitraries.Seeded seeded, @ForAll long mutationSeed) {
    byte[] valid = body(seeded.frame());
    decodeHostile(mutated(valid, new Random(mutationSeed)));
  }

  @Property(tries = 1000)
  void noiseIsRefusedOrValid(@ForAll byte[] noise, @ForAll("frames") FrameArbitraries.Seeded type) {
    byte[] frame = new byte[noise.length + 8];
    System.arraycopy(noise, 0, frame, 8, noise.length);
    frame[0] = (byte) type.type().code();
    frame[7] = (byte) (type.type().correlation() == FrameType.Correlation.NONE ? 0 : 1);
    decodeHostile(frame);
  }

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void everyTruncationIsRefused(FrameType type) {
    byte[] valid = body(SampleFrames.all().get(type));
    for (int length = 0; length < valid.length; length++) {
      ByteBuf cut = Unpooled.copiedBuffer(valid, 0, length);
      assertThatThrownBy(() -> FrameCodec.decode(cut))
          .as(type + " cut at " + length)
          .isInstanceOf(ProtocolException.class);
      assertThat(cut.refCnt()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void trailingBytesAreRefused(FrameType type) {
    byte[] valid = body(SampleFrames.all().get(type));
    byte[] longer = Arrays.copyOf(valid, valid.length + 10);
    Arrays.fill(longer, valid.length, longer.length, (byte) 1);
    assertThatThrownBy(() -> FrameCodec.decode(Unpooled.wrappedBuffer(longer)))
        .isInstanceOf(ProtocolException.class);
  }

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void everySingleByteMayBeWrong(FrameType type) {
    byte[] valid = body(SampleFrames.all().get(type));
    for (int at = 0; at < valid.length; at++) {
      for (int value : new int[] {0, 1, 0x7F, 0x80, 0xFF, valid[at] ^ 1, valid[at] ^ 0x80}) {
        byte[] wrong = valid.clone();
        wrong[at] = (byte) value;
        decodeHostile(wrong);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void hugeCountsAndLengthsAreRefusedBeforeAllocation(FrameType type) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    byte[] valid = body(SampleFrames.all().get(type));
    byte[] huge = {(byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 7};
    decodeHostile(valid); // loads the classes
    for (int at = 8; at < valid.length; at++) {
      byte[] hostile = new byte[valid.length + 4];
      System.arraycopy(valid, 0, hostile, 0, at);
      System.arraycopy(huge, 0, hostile, at, huge.length);
      System.arraycopy(valid, at + 1, hostile, at + 5, valid.length - at - 1);
      long before = threads.getThreadAllocatedBytes(thread);
      decodeHostile(hostile);
      long allocated = threads.getThreadAllocatedBytes(thread) - before;
      assertThat(allocated).as(type + " with a huge number at " + at).isLessThan(256 * 1024);
    }
  }

  @Test
  void itemsOfNestedListsAreCountedTogether() {
    List<SequenceRange> ranges = new ArrayList<>();
    for (int i = 0; i < 60_000; i++) {
      ranges.add(new SequenceRange(4, 2L * i, 1));
    }
    Frame.Acked half = new Frame.Acked(1, 1, ranges);
    body(new Frame.Acknowledge(1, List.of(half)));
    assertThatThrownBy(
            () -> FrameCodec.encode(new Frame.Acknowledge(1, List.of(half, half)), allocator))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("100000");
  }

  @Test
  void moreItemsThanTheLimitAreRefusedAlthoughTheyFit() {
    ByteBuf bytes = Unpooled.buffer();
    bytes.writeByte(FrameType.PULL.code()).writeMedium(0).writeInt(0);
    bytes.writeBytes(new byte[] {(byte) 0x91, 0x4E}); // 10,001
    bytes.writeZero(10_001 * 5);
    assertThatThrownBy(() -> FrameCodec.decode(bytes))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("10001 pulls")
        .hasMessageContaining("10000");
  }

  @Test
  void varintsAreReadInTheirShortestFormOnly() {
    byte[] credit = {42, 0, 0, 0, 0, 0, 0, 0, (byte) 0x81, 0};
    assertThatThrownBy(() -> FrameCodec.decode(Unpooled.wrappedBuffer(credit)))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("needless");
    byte[] overflow = new byte[8 + 10];
    Arrays.fill(overflow, 8, 18, (byte) 0xFF);
    overflow[0] = 42;
    assertThatThrownBy(() -> FrameCodec.decode(Unpooled.wrappedBuffer(overflow)))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("nine bytes");
  }

  @Test
  void partsOfABranchIdThatAreTooLongAreRefused() {
    ByteBuf abandon = Unpooled.buffer();
    abandon.writeByte(FrameType.ABANDON.code()).writeMedium(0).writeInt(1);
    abandon.writeByte(2).writeInt(7).writeByte(1).writeByte(9).writeByte(Xid.MAX_PART_BYTES + 1);
    abandon.writeZero(Xid.MAX_PART_BYTES + 1);
    assertThatThrownBy(() -> FrameCodec.decode(abandon))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("branch qualifier of 65 bytes; at most 64");
  }

  @Test
  void branchIdWithoutAGlobalPartIsRefused() {
    ByteBuf abandon = Unpooled.buffer();
    abandon.writeByte(FrameType.ABANDON.code()).writeMedium(0).writeInt(1);
    abandon.writeByte(2).writeInt(7).writeByte(0).writeByte(0);
    assertThatThrownBy(() -> FrameCodec.decode(abandon))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("1 to 64 bytes, not 0");
  }

  @Test
  void recoverAsksForAtMostWhatOneAnswerHolds() {
    for (int most : new int[] {0, Protocol.MAX_RECOVERED + 1}) {
      ByteBuf bytes = FrameCodec.encode(new Frame.Recover(1, most, null), allocator);
      bytes.skipBytes(4);
      assertThatThrownBy(() -> FrameCodec.decode(bytes))
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining(most + " branches")
          .hasMessageContaining("1 to 1000");
    }
  }

  @Test
  void frameThatCannotBeWrittenIsReleased() {
    ByteBuf messages = SampleFrames.run("text");
    Frame publish = new Frame.Publish(1, -1, 0, 1, messages);
    assertThatThrownBy(() -> FrameCodec.encode(publish, allocator))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(messages.refCnt()).isZero();
  }

  @Test
  void requestWithoutCorrelationCannotBeWritten() {
    assertThatThrownBy(() -> FrameCodec.encode(new Frame.OpenSession(0, 1), allocator))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("OPEN_SESSION");
  }

  @Test
  void longPayloadIsNotCopied() {
    ByteBuf messages = SampleFrames.run("x".repeat(100_000));
    ByteBuf bytes = FrameCodec.encode(new Frame.Publish(1, 1, 1, 1, messages), allocator);
    assertThat(messages.refCnt()).as("held by the frame's bytes").isEqualTo(1);
    bytes.skipBytes(4);
    Frame.Publish back = (Frame.Publish) FrameCodec.decode(bytes);
    assertThat(ByteBufUtil.equals(back.messages(), messages)).isTrue();
    back.messages().release();
    bytes.release();
    assertThat(messages.refCnt()).isZero();
  }

  private byte[] body(Frame frame) {
    ByteBuf bytes = FrameCodec.encode(frame, allocator);
    bytes.skipBytes(4);
    byte[] body = ByteBufUtil.getBytes(bytes);
    bytes.release();
    return body;
  }

  /** Decodes; anything but a frame or a ProtocolException fails, as does a leak. */
  private static void decodeHostile(byte[] bytes) {
    ByteBuf in = Unpooled.wrappedBuffer(bytes);
    try {
      FrameCodec.release(FrameCodec.decode(in));
    } catch (ProtocolException expected) {
      assertThat(expected.getMessage()).isNotEmpty();
    } catch (RuntimeException e) {
      fail("neither a frame nor a ProtocolException", e);
    }
    assertThat(in.refCnt()).as("references after decoding").isEqualTo(1);
  }

  private static byte[] mutated(byte[] valid, Random random) {
    byte[] bytes = valid.clone();
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes && bytes.length > 0; i++) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 -> { // one byte less
          byte[] shorter = Arrays.copyOf(bytes, bytes.length - 1);
          System.arraycopy(bytes, at + 1, shorter, at, bytes.length - at - 1);
          bytes = shorter;
        }
        default -> { // one byte more
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
          System.arraycopy(bytes, at, longer, at + 1, bytes.length - at);
          longer[at] = (byte) random.nextInt();
          bytes = longer;
        }
      }
    }
    return bytes;
  }
}
