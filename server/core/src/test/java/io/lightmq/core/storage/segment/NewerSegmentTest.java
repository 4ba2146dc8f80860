package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A segment of a newer release is told apart from a damaged one: the text has both versions. */
final class NewerSegmentTest {
  private static final UUID STORE = new UUID(0x1111, 0x2222);
  private static final int ADDRESS = 4096;
  private static final int INDEX_MAGIC = 0x4c4d5149;

  /** What has a version in a segment. */
  enum Part {
    HEADER {
      @Override
      void raise(ByteBuffer file) {
        file.putInt(8, file.getInt(8) + 1);
        file.putInt(60, crc(file, 0, 60));
      }
    },
    INDEX_BLOCK {
      @Override
      void raise(ByteBuffer file) {
        int block = 64;
        while (file.getInt(block) != INDEX_MAGIC) {
          block++;
        }
        file.putShort(block + 4, (short) (file.getShort(block + 4) + 1));
        int end = 16 + 88 * file.getShort(block + 6);
        file.putInt(block + end, crc(file, block, end));
      }
    },
    FOOTER {
      @Override
      void raise(ByteBuffer file) {
        int footer = file.capacity() - 96;
        file.putInt(footer + 8, file.getInt(footer + 8) + 1);
        file.putInt(footer + 92, crc(file, footer, 92));
      }
    };

    abstract void raise(ByteBuffer file);
  }

  private static int crc(ByteBuffer file, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(file.slice(from, length));
    return (int) crc.getValue();
  }

  @ParameterizedTest
  @EnumSource(Part.class)
  void bothVersionsAreNamed(Part part) throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    TestJournal journal = new TestJournal();
    TestLane lane = new TestLane(7, 4, journal).publish(0, 10, 0, 30);
    Destaged destaged =
        open(disk, ADDRESS, List.of())
            .destage(new DestagePlan(99, List.of(lane.plan()), Set.of()), journal, () -> false);
    String name = SegmentFormat.name(ADDRESS);
    assertThat(open(disk, destaged.nextAddress(), destaged.segments()).verify(ADDRESS))
        .isNotEmpty();

    ByteBuffer bytes = ByteBuffer.wrap(disk.contents(name));
    part.raise(bytes);
    disk.replace(name, bytes.array());

    SegmentStore store = open(disk, destaged.nextAddress(), destaged.segments());
    assertThatThrownBy(() -> store.verify(ADDRESS))
        .hasMessageMatching(".*\\bversion 2\\b.*reads up to 1\\b.*");
  }

  private static SegmentStore open(SimulatedDisk disk, long next, List<SegmentInfo> segments)
      throws IOException {
    return SegmentStore.open(
        disk, new DirectMemory(), STORE, next, segments, SegmentSettings.DEFAULT);
  }
}
