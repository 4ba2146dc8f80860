package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import io.lightmq.wire.entry.Crc;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every byte of a segment matters: spoilt, it is found, and what is given out is never wrong. */
final class SegmentDamageTest {
  private static final UUID STORE = new UUID(1, 2);
  private static final SegmentSettings SETTINGS =
      new SegmentSettings(1 << 20, 1 << 20, 2048, 2048, 1 << 20, 4, 1 << 16, 1 << 20);

  private final SimulatedDisk disk = new SimulatedDisk(1);
  private final TestJournal journal = new TestJournal();
  private final TestLane first = new TestLane(7, 4, journal);
  private final TestLane second = new TestLane(8, 5, journal);
  private SegmentInfo info = new SegmentInfo(0, 1, 0, 0);
  private String file = "";
  private byte[] intact = {};

  @BeforeEach
  void write() throws IOException {
    first.publish(0, 10, 0, 300).publish(1L << 32, 5, 66_000, 7);
    second.publishMany(5, 4, 3);
    SegmentStore store = SegmentStore.open(disk, new DirectMemory(), STORE, 0, List.of(), SETTINGS);
    Destaged destaged =
        store.destage(
            new DestagePlan(3, List.of(first.plan(), second.plan()), Set.of()),
            journal,
            () -> false);
    first.switchTo(destaged);
    second.switchTo(destaged);
    info = destaged.segments().get(0);
    file = SegmentFormat.name(info.address());
    intact = disk.contents(file);
    store.close();
  }

  private static SegmentStore reopen(Disk disk, SegmentInfo info) throws IOException {
    return SegmentStore.open(disk, new DirectMemory(), STORE, info.end(), List.of(info), SETTINGS);
  }

  /** Reads everything; what comes without an exception must be right. Returns whether all came. */
  private boolean readsRightOrNot(SegmentStore store) throws IOException {
    boolean complete = true;
    for (TestLane lane : List.of(first, second)) {
      for (Piece piece : lane.pieces()) {
        TreeMap<Long, byte[]> found = new TreeMap<>();
        try (SegmentReader reader = store.newReader()) {
          reader.scan(
              piece,
              0,
              Long.MAX_VALUE,
              Wanted.ALL,
              (sequence, buffer, at, length) -> {
                byte[] entry = new byte[length];
                buffer.get(at, entry);
                found.put(sequence, entry);
                return true;
              });
          assertThat(found).as("complete without an exception").hasSize((int) piece.count());
        } catch (SegmentException.Damaged e) {
          complete = false;
        }
        found.forEach((sequence, entry) -> assertThat(entry).isEqualTo(lane.model().get(sequence)));
      }
    }
    return complete;
  }

  @Test
  void everyFlippedBitIsFoundAndNoWrongByteIsGivenOut() throws IOException {
    for (int at = 0; at < intact.length; at += at > 3_000 && at < 66_000 ? 397 : 1) {
      byte[] spoilt = intact.clone();
      spoilt[at] ^= (byte) (1 << at % 8);
      disk.replace(file, spoilt);
      try (SegmentStore store = reopen(disk, info)) {
        assertThatThrownBy(() -> store.verify(info.address()))
            .as("byte %d", at)
            .isInstanceOf(SegmentException.Damaged.class)
            .hasMessageContaining(file);
        boolean complete = readsRightOrNot(store);
        if (isIndex(at)) {
          assertThat(complete).as("byte %d of the index is made anew", at).isTrue();
        }
      }
    }
  }

  private boolean isIndex(int at) {
    for (Piece piece : List.of(first.pieces().get(0), second.pieces().get(0))) {
      long from = piece.indexAddress() - info.address();
      if (at >= from && at < from + IndexBlock.indexBytes(piece.spans())) {
        return true;
      }
    }
    return false;
  }

  /** With its entry no block can be made anew: all behind is left, and nothing wrong is read. */
  @Test
  void anIndexWhoseEntryIsDamagedTooIsNotMadeAnew() throws IOException {
    Piece piece = second.pieces().get(0);
    byte[] spoilt = intact.clone();
    spoilt[(int) (piece.indexAddress() - info.address()) + 30] ^= 1;
    spoilt[(int) (piece.address() - info.address()) + 90] ^= 1;
    disk.replace(file, spoilt);
    try (SegmentStore store = reopen(disk, info);
        SegmentReader reader = store.newReader()) {
      assertThatThrownBy(() -> reader.read(piece, 5, 8, Wanted.ALL, ByteBuffer.allocate(10_000)))
          .isInstanceOfSatisfying(
              SegmentException.Damaged.class,
              e -> {
                assertThat(e.sequence()).isEqualTo(5);
                assertThat(e.through()).isEqualTo(8);
              })
          .hasMessageContaining("cannot be made anew");
    }
  }

  @Test
  void everyTruncationIsFound() throws IOException {
    for (int length = 0;
        length < intact.length;
        length += length > 3_000 && length < 66_000 ? 397 : 1) {
      disk.replace(file, Arrays.copyOf(intact, length));
      try (SegmentStore store = reopen(disk, info)) {
        assertThatThrownBy(() -> store.verify(info.address()))
            .as("length %d", length)
            .isInstanceOf(SegmentException.Damaged.class)
            .hasMessageContaining("expected " + intact.length);
        assertThat(length % 16 == 0 && readsRightOrNot(store)).isFalse();
      }
    }
  }

  @Test
  void aTruncationUnderAnOpenFileIsDamageToo() throws IOException {
    try (SegmentStore store = reopen(disk, info);
        SegmentStore.Hold hold = store.hold(info.address())) {
      assertThat(hold.address()).isEqualTo(info.address());
      disk.replace(file, Arrays.copyOf(intact, 500));
      assertThat(readsRightOrNot(store)).isFalse();
    }
  }

  @Test
  void anotherStoresSegmentIsRefused() throws IOException {
    try (SegmentStore store =
        SegmentStore.open(
            disk, new DirectMemory(), new UUID(9, 9), info.end(), List.of(info), SETTINGS)) {
      assertThatThrownBy(() -> store.hold(info.address()))
          .isInstanceOf(SegmentException.Damaged.class)
          .hasMessageContaining("store " + STORE);
    }
  }

  @Test
  void damageNamesFileAddressAndSequences() throws IOException {
    Piece piece = second.pieces().get(0);
    int at = (int) (piece.address() - info.address()) + 90;
    byte[] spoilt = intact.clone();
    spoilt[at] ^= 1;
    disk.replace(file, spoilt);
    try (SegmentStore store = reopen(disk, info);
        SegmentReader reader = store.newReader()) {
      assertThatThrownBy(() -> reader.read(piece, 5, 8, Wanted.ALL, ByteBuffer.allocate(10_000)))
          .isInstanceOfSatisfying(
              SegmentException.Damaged.class, e -> assertThat(e.sequence()).isEqualTo(5))
          .hasMessageContaining(file)
          .hasMessageContaining("address " + piece.address())
          .hasMessageContaining("sequences 5 to 5")
          .hasMessageContaining("expected");
    }
  }

  @Test
  void aCheckThatFailsOnceIsRepeatedThroughAFreshLookUp() throws IOException {
    FlakyDisk flaky = new FlakyDisk(disk);
    try (SegmentStore store = reopen(flaky, info)) {
      for (int read = 1; read < 12; read++) {
        flaky.spoilRead(read);
        assertThat(readsRightOrNot(store)).as("read %d", read).isTrue();
      }
      assertThat(flaky.spoilt()).isGreaterThan(5);
    }
  }

  /** The twin of the bit flips: a CRC that is "right" for wrong bytes is what skipping it means. */
  @Test
  void plantedBugOfASkippedCrcIsFoundByTheSameOracle() throws IOException {
    Piece piece = second.pieces().get(0);
    int at = (int) (piece.address() - info.address());
    byte[] spoilt = intact.clone();
    ByteBuffer buffer = ByteBuffer.wrap(spoilt);
    int length = Entry.length(buffer, at);
    spoilt[at + length - 1] ^= 1;
    buffer.putInt(at + 4, Crc.of(buffer, at + 8, at + length));
    disk.replace(file, spoilt);
    try (SegmentStore store = reopen(disk, info)) {
      assertThatThrownBy(() -> readsRightOrNot(store)).isInstanceOf(AssertionError.class);
    }
  }

  /** Every entry that is read whole gets the CRC that its bytes happen to have. */
  private static Disk skipsTheCrc(Disk disk) {
    return new FaultyDisk(disk) {
      @Override
      protected int read(DiskFile file, long fileOffset, ByteBuffer into) throws IOException {
        int start = into.position();
        int count = super.read(file, fileOffset, into);
        for (int at = start; at + Entry.HEADER_BYTES <= start + count; at++) {
          int length = into.getInt(at);
          boolean entry = into.get(at + 8) == 1 && into.getLong(at + 16) == 8;
          if (entry && length >= Entry.HEADER_BYTES && at + length <= start + count) {
            into.putInt(at + 4, Crc.of(into, at + 8, at + length));
          }
        }
        return count;
      }
    };
  }

  @Test
  void aSegmentReaderThatSkipsTheCrcIsFound() throws IOException {
    int at = (int) (second.pieces().get(0).address() - info.address());
    byte[] spoilt = intact.clone();
    spoilt[at + Entry.length(ByteBuffer.wrap(intact), at) - 1] ^= 1;
    disk.replace(file, spoilt);
    try (SegmentStore store = reopen(disk, info)) {
      assertThat(readsRightOrNot(store)).as("with the check").isFalse();
    }
    try (SegmentStore store = reopen(skipsTheCrc(disk), info)) {
      assertThatThrownBy(() -> readsRightOrNot(store))
          .as("without the check")
          .isInstanceOf(AssertionError.class);
    }
  }
}
