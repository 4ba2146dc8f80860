package io.lightmq.core.storage.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.segment.SegmentInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class SnapshotStoreTest {
  private static final UUID STORE = new UUID(1, 2);

  private final SimulatedDisk disk = new SimulatedDisk(1);

  private static Snapshot snapshot(long offset, SegmentInfo... segments) {
    return new Snapshot(
        offset,
        7,
        0,
        List.of(
            ByteBuffer.wrap(
                ("state at " + offset).getBytes(java.nio.charset.StandardCharsets.US_ASCII))),
        List.of(segments),
        List.of());
  }

  private SegmentInfo segment(long address, int bytes) throws IOException {
    disk.replace(path(address), new byte[bytes]);
    return new SegmentInfo(address, bytes, 0, 0);
  }

  private static String path(long address) {
    return "segments/%020d.log".formatted(address);
  }

  private static String file(long offset) {
    return "snapshots/%020d.snap".formatted(offset);
  }

  private SnapshotStore open() throws IOException {
    return SnapshotStore.open(disk, STORE);
  }

  @Test
  void aNewStoreHasNone() throws IOException {
    SnapshotStore.Loaded loaded = open().load();
    assertThat(loaded.snapshot()).isEmpty();
    assertThat(loaded.rejected()).isEmpty();
    assertThat(loaded.segments()).isEmpty();
  }

  @Test
  void theNewestComesBackWithItsSlices() throws IOException {
    SnapshotStore store = open();
    ByteBuffer big = ByteBuffer.allocateDirect(700_000);
    for (int i = 0; i < big.capacity(); i++) {
      big.put(i, (byte) (i * 7));
    }
    Snapshot snapshot =
        new Snapshot(
            5,
            7,
            3,
            List.of(ByteBuffer.allocate(0), big, ByteBuffer.allocate(3)),
            List.of(),
            List.of());
    store.publish(snapshot);

    assertThat(open().load().snapshot()).contains(snapshot);
    assertThat(SnapshotFormat.fileBytes(snapshot)).isEqualTo(disk.contents(file(5)).length);
  }

  @Test
  void twoAreKeptAndTheJournalUpToTheOlder() throws IOException {
    SnapshotStore store = open();
    SegmentInfo a = segment(0, 100);
    SegmentInfo b = segment(100, 100);
    assertThat(store.publish(snapshot(10, a)).journalNeededFrom()).isEqualTo(10);
    assertThat(store.publish(snapshot(20, a, b)).journalNeededFrom()).isEqualTo(10);
    assertThat(store.publish(snapshot(30, b)).unneededSegments()).isEmpty();

    SnapshotStore.Published published = store.publish(snapshot(40, b));

    assertThat(published.journalNeededFrom()).isEqualTo(30);
    assertThat(published.unneededSegments()).containsExactly(0L);
    assertThat(published.leftovers()).isEmpty();
    assertThat(disk.list("snapshots"))
        .containsExactly("00000000000000000030.snap", "00000000000000000040.snap");
    assertThat(open().load().segments()).containsExactly(b);
  }

  @Test
  void everyTruncationAndFlipOfTheNewestFallsBackToTheOlderWithAReason() throws IOException {
    SnapshotStore store = open();
    SegmentInfo a = segment(4096, 2000);
    store.publish(snapshot(10, a));
    store.publish(SnapshotGoldenTest.sample(20));
    byte[] intact = disk.contents(file(20));
    for (int at = 0; at < intact.length; at++) {
      byte[] spoilt = intact.clone();
      spoilt[at] ^= (byte) (1 << at % 8);
      disk.replace(file(20), spoilt);
      assertFallsBack(10, "byte " + at);
      disk.replace(file(20), Arrays.copyOf(intact, at));
      assertFallsBack(10, "length " + at);
    }
  }

  private void assertFallsBack(long offset, String what) throws IOException {
    SnapshotStore.Loaded loaded = open().load();
    assertThat(loaded.snapshot().orElseThrow().offset()).as(what).isEqualTo(offset);
    assertThat(loaded.rejected()).as(what).hasSize(1);
    assertThat(loaded.rejected().get(0)).contains(file(20));
  }

  @Test
  void aMissingOrShortSegmentMakesItsSnapshotInvalid() throws IOException {
    SnapshotStore store = open();
    SegmentInfo a = segment(0, 100);
    store.publish(snapshot(10, a));
    store.publish(snapshot(20, a, segment(100, 50)));

    disk.replace(path(100), new byte[49]);
    assertThat(open().load().rejected().get(0))
        .contains("segment 00000000000000000100 with 50 bytes, which has 49");

    disk.delete("orphaned/00000000000000000100.log");
    SnapshotStore.Loaded loaded = open().load();
    assertThat(loaded.rejected().get(0)).contains("is missing");
    assertThat(loaded.snapshot().orElseThrow().offset()).isEqualTo(10);
  }

  /** A disk that does not give the newest snapshot so many times. */
  private Disk failing(int[] failures) {
    return new FaultyDisk(disk) {
      @Override
      protected int read(DiskFile file, long at, ByteBuffer into) throws IOException {
        if (file.name().contains(file(20)) && failures[0]-- > 0) {
          throw new IOException("Input/output error");
        }
        return super.read(file, at, into);
      }
    };
  }

  @Test
  void aSnapshotThatCannotBeReadOnceIsReadAgain() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    store.publish(snapshot(20));
    SnapshotStore.Loaded loaded = SnapshotStore.open(failing(new int[] {1}), STORE).load();
    assertThat(loaded.rejected()).isEmpty();
    assertThat(loaded.snapshot().orElseThrow().offset()).isEqualTo(20);
  }

  @Test
  void aNewestSnapshotThatWasRemovedIsTold() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10, segment(0, 100)));
    store.publish(snapshot(20, segment(100, 50)));
    disk.delete(file(20));
    SnapshotStore.Loaded loaded = open().load();
    assertThat(loaded.snapshot().orElseThrow().offset()).isEqualTo(10);
    assertThat(loaded.rejected()).singleElement().asString().contains("removed");
  }

  @Test
  void withoutAValidSnapshotTheShardRefusesToStart() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    store.publish(snapshot(20));
    disk.flip(file(10), 70, 1);
    disk.flip(file(20), 70, 1);

    assertThatThrownBy(this::open)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("none of 2 snapshots is valid")
        .hasMessageContaining(file(10))
        .hasMessageContaining(file(20))
        .hasMessageContaining("backup");
  }

  @Test
  void anotherStoresSnapshotIsNotTaken() throws IOException {
    open().publish(snapshot(10));
    assertThatThrownBy(() -> SnapshotStore.open(disk, new UUID(8, 8)))
        .hasMessageContaining("store " + STORE);
  }

  @Test
  void unnamedSegmentsAreMovedAsideAndRemovedWithTheNextPublish() throws IOException {
    SnapshotStore store = open();
    SegmentInfo a = segment(0, 100);
    store.publish(snapshot(10, a));
    segment(100, 30);

    SnapshotStore again = open();
    assertThat(again.load().orphans()).containsExactly("00000000000000000100.log");
    assertThat(disk.list("segments")).containsExactly("00000000000000000000.log");
    assertThat(disk.list("orphaned")).containsExactly("00000000000000000100.log");
    assertThat(again.nextAddress()).isEqualTo(130);

    assertThat(open().nextAddress()).as("while it is in orphaned/").isEqualTo(130);
    again.publish(snapshot(20, a));
    assertThat(disk.list("orphaned")).isEmpty();
    assertThat(open().nextAddress()).as("remembered by the snapshot").isEqualTo(130);
  }

  @Test
  void afterADamagedNewestTheNextPublishKeepsTheGoodOne() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    store.publish(snapshot(20));
    disk.flip(file(20), 70, 1);

    SnapshotStore again = open();
    again.publish(snapshot(20));

    assertThat(open().load().snapshot()).contains(snapshot(20));
    assertThat(disk.list("snapshots")).hasSize(2);
    assertThat(open().load().rejected()).isEmpty();
  }

  @Test
  void publishingTheSameOffsetAgainReplacesIt() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    store.publish(snapshot(20));
    SnapshotStore.Published published = store.publish(snapshot(20, segment(0, 10)));

    assertThat(published.journalNeededFrom()).isEqualTo(10);
    assertThat(open().load().segments()).hasSize(1);
    assertThatThrownBy(() -> store.publish(snapshot(19)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("older than the newest, 20");
  }

  @Test
  void missingRoomLeavesTheKeptOnesAsTheyWere() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    disk.capacity(disk.usedBytes() + 20);

    assertThatThrownBy(() -> store.publish(snapshot(20))).isInstanceOf(DiskFullException.class);
    assertThat(disk.list("snapshots")).containsExactly("00000000000000000010.snap");

    disk.capacity(Long.MAX_VALUE);
    assertThat(store.publish(snapshot(20)).journalNeededFrom()).isEqualTo(10);
  }

  @Test
  void leftoversOfACutAreRemoved() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    disk.replace(file(30) + ".tmp", new byte[5]);
    disk.replace(file(5), disk.contents(file(10)));

    SnapshotStore again = open();
    assertThat(again.load().rejected()).hasSize(1);
    again.publish(snapshot(20));
    assertThat(disk.list("snapshots")).hasSize(2);
  }

  @Test
  void theBallastIsGivenUpAndTakenBack() throws IOException {
    disk.capacity(10_000_000);
    Ballast ballast = Ballast.open(disk, 3_000_000);
    assertThat(ballast.heldBytes()).isEqualTo(3_000_000);
    assertThat(disk.usedBytes()).isEqualTo(3_000_000);
    assertThat(ballast.release()).isEqualTo(3_000_000);
    assertThat(disk.usedBytes()).isZero();

    disk.capacity(5_000_000);
    assertThat(ballast.refill()).as("5 MB are not twice 3 MB").isFalse();
    disk.capacity(6_000_000);
    assertThat(ballast.refill()).isTrue();
    assertThat(Ballast.open(disk, 1_000_000).heldBytes()).isEqualTo(1_000_000);
    assertThat(disk.usedBytes()).isEqualTo(1_000_000);
  }

  @Test
  void theIdentityIsRefusedWhenDamagedNewerOrMissing() throws IOException {
    StoreIdentity.openOrCreate(disk, () -> STORE);
    byte[] intact = disk.contents("store");
    List<String> texts = new ArrayList<>();
    for (int at = 0; at < intact.length; at++) {
      byte[] spoilt = intact.clone();
      spoilt[at] ^= 0x10;
      disk.replace("store", spoilt);
      assertThatThrownBy(() -> StoreIdentity.openOrCreate(disk, () -> STORE))
          .isInstanceOf(IOException.class)
          .satisfies(e -> texts.add(e.getMessage()));
    }
    assertThat(texts).anyMatch(text -> text.contains("start a newer one"));
    assertThat(texts).anyMatch(text -> text.contains("is damaged"));

    disk.delete("store");
    disk.createFolder("snapshots");
    disk.replace(file(1), new byte[3]);
    assertThatThrownBy(() -> StoreIdentity.openOrCreate(disk, () -> STORE))
        .hasMessageContaining("no file \"store\" but 1 files in snapshots/");
  }

  @Test
  void anUnreadableNewestFallsBackToo() throws IOException {
    SnapshotStore store = open();
    store.publish(snapshot(10));
    store.publish(snapshot(20));

    SnapshotStore.Loaded loaded = SnapshotStore.open(failing(new int[] {9}), STORE).load();
    assertThat(loaded.snapshot().orElseThrow().offset()).isEqualTo(10);
    assertThat(loaded.rejected().get(0)).contains(file(20)).contains("Input/output error");
  }

  @Test
  void aPowerCutAnywhereInTheFirstStartLeavesADirectoryThatStarts() throws IOException {
    for (long at = 1; at < 20; at++) {
      for (long seed = 0; seed < 20; seed++) {
        SimulatedDisk fresh = new SimulatedDisk(seed);
        fresh.cutPowerAt(at);
        boolean created = false;
        try {
          created = StoreIdentity.openOrCreate(fresh, () -> STORE).created();
          SnapshotStore.open(fresh, STORE).publish(snapshot(1));
        } catch (PowerCut e) {
          assertThat(e).hasMessageContaining("at change");
        }
        fresh.crash();
        StoreIdentity again = StoreIdentity.openOrCreate(fresh, () -> new UUID(5, 5));
        assertThat(again.created()).isEqualTo(!created && !again.storeId().equals(STORE));
        assertThat(again.storeId()).isEqualTo(again.created() ? new UUID(5, 5) : STORE);
        SnapshotStore.open(fresh, again.storeId()).publish(snapshot(2));
      }
    }
  }

  @Test
  void theSegmentsOfAFailedPublishStayUntilTheNextOne() throws IOException {
    SnapshotStore store = open();
    SegmentInfo a = segment(0, 100);
    store.publish(snapshot(10, a));
    SegmentInfo b = segment(100, 100);
    disk.fail(SimulatedDisk.Operation.FORCE_DIRECTORY, 1);

    assertThatThrownBy(() -> store.publish(snapshot(20, a, b))).hasMessageContaining("injected");
    disk.kill();
    assertThat(open().load().segments()).as("a start that finds its name").containsExactly(a, b);

    SnapshotStore.Published published = store.publish(snapshot(30, a));
    assertThat(published.unneededSegments()).containsExactly(100L);
    assertThat(published.journalNeededFrom()).isEqualTo(10);
    assertThat(disk.list("snapshots")).hasSize(2);
  }
}
