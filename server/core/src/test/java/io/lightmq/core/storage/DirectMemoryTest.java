package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class DirectMemoryTest {
  private final DirectMemory memory = new DirectMemory();

  @Test
  void whatIsGivenBackServesTheNextOfItsSizeAndStaysCounted() {
    ByteBuffer first = memory.allocate("window", 4096);
    memory.free("window", first);

    assertThat(memory.used("window")).isZero();
    assertThat(memory.total()).isEqualTo(4096);
    assertThat(memory.allocate("bitmaps", 4096)).isSameAs(first);
    assertThat(memory.usedByPurpose()).containsEntry("bitmaps", 4096L);
    assertThat(memory.total()).isEqualTo(4096);
    memory.allocate("bitmaps", 512);
    assertThat(memory.highest()).isEqualTo(4608);
  }

  @Test
  void onlySoMuchIsKeptForReuse() {
    int mib = 1 << 20;
    for (int bytes = mib; bytes < 20 * mib; bytes += mib) {
      memory.free("reads", memory.allocate("reads", bytes));
    }

    assertThat(memory.used("reads")).isZero();
    assertThat(memory.total()).isBetween(1L, (long) DirectMemory.MAX_KEPT_BYTES);
  }

  @Test
  void moreThanAPurposeHasCannotBeGivenBack() {
    ByteBuffer buffer = memory.allocate("window", 64);

    assertThatThrownBy(() -> memory.free("bitmaps", buffer))
        .hasMessageContaining("64 bytes given back for bitmaps, which has only 0");
  }

  @Test
  void whatAStartCannotDoWithoutIsToldWithTheNumbers() {
    DirectMemory none =
        new DirectMemory(
            bytes -> {
              throw new OutOfMemoryError("Cannot reserve " + bytes + " bytes of 7");
            });
    assertThatThrownBy(() -> none.reserve("window", 4096, "take a smaller one"))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            "the window needs 4096 bytes",
            "Cannot reserve 4096 bytes of 7",
            "-XX:MaxDirectMemorySize",
            "take a smaller one");
    assertThat(none.used("window")).isZero();
    assertThat(none.total()).isZero();
  }
}
