package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.DestagePlan.JournalBytes;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damage in the journal ends no destage and takes no message beside those that lie in it. */
final class DestageDamageTest {
  private static final int COUNT = 40;
  private static final SegmentSettings SETTINGS =
      new SegmentSettings(64 << 10, 16 << 10, 4096, 4096, 20_000, 2, 16 << 10, 1 << 20);

  private final SimulatedDisk disk = new SimulatedDisk(1);
  private final TestJournal journal = new TestJournal();
  private final TestLane lane = new TestLane(1, 4, journal).publishMany(0, COUNT, 100);
  private final int length = lane.model().get(20L).length;
  private List<Destaged.Damage> told = List.of();

  private SegmentStore open() throws IOException {
    return SegmentStore.open(disk, new DirectMemory(), new UUID(1, 2), 0, List.of(), SETTINGS);
  }

  private long offsetOf(int entry) {
    long offset = lane.plan().runs().iterator().next().journalOffset();
    for (long before = 0; before < entry; before++) {
      offset += lane.model().get(before).length;
    }
    return offset;
  }

  /** Destages, and returns what comes back of each sequence, none for what is damaged. */
  private TreeMap<Long, byte[]> destage(JournalBytes bytes, boolean takeWhatComes)
      throws IOException {
    TreeMap<Long, byte[]> found = new TreeMap<>();
    try (SegmentStore store = open();
        SegmentReader reader = store.newReader()) {
      Destaged destaged =
          store.destage(
              new DestagePlan(42, List.of(lane.plan()), Set.of(), takeWhatComes),
              bytes,
              () -> false);
      told = destaged.damages();
      assertThat(destaged.pieces()).hasSize(1);
      Piece piece = destaged.pieces().get(0);
      assertThat(piece.count()).as("each has a place").isEqualTo(COUNT);
      for (long sequence = 0; sequence < COUNT; sequence++) {
        ByteBuffer into = ByteBuffer.allocate(10_000);
        try {
          assertThat(reader.read(piece, sequence, sequence, Wanted.ALL, into).count()).isEqualTo(1);
          byte[] entry = new byte[into.flip().remaining()];
          into.get(entry);
          found.put(sequence, entry);
        } catch (SegmentException.Damaged e) {
          assertThat(e.sequence()).isEqualTo(sequence);
        }
      }
    }
    disk.delete("segments/" + disk.list("segments").get(0));
    return found;
  }

  private void expect(TreeMap<Long, byte[]> found, long... missing) {
    TreeMap<Long, byte[]> expected = new TreeMap<>(lane.model());
    List<Long> lost = new ArrayList<>();
    for (long each : missing) {
      expected.remove(each);
      lost.add(each);
    }
    SegmentStoreTest.assertSame(found, expected);
    List<Long> toldOf = new ArrayList<>();
    for (Destaged.Damage each : told) {
      for (long sequence = each.from(); sequence <= each.through(); sequence++) {
        toldOf.add(sequence);
      }
      assertThat(each.cause()).hasMessageContaining("journal at offset");
    }
    assertThat(toldOf).isEqualTo(lost);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 20, COUNT - 1})
  void aLengthThatAloneIsDamagedIsKnownAgain(int entry) throws IOException {
    for (int at = 0; at < 4; at++) {
      journal.flip(offsetOf(entry) + at);
      expect(destage(journal, false));
      journal.flip(offsetOf(entry) + at);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8, 12, 16, 24, 31, 64, 80, 120})
  void aDamagedByteTakesOneMessage(int at) throws IOException {
    journal.flip(offsetOf(20) + at);
    journal.flip(offsetOf(20) + 3);
    expect(destage(journal, false), 20);
  }

  @Test
  void aLengthThatLeadsIntoTheNextEntryTakesNeither() throws IOException {
    journal.put(offsetOf(20), ByteBuffer.allocate(4).putInt(0, length + 100).array());
    expect(destage(journal, false));
  }

  @Test
  void zerosTakeWhatLiesInThem() throws IOException {
    journal.put(offsetOf(20) + 50, new byte[2 * length]);
    expect(destage(journal, false), 20, 21, 22);
  }

  @Test
  void zerosToTheEndOfTheRunTakeTheEnd() throws IOException {
    journal.put(
        offsetOf(COUNT - 3) + 50, new byte[(int) (offsetOf(COUNT) - offsetOf(COUNT - 3)) - 50]);
    expect(destage(journal, false), COUNT - 3, COUNT - 2, COUNT - 1);
  }

  @Test
  void aWholeRunOfZerosLeavesAPlaceForEach() throws IOException {
    journal.put(offsetOf(0), new byte[(int) (offsetOf(COUNT) - offsetOf(0))]);
    long[] all = new long[COUNT];
    for (int i = 0; i < COUNT; i++) {
      all[i] = i;
    }
    expect(destage(journal, false), all);
  }

  /** A write that never came leaves what lay there: whole, and another's. */
  @Test
  void anotherMessageInThePlaceOfOneIsNotTakenForIt() throws IOException {
    journal.put(offsetOf(20), TestLane.entry(1, 4, 19, 100));
    expect(destage(journal, false), 20);
    journal.put(offsetOf(20), TestLane.entry(9, 4, 20, 100));
    expect(destage(journal, false), 20);
  }

  @Test
  void whatNobodyNeedsIsNotTold() throws IOException {
    journal.put(offsetOf(20) + 50, new byte[2 * length]);
    lane.acknowledge(21, 21);
    try (SegmentStore store = open()) {
      Destaged destaged =
          store.destage(new DestagePlan(42, List.of(lane.plan()), Set.of()), journal, () -> false);
      assertThat(destaged.damages())
          .extracting(Destaged.Damage::from, Destaged.Damage::through)
          .containsExactly(tuple(20L, 20L), tuple(22L, 22L));
    }
  }

  private JournalBytes withoutSector(long sector, IOException failure) {
    return (offset, into) -> {
      if (offset < sector + 512 && sector < offset + into.remaining()) {
        throw failure;
      }
      journal.read(offset, into);
    };
  }

  @Test
  void whatTheDeviceDoesNotGiveIsTriedAgainBeforeItCountsAsDamaged() throws IOException {
    JournalBytes bytes = withoutSector(4096, new IOException("Input/output error"));
    assertThatThrownBy(() -> destage(bytes, false))
        .isInstanceOfSatisfying(
            SegmentException.Unread.class, unread -> assertThat(unread.isOfJournalBytes()).isTrue())
        .hasMessageContaining("Input/output error");
    assertThat(disk.list("segments")).isEmpty();
    TreeMap<Long, byte[]> found = destage(bytes, true);
    assertThat(found).containsKeys(0L, (long) COUNT - 1).hasSizeBetween(1, COUNT - 2);
    found.forEach((sequence, entry) -> assertThat(entry).isEqualTo(lane.model().get(sequence)));
    assertThat(told).isNotEmpty();
  }

  @Test
  void aFileThatCannotBeOpenedSaysNothingOfItsBytes() throws IOException {
    JournalBytes bytes = withoutSector(4096, new AccessDeniedException("journal/0001"));
    for (boolean takeWhatComes : new boolean[] {false, true}) {
      assertThatThrownBy(() -> destage(bytes, takeWhatComes))
          .isInstanceOfSatisfying(
              SegmentException.Unread.class,
              unread -> assertThat(unread.isOfJournalBytes()).isFalse())
          .hasMessageContaining("journal/0001");
      assertThat(disk.list("segments")).isEmpty();
    }
  }

  @Test
  void whatStandsForALostMessageIsNeverWhole() {
    ByteBuffer entry = ByteBuffer.wrap(lane.model().get(3L).clone());
    assertThat(Entry.isIntact(entry, 0, length)).isTrue();
    Entry.spoil(entry, 0);
    assertThat(Entry.isIntact(entry, 0, length)).isFalse();
  }
}
