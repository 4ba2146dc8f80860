package io.lightmq.core.storage.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.SegmentInfo;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The bytes of version 1; {@code -Dgolden.write=<folder>} writes them. */
final class SnapshotGoldenTest {
  private static final UUID STORE = new UUID(0x1111, 0x2222);
  private static final String NAME = "snapshots/00000000000000000099.snap";

  static Snapshot sample(long offset) {
    return new Snapshot(
        offset,
        1_700_000_000_000L,
        9_000,
        List.of(ByteBuffer.wrap(new byte[] {1, 2, 3}), ByteBuffer.wrap(new byte[0])),
        List.of(new SegmentInfo(4096, 2000, 1500, 10)),
        List.of(
            new Piece(7, 4, 0, 1, 9, 5, 4096, 4160, 700, 5660, 1),
            new Piece(8, 5, 0, 1L << 32, (1L << 32) + 4, 5, 4096, 4860, 800, 5768, 2)));
  }

  private static void check(String golden, SimulatedDisk disk, String name) throws IOException {
    String written = HexFormat.of().formatHex(disk.contents(name));
    String folder = System.getProperty("golden.write");
    if (folder != null) {
      Files.writeString(Path.of(folder, golden), written.replaceAll("(.{96})", "$1\n") + "\n");
    }
    try (InputStream in = SnapshotGoldenTest.class.getResourceAsStream("/golden/" + golden)) {
      assertThat(in).as("golden file %s", golden).isNotNull();
      String expected = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(written).isEqualTo(expected.replaceAll("\\s", ""));
    }
  }

  @Test
  void theBytesOfVersionOneStayAsTheyAre() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    SnapshotStore.open(disk, STORE).publish(sample(99));
    check("snapshot-v1.hex", disk, NAME);
    disk.replace("segments/00000000000000004096.log", new byte[2000]);
    assertThat(SnapshotStore.open(disk, STORE).load().snapshot()).contains(sample(99));
  }

  @Test
  void theStoreFileOfVersionOneStaysAsItIs() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    assertThat(StoreIdentity.openOrCreate(disk, () -> STORE))
        .isEqualTo(new StoreIdentity(STORE, true));
    check("store-v1.hex", disk, "store");
    assertThat(StoreIdentity.openOrCreate(disk, () -> new UUID(3, 3)))
        .isEqualTo(new StoreIdentity(STORE, false));
  }
}
