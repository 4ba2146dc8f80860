package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * The bytes of version 1. A new version gets a file of its own, and this one must stay readable;
 * {@code -Dgolden.write=<folder>} writes it.
 */
final class SegmentGoldenTest {
  private static final UUID STORE = new UUID(0x1111, 0x2222);
  private static final String GOLDEN = "segment-v1.hex";

  @Test
  void theBytesOfVersionOneStayAsTheyAre() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    TestJournal journal = new TestJournal();
    TestLane first = new TestLane(7, 4, journal).publish(0, 10, 0, 30).publish(1L << 32, 5);
    TestLane second = new TestLane(8, 5, journal).publish(3, 1, 2);
    SegmentStore store =
        SegmentStore.open(
            disk, new DirectMemory(), STORE, 4096, List.of(), SegmentSettings.DEFAULT);
    Destaged destaged =
        store.destage(
            new DestagePlan(99, List.of(second.plan(), first.plan()), Set.of()),
            journal,
            () -> false);
    first.switchTo(destaged);
    second.switchTo(destaged);
    String written = HexFormat.of().formatHex(disk.contents(SegmentFormat.name(4096)));
    String folder = System.getProperty("golden.write");
    if (folder != null) {
      Files.writeString(Path.of(folder, GOLDEN), written.replaceAll("(.{96})", "$1\n") + "\n");
    }

    String golden = read();
    assertThat(written).isEqualTo(golden);

    SimulatedDisk other = new SimulatedDisk(2);
    other.createFolder("segments");
    other.replace(SegmentFormat.name(4096), HexFormat.of().parseHex(golden));
    SegmentStore reopened =
        SegmentStore.open(
            other,
            new DirectMemory(),
            STORE,
            destaged.nextAddress(),
            destaged.segments(),
            SegmentSettings.DEFAULT);
    assertThat(reopened.verify(4096)).isEqualTo(destaged.pieces());
    try (SegmentReader reader = reopened.newReader()) {
      SegmentStoreTest.assertSame(first.readAll(reader, destaged.pieces()), first.model());
      SegmentStoreTest.assertSame(second.readAll(reader, destaged.pieces()), second.model());
    }
  }

  private static String read() throws IOException {
    try (InputStream in = SegmentGoldenTest.class.getResourceAsStream("/golden/" + GOLDEN)) {
      return in == null
          ? "missing"
          : new String(in.readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII)
              .replaceAll("\\s", "");
    }
  }
}
