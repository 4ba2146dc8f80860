package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.storage.DirectMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class WindowTest {
  private static final int CAPACITY = 4096;

  @Property(tries = 200)
  void bytesAreAsInAPlainArray(
      @ForAll long seed, @ForAll @IntRange(min = 0, max = 9000) int first) {
    Random random = new Random(seed);
    DirectMemory memory = new DirectMemory();
    byte[] model = new byte[40_000];
    try (Window window = new Window(memory, CAPACITY, first)) {
      while (window.position() < 30_000) {
        int start = (int) window.position();
        put(window, random, model);
        int end = (int) window.position();
        assertThat(window.oldest()).isEqualTo(Math.max(first, end - CAPACITY));
        int from = (int) window.oldest() + random.nextInt(end - (int) window.oldest());
        int length = random.nextInt(end - from + 1);
        byte[] expected = Arrays.copyOfRange(model, from, from + length);
        ByteBuffer copy = ByteBuffer.allocate(length);
        window.copyTo(from, length, copy);
        assertThat(copy.array())
            .as("from %s to %s, put at %s", from, from + length, start)
            .isEqualTo(expected);
        if (end - from >= 8) {
          assertThat(window.getLong(from)).isEqualTo(ByteBuffer.wrap(model, from, 8).getLong());
          assertThat(window.getInt(from)).isEqualTo(ByteBuffer.wrap(model, from, 4).getInt());
        }
      }
    }
    assertThat(memory.used("window")).isZero();
  }

  @Test
  void moreThanTheRoomFailsBeforeItOverwritesAnything() {
    try (Window window = new Window(new DirectMemory(), CAPACITY, 0)) {
      window.putLong(42);
      window.putZeros(CAPACITY - 16);
      assertThat(window.room(0)).isEqualTo(8);
      assertThatThrownBy(() -> window.putZeros(9))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("9 bytes at offset 4088 would overwrite");
      window.putLong(43);
      assertThatThrownBy(() -> window.putByte(1)).isInstanceOf(IllegalStateException.class);
      assertThat(window.getLong(0)).isEqualTo(42);
      assertThat(window.room(8)).isEqualTo(8);
      window.putLong(44);
    }
  }

  private static void put(Window window, Random random, byte[] model) {
    int at = (int) window.position();
    ByteBuffer bytes = ByteBuffer.wrap(model);
    switch (random.nextInt(6)) {
      case 0 -> {
        long value = random.nextLong();
        window.putLong(value);
        bytes.putLong(at, value);
      }
      case 1 -> {
        int value = random.nextInt();
        window.putInt(value);
        bytes.putInt(at, value);
      }
      case 2 -> {
        int value = random.nextInt();
        window.putShort(value);
        bytes.putShort(at, (short) value);
      }
      case 3 -> {
        int value = random.nextInt();
        window.putByte(value);
        bytes.put(at, (byte) value);
      }
      case 4 -> window.align(64);
      default -> {
        byte[] many = new byte[1 + random.nextInt(1500)];
        random.nextBytes(many);
        window.put(ByteBuffer.wrap(many));
        bytes.put(at, many);
      }
    }
    if (window.position() == at) {
      window.putByte(7);
      model[at] = 7;
    }
  }

  @Test
  void roomKeepsWhatIsNotWritten() {
    try (Window window = new Window(new DirectMemory(), CAPACITY, 0)) {
      window.putZeros(1000);
      assertThat(window.room(0)).isEqualTo(CAPACITY - 1000);
      assertThat(window.room(600)).isEqualTo(CAPACITY - 400);
    }
  }

  @Test
  void whatWasOverwrittenIsRefused() {
    try (Window window = new Window(new DirectMemory(), CAPACITY, 0)) {
      window.putZeros(CAPACITY);
      window.putZeros(100);
      assertThat(window.contains(99)).isFalse();
      assertThat(window.contains(100)).isTrue();
      assertThatThrownBy(() -> window.copyTo(50, 10, ByteBuffer.allocate(10)))
          .hasMessageContaining("50 to 60")
          .hasMessageContaining("100 to 4196");
    }
  }

  @Test
  void aVarintIsSevenBitsAByteFromTheLowEnd() {
    try (Window window = new Window(new DirectMemory(), CAPACITY, 0)) {
      window.putVarint(300);
      window.putVarint(-1);
      assertThat(window.position()).isEqualTo(12);
      assertThat(window.getByte(0)).isEqualTo((byte) 0xac);
      assertThat(window.getByte(1)).isEqualTo((byte) 2);
      assertThat(window.getByte(11)).isEqualTo((byte) 1);
    }
  }
}
