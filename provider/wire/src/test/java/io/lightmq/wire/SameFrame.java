package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** Equality of frames by content, which records with arrays and buffers don't have. */
final class SameFrame {
  private SameFrame() {}

  static void assertSame(Frame actual, Frame expected) {
    assertThat(actual)
        .usingRecursiveComparison()
        .withEqualsForType(ByteBufUtil::equals, ByteBuf.class)
        .withStrictTypeChecking()
        .isEqualTo(expected);
  }
}
