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
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The bytes of each version; {@code -Dgolden.write=<folder>} writes them. */
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
    assertThat(written).isEqualTo(golden(golden));
  }

  private static String golden(String name) throws IOException {
    try (InputStream in = SnapshotGoldenTest.class.getResourceAsStream("/golden/" + name)) {
      assertThat(in).as("golden file %s", name).isNotNull();
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).replaceAll("\\s", "");
    }
  }

  /** The sample with a piece that its lane has taken over. */
  private static Snapshot withOrigin(Snapshot sample) {
    List<Piece> pieces = new ArrayList<>(sample.pieces());
    pieces.add(new Piece(9, 4, 0, 1, 3, 3, 4096, 5660, 0x40, 5900, 1).takenOver(7, 4, 9));
    return new Snapshot(
        sample.offset(),
        sample.createdMillis(),
        sample.nextAddress(),
        sample.state(),
        sample.segments(),
        pieces);
  }

  @Test
  void theBytesOfVersionTwoStayAsTheyAre() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    SnapshotStore.open(disk, STORE).publish(withOrigin(sample(99)));
    check("snapshot-v2.hex", disk, NAME);
    disk.replace("segments/00000000000000004096.log", new byte[2000]);
    assertThat(SnapshotStore.open(disk, STORE).load().snapshot()).contains(withOrigin(sample(99)));
  }

  @Test
  void aSnapshotOfVersionOneIsReadAndNoneOfItsPiecesIsTakenOver() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    SnapshotStore.open(disk, STORE).publish(sample(98)); // makes the folder
    disk.replace(NAME, HexFormat.of().parseHex(golden("snapshot-v1.hex")));
    disk.replace("segments/00000000000000004096.log", new byte[2000]);
    assertThat(SnapshotStore.open(disk, STORE).load().snapshot()).contains(sample(99));
  }

  @Test
  void theStoreFileOfVersionTwoStaysAsItIs() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    StoreIdentity created = StoreIdentity.openOrCreate(disk, () -> STORE);
    assertThat(created.created()).isTrue();
    assertThat(created.used()).isFalse();
    created.markUsed();
    check("store-v2-member.hex", disk, "store");
    StoreIdentity again = StoreIdentity.openOrCreate(disk, () -> new UUID(3, 3));
    assertThat(again.storeId()).isEqualTo(STORE);
    assertThat(again.created()).isFalse();
    assertThat(again.used()).isTrue();
    assertThat(again.key()).isEqualTo(created.key()).hasSize(StoreIdentity.KEY_BYTES);
  }

  @Test
  void aStoreFileWithoutAMemberGetsOneThatStaysAndKeepsAllElse() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    disk.replace("store", HexFormat.of().parseHex(golden("store-v2.hex")));
    StoreIdentity first = StoreIdentity.openOrCreate(disk, () -> new UUID(3, 4L << 32 | 5));
    assertThat(first.storeId()).isEqualTo(STORE);
    assertThat(first.used()).isTrue();
    assertThat(first.memberId()).isEqualTo(new UUID(3, 4));
    StoreIdentity second = StoreIdentity.openOrCreate(disk, () -> new UUID(5, 6L << 32));
    assertThat(second.memberId()).isEqualTo(first.memberId());
    assertThat(second.key()).isEqualTo(first.key());
    assertThat(second.used()).isTrue();
  }

  @Test
  void aStoreFileOfVersionOneKeepsItsIdAndGetsAKeyThatStays() throws IOException {
    SimulatedDisk disk = new SimulatedDisk(1);
    disk.replace("store", HexFormat.of().parseHex(golden("store-v1.hex")));
    StoreIdentity first = StoreIdentity.openOrCreate(disk, () -> new UUID(3, 4));
    assertThat(first.storeId()).isEqualTo(STORE);
    assertThat(first.created()).isFalse();
    assertThat(first.used()).isFalse();
    StoreIdentity second = StoreIdentity.openOrCreate(disk, () -> new UUID(5, 6));
    assertThat(second.storeId()).isEqualTo(STORE);
    assertThat(second.key()).isEqualTo(first.key()).isNotEqualTo(new byte[32]);
  }
}
