package io.lightmq.wire.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Branch ids are told apart by all of their bytes, and survive being written down. */
class XidTest {
  private static Xid xid(int format, byte[] global, byte[] qualifier) {
    return new Xid(format, global, qualifier);
  }

  @Test
  void sameBytesAreTheSameBranch() {
    Xid one = xid(7, new byte[] {1, 2}, new byte[] {3});
    assertThat(one).isEqualTo(xid(7, new byte[] {1, 2}, new byte[] {3}));
    assertThat(one).hasSameHashCodeAs(xid(7, new byte[] {1, 2}, new byte[] {3}));
    assertThat(one)
        .isNotEqualTo(xid(8, new byte[] {1, 2}, new byte[] {3}))
        .isNotEqualTo(xid(7, new byte[] {1}, new byte[] {2, 3}))
        .isNotEqualTo(xid(7, new byte[] {1, 2}, new byte[] {4}));
  }

  @Test
  void textIsReadAsItWasWritten() {
    Xid one = xid(-5, new byte[] {0, (byte) 0xAB}, new byte[0]);
    assertThat(one).hasToString("-5:00ab:");
    assertThat(Xid.parse("-5:00ab:")).isEqualTo(one);
    assertThat(Xid.parse("131077:01:ff0a"))
        .isEqualTo(xid(131_077, new byte[] {1}, new byte[] {(byte) 0xFF, 10}));
  }

  @Test
  void otherTextsAreRefused() {
    for (String text : new String[] {"", "1:2", "1:02:03:04", "x:02:", "1:2:", "1::", "1:0g:"}) {
      assertThatThrownBy(() -> Xid.parse(text))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void partsHaveALimit() {
    xid(1, new byte[64], new byte[64]);
    assertThatThrownBy(() -> xid(1, new byte[65], new byte[0])).hasMessageContaining("not 65");
    assertThatThrownBy(() -> xid(1, new byte[0], new byte[0])).hasMessageContaining("not 0");
    assertThatThrownBy(() -> xid(1, new byte[1], new byte[65])).hasMessageContaining("not 65");
  }
}
