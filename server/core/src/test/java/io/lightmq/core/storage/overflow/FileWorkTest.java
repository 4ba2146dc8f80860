package io.lightmq.core.storage.overflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.MemoryDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever fails, and however much of the cleaning up fails too, no handle is left open. */
class FileWorkTest {
  private enum Failing {
    WRITE,
    TRUNCATE,
    CLOSE,
    DELETE
  }

  private final Set<Failing> failing = new HashSet<>();
  private final Set<DiskFile> handles = new HashSet<>();
  private final MemoryDisk memory = new MemoryDisk(1 << 20);

  private final FaultyDisk disk =
      new FaultyDisk(memory) {
        @Override
        public DiskFile create(String name) throws IOException {
          return new Counted(super.create(name));
        }

        @Override
        public void delete(String name) throws IOException {
          fail(Failing.DELETE);
          super.delete(name);
        }
      };

  private final FileWork work = new FileWork(disk, 0);

  private void fail(Failing what) throws IOException {
    if (failing.contains(what)) {
      throw new IOException(what + " fails");
    }
  }

  private final class Counted implements DiskFile {
    private final DiskFile file;

    Counted(DiskFile file) {
      this.file = file;
      handles.add(this);
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) throws IOException {
      return file.read(fileOffset, into);
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      fail(Failing.WRITE);
      file.write(fileOffset, from);
    }

    @Override
    public void force() throws IOException {
      file.force();
    }

    @Override
    public void truncate(long bytes) throws IOException {
      fail(Failing.TRUNCATE);
      file.truncate(bytes);
    }

    @Override
    public void close() throws IOException {
      handles.remove(this);
      file.close();
      fail(Failing.CLOSE);
    }
  }

  @BeforeEach
  void wipe() throws IOException {
    work.wipe();
  }

  private DiskFile write(DiskFile known, int number) throws IOException {
    return work.write(known, number, 0, ByteBuffer.wrap(new byte[100]));
  }

  @ParameterizedTest
  @EnumSource(Failing.class)
  void aFirstWriteThatFailsLeavesNeitherHandleNorFile(Failing also) throws IOException {
    failing.add(Failing.WRITE);
    failing.add(also);
    for (int number = 1; number <= 50; number++) {
      int file = number;
      assertThatThrownBy(() -> write(null, file)).hasMessage("WRITE fails");
    }
    assertThat(handles).isEmpty();
    failing.clear();
    work.delete(write(null, 51), 100);
    assertThat(memory.list(FileWork.FOLDER)).isEmpty();
    assertThat(handles).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Failing.class)
  void aLaterWriteThatFailsLeavesTheFileAsItWas(Failing also) throws IOException {
    DiskFile known = write(null, 1);
    failing.add(Failing.WRITE);
    failing.add(also);
    assertThatThrownBy(() -> work.write(known, 1, 100, ByteBuffer.wrap(new byte[5])))
        .hasMessage("WRITE fails");
    assertThat(handles).containsExactly(known);
    assertThat(known.size()).isEqualTo(100);
  }

  @Test
  void whatTheShardWasToldNoMoreIsClosedAtTheEndToo() throws IOException {
    write(null, 1);
    write(null, 2);
    failing.add(Failing.CLOSE);
    work.deleteAll();
    assertThat(handles).isEmpty();
    assertThat(memory.list(FileWork.FOLDER)).isEmpty();
  }
}
