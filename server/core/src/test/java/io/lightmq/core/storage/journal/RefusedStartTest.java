package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.MemoryDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A start that is refused may be tried again in the same process: it leaves no file open. */
class RefusedStartTest {
  private static final int FILE_BYTES = 1 << 16;

  private final MemoryDisk memory = new MemoryDisk(10 * FILE_BYTES);
  private int open;

  private final FaultyDisk disk =
      new FaultyDisk(memory) {
        @Override
        public DiskFile open(String name) throws IOException {
          open++;
          return new Counted(super.open(name));
        }
      };

  private final class Counted implements DiskFile {
    private final DiskFile file;

    Counted(DiskFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) throws IOException {
      return file.read(fileOffset, into);
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      file.write(fileOffset, from);
    }

    @Override
    public void force() throws IOException {
      file.force();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void close() throws IOException {
      open--;
      file.close();
    }
  }

  private void file(int number, int bytes) throws IOException {
    try (DiskFile file = memory.create(FilePool.name(number))) {
      file.write(0, ByteBuffer.allocate(bytes));
    }
  }

  private void recover(long fromOffset) throws IOException {
    new Recovery(disk, new UUID(1, 2), JournalSettings.small(FILE_BYTES))
        .run(fromOffset, (offset, records) -> {});
  }

  @Test
  void filesOfAnotherLength() throws IOException {
    file(1, FILE_BYTES);
    file(2, FILE_BYTES);
    file(3, FILE_BYTES / 2);
    assertThatThrownBy(() -> recover(0))
        .hasMessageContaining("3.jnl is damaged: it has " + FILE_BYTES / 2 + " bytes");
    assertThat(open).isZero();
  }

  @Test
  void allFilesOfAnotherLength() throws IOException {
    file(1, FILE_BYTES / 2);
    file(2, FILE_BYTES / 2);
    assertThatThrownBy(() -> recover(0)).hasMessageContaining("but the setting says");
    file(3, FILE_BYTES / 2 + 100);
    assertThatThrownBy(() -> recover(0)).hasMessageContaining("3.jnl is damaged");
    assertThat(open).isZero();
  }

  @Test
  void aJournalThatLacksWhatTheSnapshotNeeds() throws IOException {
    file(1, FILE_BYTES);
    assertThatThrownBy(() -> recover(1_000)).hasMessageContaining("the journal is missing");
    assertThat(open).isZero();
  }

  @Test
  void aStartThatIsNotRefusedKeepsItsFiles() throws IOException {
    file(1, FILE_BYTES);
    recover(0);
    assertThat(open).isOne();
  }
}
