package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bytes of every frame are those of protocol version 1. */
class FrameGoldenTest {

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void frameHasTheBytesOfItsGoldenFile(FrameType type) throws Exception {
    ByteBuf bytes =
        FrameCodec.encode(SampleFrames.all().get(type), UnpooledByteBufAllocator.DEFAULT);
    Golden.assertSame("frame-" + type.name().toLowerCase(Locale.ROOT), ByteBufUtil.getBytes(bytes));
    bytes.release();
  }

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void goldenFileIsReadAsTheFrame(FrameType type) throws Exception {
    byte[] golden = Golden.read("frame-" + type.name().toLowerCase(Locale.ROOT));
    Frame frame = FrameCodec.decode(Unpooled.wrappedBuffer(golden, 4, golden.length - 4));
    SameFrame.assertSame(frame, SampleFrames.all().get(type));
  }

  @Test
  void fieldsOfFeaturesStandAtTheEndAndAreLeftOutWhereNotAgreed() throws Exception {
    for (Map.Entry<String, Frame> each : SampleFrames.ofFeatures().entrySet()) {
      Frame frame = each.getValue();
      ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
      byte[] written = ByteBufUtil.getBytes(bytes);
      bytes.release();
      Golden.assertSame(each.getKey(), written);
      byte[] golden = Golden.read(each.getKey());
      SameFrame.assertSame(
          FrameCodec.decode(Unpooled.wrappedBuffer(golden, 4, golden.length - 4)),
          SampleFrames.ofFeatures().get(each.getKey())); // what was written is released
      byte[] without =
          Golden.read("frame-" + FrameCodec.typeOf(frame).name().toLowerCase(Locale.ROOT));
      assertThat(Arrays.copyOfRange(golden, 4, without.length))
          .isEqualTo(Arrays.copyOfRange(without, 4, without.length));
    }
  }

  @Test
  void everyFrameClassHasAType() {
    assertThat(Frame.class.getPermittedSubclasses()).hasSameSizeAs(FrameType.values());
    assertThat(SampleFrames.all()).hasSameSizeAs(FrameType.values());
  }
}
