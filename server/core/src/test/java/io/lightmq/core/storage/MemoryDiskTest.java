package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class MemoryDiskTest {
  private final MemoryDisk disk = new MemoryDisk(1 << 20);

  private static byte[] read(DiskFile file, long offset, int length) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(length);
    return Arrays.copyOf(into.array(), file.read(offset, into));
  }

  @Property(tries = 200)
  void readsWhatAnArrayWouldHold(
      @ForAll @Size(min = 1, max = 12) List<@IntRange(min = 0, max = 60_000) Integer> offsets)
      throws IOException {
    byte[] model = new byte[120_000];
    int size = 0;
    try (DiskFile file =
        disk.create("f" + System.identityHashCode(offsets) + disk.list("").size())) {
      for (int offset : offsets) {
        byte[] bytes = new byte[offset % 40_000 + 1];
        Arrays.fill(bytes, (byte) offset);
        file.write(
            offset, ByteBuffer.wrap(bytes, 0, 1), ByteBuffer.wrap(bytes, 1, bytes.length - 1));
        System.arraycopy(bytes, 0, model, offset, bytes.length);
        size = Math.max(size, offset + bytes.length);
      }
      assertThat(file.size()).isEqualTo(size);
      assertThat(read(file, 0, size + 10)).isEqualTo(Arrays.copyOf(model, size));
      file.truncate(size / 2);
      file.write(size, ByteBuffer.wrap(new byte[] {1}));
      assertThat(read(file, size / 2, size - size / 2)).containsOnly(0);
      disk.delete(file.name());
    }
    assertThat(disk.usableBytes()).isEqualTo(disk.totalBytes());
  }

  @Test
  void preallocatedZerosCostNothing() throws IOException {
    try (DiskFile file = disk.create("journal/1")) {
      file.write(0, ByteBuffer.allocate(64 << 20));
      assertThat(file.size()).isEqualTo(64 << 20);
      assertThat(disk.usableBytes()).isEqualTo(disk.totalBytes());
    }
  }

  @Test
  void aDeletedFileStaysReadableUntilItsLastHandleIsClosed() throws IOException {
    DiskFile file = disk.create("a");
    file.write(0, ByteBuffer.wrap(new byte[] {7}));
    disk.delete("a");
    assertThat(disk.exists("a")).isFalse();
    assertThat(read(file, 0, 1)).containsExactly(7);
    file.close();
    assertThat(disk.usableBytes()).isEqualTo(disk.totalBytes());
  }

  @Test
  void listsOnlyTheFilesDirectlyInAFolder() throws IOException {
    disk.create("a/2");
    disk.create("a/1");
    disk.create("a/b/3");
    disk.create("ab");
    assertThat(disk.list("a")).containsExactly("1", "2");
    assertThat(disk.list("")).containsExactly("ab");
  }

  @Test
  void renameReplacesTheTarget() throws IOException {
    disk.create("new").write(0, ByteBuffer.wrap(new byte[] {1}));
    disk.create("old").write(0, ByteBuffer.wrap(new byte[] {2}));
    disk.rename("new", "old");
    assertThat(read(disk.open("old"), 0, 9)).containsExactly(1);
    assertThatThrownBy(() -> disk.open("new")).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> disk.create("old")).isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aWriteBeyondTheCapacityFailsAndNamesIt() throws IOException {
    DiskFile file = disk.create("big");
    byte[] ones = new byte[2 << 20];
    Arrays.fill(ones, (byte) 1);
    assertThatThrownBy(() -> file.write(0, ByteBuffer.wrap(ones)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("No space left")
        .hasMessageContaining("1048576");
  }
}
