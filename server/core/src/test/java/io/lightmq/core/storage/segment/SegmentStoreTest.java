package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedDisk.Operation;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SegmentStoreTest {
  private static final UUID STORE = new UUID(1, 2);
  private static final SegmentSettings SMALL =
      new SegmentSettings(64 << 10, 16 << 10, 4096, 4096, 20_000, 2, 16 << 10, 1 << 20);

  private final SimulatedDisk disk = new SimulatedDisk(1);
  private final DirectMemory memory = new DirectMemory();
  private final TestJournal journal = new TestJournal();

  private SegmentStore open(SegmentSettings settings) throws IOException {
    return SegmentStore.open(disk, memory, STORE, 0, List.of(), settings);
  }

  private Destaged destage(SegmentStore store, Set<Long> rewrite, TestLane... lanes)
      throws IOException {
    DestagePlan plan =
        new DestagePlan(42, Arrays.stream(lanes).map(TestLane::plan).toList(), rewrite);
    Destaged destaged = store.destage(plan, journal, () -> false);
    for (TestLane lane : lanes) {
      lane.switchTo(destaged);
    }
    for (SegmentInfo segment : destaged.segments()) {
      assertThat(store.verify(segment.address())).isNotEmpty();
    }
    return destaged;
  }

  private static void assertHolds(SegmentStore store, TestLane lane) throws IOException {
    try (SegmentReader reader = store.newReader()) {
      assertSame(lane.readAll(reader, lane.pieces()), lane.model());
    }
  }

  static void assertSame(TreeMap<Long, byte[]> found, TreeMap<Long, byte[]> expected) {
    assertThat(found.keySet()).isEqualTo(expected.keySet());
    expected.forEach((sequence, entry) -> assertThat(found.get(sequence)).isEqualTo(entry));
  }

  @Test
  void manySmallDestinationsShareOneSegmentWithOneForce() throws IOException {
    TestLane[] lanes = new TestLane[50];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new TestLane(i + 1, 4, journal).publishMany(0, 3, 20);
    }
    SegmentStore store = open(SMALL);

    Destaged destaged = destage(store, Set.of(), lanes);

    assertThat(destaged.segments()).hasSize(1);
    assertThat(destaged.pieces()).hasSize(50);
    assertThat(disk.forces("segments/.*")).isEqualTo(1);
    assertThat(disk.count(Operation.FORCE_DIRECTORY)).isEqualTo(1);
    for (TestLane lane : lanes) {
      assertHolds(store, lane);
    }
  }

  @Test
  void aDestinationWithMuchToKeepGetsSegmentsToItself() throws IOException {
    TestLane small = new TestLane(1, 4, journal).publishMany(0, 5, 50);
    TestLane big = new TestLane(2, 4, journal).publishMany(0, 400, 400);
    TestLane other = new TestLane(3, 4, journal).publishMany(0, 5, 50);
    SegmentStore store = open(SMALL);

    Destaged destaged = destage(store, Set.of(), big, small, other);

    long shared = small.pieces().get(0).segmentAddress();
    assertThat(other.pieces().get(0).segmentAddress()).isEqualTo(shared);
    assertThat(big.pieces()).hasSizeGreaterThan(2);
    assertThat(big.pieces()).noneMatch(piece -> piece.segmentAddress() == shared);
    assertThat(destaged.segments())
        .allSatisfy(each -> assertThat(each.bytes()).isLessThanOrEqualTo(64 << 10));
    for (TestLane lane : List.of(small, big, other)) {
      assertHolds(store, lane);
    }
  }

  @Test
  void segmentsLieBehindEachOtherInOneAddressSpace() throws IOException {
    TestLane big = new TestLane(2, 4, journal).publishMany(0, 400, 400);
    SegmentStore store = open(SMALL);

    Destaged destaged = destage(store, Set.of(), big);

    long next = 0;
    for (SegmentInfo segment : destaged.segments()) {
      assertThat(segment.address()).isEqualTo(next);
      next = segment.end();
    }
    assertThat(destaged.nextAddress()).isEqualTo(next);
    assertThat(store.nextAddress()).isEqualTo(next);
  }

  @Test
  void whatNobodyNeedsIsLeftOut() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 100, 30).publishMany(100, 100, 30);
    lane.acknowledge(0, 99).acknowledge(150, 160);
    SegmentStore store = open(SMALL);
    long before = journal.reads();

    destage(store, Set.of(), lane);

    assertThat(journal.reads() - before).isLessThan(10);
    assertHolds(store, lane);
    assertThat(lane.pieces().get(0).firstSequence()).isEqualTo(100);
  }

  @Test
  void aPlanWithoutNeedsTouchesNoFile() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 100, 30).acknowledge(0, 99);
    SegmentStore store = open(SMALL);
    long before = disk.changes();

    Destaged destaged = destage(store, Set.of(), lane);

    assertThat(destaged.segments()).isEmpty();
    assertThat(disk.changes()).isEqualTo(before);
  }

  @Test
  void anEntryLongerThanAllBuffersIsStoredAndRead() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publish(7, 10, 100_000, 20, 9_000, 5);
    SegmentStore store = open(SMALL);

    destage(store, Set.of(), lane);

    assertHolds(store, lane);
  }

  @Test
  void rewritingMergesPiecesButNotAcrossAPieceThatStays() throws IOException {
    SegmentStore store = open(SMALL);
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 20, 30);
    Destaged first = destage(store, Set.of(), lane);
    lane.publishMany(20, 20, 30);
    Destaged second = destage(store, Set.of(), lane);
    lane.publishMany(40, 20, 30);
    final Destaged third = destage(store, Set.of(), lane);
    lane.publishMany(60, 20, 30).acknowledge(3, 15).acknowledge(45, 50);

    Destaged mixed =
        destage(
            store,
            Set.of(first.segments().get(0).address(), third.segments().get(0).address()),
            lane);

    assertThat(mixed.replaced()).hasSize(2);
    assertThat(lane.pieces()).extracting(Piece::firstSequence).containsExactly(0L, 20L, 40L);
    assertThat(lane.pieces()).extracting(Piece::lastSequence).containsExactly(19L, 39L, 79L);
    assertHolds(store, lane);

    destage(
        store, Set.of(second.segments().get(0).address(), mixed.segments().get(0).address()), lane);
    assertThat(lane.pieces()).hasSize(1);
    assertHolds(store, lane);
  }

  @Test
  void readsStopAtTheRoomAndGoOnWhereTheyStopped() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 500, 100);
    SegmentStore store = open(SMALL);
    destage(store, Set.of(), lane);
    TreeMap<Long, byte[]> expected = new TreeMap<>(lane.model());
    int entryBytes = expected.firstEntry().getValue().length;
    ByteBuffer out = ByteBuffer.allocate(entryBytes * 7 + 5);
    int before = disk.count(Operation.READ);

    long next = 0;
    List<byte[]> found = new ArrayList<>();
    try (SegmentReader reader = store.newReader()) {
      for (Piece piece : lane.pieces()) {
        while (true) {
          out.clear();
          SegmentReader.Read read = reader.read(piece, next, piece.lastSequence(), Wanted.ALL, out);
          out.flip();
          assertThat(read.bytes()).isEqualTo(out.remaining());
          for (int i = 0; i < read.count(); i++) {
            byte[] entry = new byte[out.getInt(out.position())];
            out.get(entry);
            found.add(entry);
          }
          next = read.nextSequence();
          if (read.complete()) {
            break;
          }
          assertThat(read.neededBytes()).isEqualTo(expected.get(next).length);
        }
      }
    }
    assertThat(found).hasSize(500);
    assertThat(found).containsExactlyElementsOf(expected.values());
    long bytes = lane.pieces().stream().mapToLong(Piece::bytes).sum();
    assertThat(disk.count(Operation.READ) - before)
        .as("reads of 4 KiB for a sequential drain")
        .isLessThan((int) (bytes / 3_000) + 20);
  }

  @Test
  void pickedSequencesAreFoundAndOthersPassedOver() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 1000, 20).acknowledge(400, 599);
    SegmentStore store = open(SegmentSettings.DEFAULT);
    destage(store, Set.of(), lane);
    List<Long> found = new ArrayList<>();

    try (SegmentReader reader = store.newReader()) {
      SegmentReader.Read read =
          reader.scan(
              lane.pieces().get(0),
              0,
              999,
              Wanted.of(0, 3, 399, 400, 500, 600, 999),
              (sequence, buffer, at, length) -> found.add(sequence));
      assertThat(read.complete()).isTrue();
      assertThat(read.nextSequence()).isEqualTo(1000);
    }
    assertThat(found).containsExactly(0L, 3L, 399L, 600L, 999L);
  }

  @Test
  void aDeletedSegmentStaysUntilTheLastReferenceIsClosed() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 10, 20);
    SegmentStore store = open(SMALL);
    long address = destage(store, Set.of(), lane).segments().get(0).address();
    String name = SegmentFormat.name(address);
    SegmentStore.Hold one = store.hold(address);
    SegmentStore.Hold two = store.hold(address);

    store.delete(List.of(address));
    assertThat(disk.exists(name)).isTrue();
    one.close();
    one.close();
    assertThat(disk.exists(name)).isTrue();
    two.close();
    assertThat(disk.exists(name)).isFalse();

    assertThatThrownBy(() -> store.hold(address))
        .isInstanceOf(SegmentException.Gone.class)
        .hasMessageContaining("look the sequence up again");
    try (SegmentReader reader = store.newReader()) {
      assertThatThrownBy(() -> lane.readAll(reader, lane.pieces()))
          .isInstanceOf(SegmentException.Gone.class);
    }
  }

  @Test
  void spansWithoutAnIdArePassedOver() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 5_000, 1_000);
    SegmentStore store = open(SegmentSettings.DEFAULT);
    destage(store, Set.of(), lane);
    Piece piece = lane.pieces().get(0);
    assertThat(piece.spans()).isGreaterThan(50);

    try (SegmentReader reader = store.newReader()) {
      assertThat(shown(reader, piece, IdWanted.correlationId("order-7")))
          .contains(7L, 107L, 4_907L)
          .hasSizeLessThan(4_999);
      assertThat(shown(reader, piece, IdWanted.correlationId("order-100"))).isEmpty();
      assertThat(shown(reader, piece, IdWanted.messageId("ID:" + "0".repeat(32) + ":1"))).isEmpty();
      MessageId id =
          MessageReader.ofEntry(ByteBuffer.wrap(lane.model().get(3_333L)), 0).messageId();
      assertThat(shown(reader, piece, IdWanted.messageId(id.toString())))
          .contains(3_333L)
          .hasSizeLessThan(200);
    }
    assertThat(IdWanted.messageId("ID:other")).isNull();
  }

  @Test
  void anIndexThatIsDamagedIsMadeAnewFromItsEntries() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 9_000, 1_000);
    SegmentInfo info;
    try (SegmentStore store = open(SegmentSettings.DEFAULT)) {
      info = destage(store, Set.of(), lane).segments().get(0);
    }
    Piece piece = lane.pieces().get(0);
    String name = SegmentFormat.name(info.address());
    byte[] intact = disk.contents(name);
    int blocks = (piece.spans() + IndexBlock.SPANS - 1) / IndexBlock.SPANS;
    assertThat(blocks).isEqualTo(4);
    int all = (1 << blocks) - 1;
    for (int damaged : new int[] {1, 2, 4, 8, 6, all}) {
      byte[] spoilt = intact.clone();
      for (int block = 0; block < blocks; block++) {
        if ((damaged & 1 << block) != 0) {
          long at = piece.indexAddress() - info.address() + (long) block * IndexBlock.STRIDE;
          Arrays.fill(spoilt, (int) at, (int) at + 600, (byte) 0);
        }
      }
      disk.replace(name, spoilt);
      for (long cache : new long[] {0, 1 << 20}) {
        SegmentSettings settings =
            new SegmentSettings(256L << 20, 16L << 20, 4096, 65_536, cache, 2, 4 << 20, 1 << 20);
        try (SegmentStore store =
                SegmentStore.open(disk, memory, STORE, info.end(), List.of(info), settings);
            SegmentReader reader = store.newReader()) {
          assertThat(shown(reader, piece, IdWanted.correlationId("order-7"))).contains(7L, 4_907L);
          for (long sequence = 8_999; sequence >= 0; sequence -= 1_111) {
            ByteBuffer into = ByteBuffer.allocate(2_000);
            reader.read(piece, sequence, sequence, Wanted.ALL, into);
            assertThat(Arrays.copyOf(into.array(), into.position()))
                .isEqualTo(lane.model().get(sequence));
          }
          if (cache > 0) {
            assertSame(lane.readAll(reader, lane.pieces()), lane.model());
          }
        }
      }
    }
  }

  private static List<Long> shown(SegmentReader reader, Piece piece, IdWanted id)
      throws IOException {
    List<Long> found = new ArrayList<>();
    reader.scan(
        piece, 0, 4_999, Wanted.ALL, id, (sequence, buffer, at, length) -> found.add(sequence));
    return found;
  }

  @Test
  void aSegmentDeletedInTheMiddleOfAScanIsReadToItsEnd() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 200, 100);
    SegmentStore store = open(SMALL);
    destage(store, Set.of(), lane);
    Piece piece = lane.pieces().get(0);
    List<Long> found = new ArrayList<>();

    try (SegmentReader reader = store.newReader()) {
      reader.scan(
          piece,
          0,
          Long.MAX_VALUE,
          Wanted.ALL,
          (sequence, buffer, at, length) -> {
            store.delete(List.of(piece.segmentAddress()));
            return found.add(sequence);
          });
    }

    assertThat(found).hasSize((int) piece.count());
    assertThat(disk.exists(SegmentFormat.name(piece.segmentAddress()))).isFalse();
  }

  @Test
  void openFilesAndCachedBlocksStayBounded() throws IOException {
    SegmentStore store = open(SMALL);
    List<TestLane> lanes = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      TestLane lane = new TestLane(i + 1, 4, journal).publishMany(0, 60, 700);
      destage(store, Set.of(), lane);
      lanes.add(lane);
    }
    for (TestLane lane : lanes) {
      assertHolds(store, lane);
      assertThat(store.openFiles()).isLessThanOrEqualTo(2);
    }
    assertThat(store.segments()).hasSizeGreaterThanOrEqualTo(8);

    SegmentSettings fine =
        new SegmentSettings(8 << 20, 8 << 20, 4096, 4096, 20_000, 2, 4 << 20, 1 << 20);
    TestJournal own = new TestJournal();
    TestLane long1 = new TestLane(9, 4, own).publishMany(0, 300, 70_000 / 2);
    SegmentStore many =
        SegmentStore.open(disk, memory, STORE, store.nextAddress(), List.of(), fine);
    Destaged destaged =
        many.destage(new DestagePlan(1, List.of(long1.plan()), Set.of()), own, () -> false);
    long1.switchTo(destaged);
    assertThat(destaged.pieces().stream().mapToInt(Piece::spans).sum()).isGreaterThan(240);
    assertHolds(many, long1);
    assertThat(many.cachedIndexBytes()).isPositive().isLessThanOrEqualTo(20_000);
  }

  @Test
  void aCancelledDestageLeavesNoFileAndNoMemory() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 400, 400);
    SegmentStore store = open(SMALL);
    int[] asked = {0};

    assertThatThrownBy(
            () ->
                store.destage(
                    new DestagePlan(1, List.of(lane.plan()), Set.of()),
                    journal,
                    () -> ++asked[0] > 300))
        .isInstanceOf(SegmentException.Cancelled.class)
        .hasMessageContaining("sequence 300");

    assertThat(disk.list("segments")).isEmpty();
    assertThat(memory.used(SegmentStore.MEMORY)).isZero();
    assertThat(store.nextAddress()).isGreaterThan(64 << 10);
    destage(store, Set.of(), lane);
    assertHolds(store, lane);
  }

  @Test
  void missingRoomIsToldByTypeAndLeavesNoFile() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 400, 400);
    SegmentStore store = open(SMALL);
    disk.capacity(100_000);

    assertThatThrownBy(() -> destage(store, Set.of(), lane))
        .isInstanceOf(DiskFullException.class)
        .hasMessageContaining("checkpoint at 42");
    assertThat(disk.list("segments")).isEmpty();

    disk.capacity(Long.MAX_VALUE);
    destage(store, Set.of(), lane);
    assertHolds(store, lane);
  }

  @Test
  void aDamagedEntryInTheJournalIsCopiedAsItIsAndFoundWhenItIsRead() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 40, 100);
    journal.flip(lane.plan().runs().iterator().next().journalOffset() + 3_000);
    int damaged = 0;
    try (SegmentStore store = open(SMALL);
        SegmentReader reader = store.newReader()) {
      DestagePlan plan = new DestagePlan(42, List.of(lane.plan()), Set.of());
      Piece piece = store.destage(plan, journal, () -> false).pieces().get(0);
      assertThat(piece.count()).isEqualTo(40);
      for (long sequence = 0; sequence < 40; sequence++) {
        try {
          ByteBuffer into = ByteBuffer.allocate(10_000);
          assertThat(reader.read(piece, sequence, sequence, Wanted.ALL, into).count()).isEqualTo(1);
        } catch (SegmentException.Damaged e) {
          damaged++;
        }
      }
    }
    assertThat(damaged).as("the one whose bit was flipped").isEqualTo(1);
  }

  @Test
  void aPlanOutOfOrderIsRefused() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(10, 5, 10).publishMany(3, 5, 10);
    SegmentStore store = open(SMALL);

    assertThatThrownBy(() -> destage(store, Set.of(), lane))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("run from sequence 3 follows 14");
    assertThat(disk.list("segments")).isEmpty();
  }

  @Test
  void abandonedSegmentsAreDeleted() throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 400, 400);
    SegmentStore store = open(SMALL);
    Destaged destaged = destage(store, Set.of(), lane);

    store.abandon(destaged);

    assertThat(disk.list("segments")).isEmpty();
    assertThat(store.segments()).isEmpty();
  }

  @Test
  void lanesOfOneDestinationKeepApart() throws IOException {
    TestLane low = new TestLane(1, 3, journal).publishMany(0, 10, 10);
    TestLane high = new TestLane(1, 4, journal).publishMany(0, 12, 10);
    SegmentStore store = open(SMALL);

    Destaged destaged = destage(store, Set.of(), high, low);

    assertThat(destaged.pieces()).extracting(Piece::lane).containsExactly(3, 4);
    assertHolds(store, low);
    assertHolds(store, high);
  }

  @Test
  void readersOnOtherThreadsGetEverythingOrLearnThatItIsGone() throws Exception {
    SegmentStore store = open(SMALL);
    List<TestLane> lanes = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      TestLane lane = new TestLane(i + 1, 4, journal).publishMany(0, 20, 300);
      destage(store, Set.of(), lane);
      lanes.add(lane);
    }
    ExecutorService readers = Executors.newFixedThreadPool(3);
    try {
      List<Future<Integer>> gone = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        gone.add(readers.submit(() -> readUntilAllGone(store, lanes)));
      }
      for (TestLane lane : lanes) {
        store.delete(List.of(lane.pieces().get(0).segmentAddress()));
      }
      for (Future<Integer> each : gone) {
        assertThat(each.get(60, TimeUnit.SECONDS)).isEqualTo(12);
      }
    } finally {
      readers.shutdownNow();
    }
    assertThat(disk.list("segments")).isEmpty();
    assertThat(store.openFiles()).isZero();
    assertThat(memory.used(SegmentStore.MEMORY)).isZero();
  }

  private static int readUntilAllGone(SegmentStore store, List<TestLane> lanes) throws IOException {
    Set<Integer> gone = new HashSet<>();
    try (SegmentReader reader = store.newReader()) {
      while (gone.size() < lanes.size()) {
        for (int i = 0; i < lanes.size(); i++) {
          try {
            assertSame(lanes.get(i).readAll(reader, lanes.get(i).pieces()), lanes.get(i).model());
          } catch (SegmentException.Gone e) {
            gone.add(i);
          }
        }
      }
    }
    return gone.size();
  }

  @Test
  void aFileThatCannotBeDeletedIsTriedAgain() throws IOException {
    TestLane one = new TestLane(1, 4, journal).publishMany(0, 10, 20);
    TestLane two = new TestLane(2, 4, journal).publishMany(0, 10, 20);
    SegmentStore store = open(SMALL);
    long first = destage(store, Set.of(), one).segments().get(0).address();
    long second = destage(store, Set.of(), two).segments().get(0).address();
    disk.fail(Operation.DELETE, 1);

    assertThatThrownBy(() -> store.delete(List.of(first))).hasMessageContaining("injected");
    assertThat(disk.list("segments")).hasSize(2);
    store.delete(List.of(second));
    assertThat(disk.list("segments")).isEmpty();
  }

  @Test
  void aRealDirectoryHoldsWhatWasWrittenAndReadsItAfterwards(@TempDir Path folder)
      throws IOException {
    TestLane lane = new TestLane(1, 4, journal).publishMany(0, 300, 200).publish(300, 90_000);
    Destaged destaged;
    try (NioDisk real = NioDisk.open(folder)) {
      SegmentStore store = SegmentStore.open(real, memory, STORE, 0, List.of(), SMALL);
      destaged =
          store.destage(new DestagePlan(1, List.of(lane.plan()), Set.of()), journal, () -> false);
      lane.switchTo(destaged);
      store.close();
    }
    try (NioDisk real = NioDisk.open(folder)) {
      SegmentStore store =
          SegmentStore.open(
              real, memory, STORE, destaged.nextAddress(), destaged.segments(), SMALL);
      for (SegmentInfo segment : destaged.segments()) {
        store.verify(segment.address());
      }
      assertHolds(store, lane);
      store.delete(destaged.segments().stream().map(SegmentInfo::address).toList());
      assertThat(real.list("segments")).isEmpty();
      store.close();
    }
  }
}
