package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.runtime.Loops;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.spi.Journal;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * One store on a simulated disk: a journal that can be appended to, crashed and started again, and
 * a model of what must be in it.
 */
final class JournalRig implements Journal.Listener {
  static final UUID STORE = new UUID(0x1111222233334444L, 0x5555666677778888L);
  static final JournalSettings SETTINGS = JournalSettings.small(64 << 10);

  final SimulatedDisk disk;
  final SimulatedLoops loops;
  final DirectMemory memory = new DirectMemory();
  final TreeMap<Long, byte[]> replayed = new TreeMap<>();
  final List<IOException> failures = new ArrayList<>();
  final List<TestBatch> appended = new ArrayList<>();
  UnaryOperator<Disk> fault = UnaryOperator.identity();
  Maker maker = LocalJournal::new;
  JournalSettings settings = SETTINGS;
  LocalJournal journal;
  Window window;
  long epoch;
  long number;
  long trimmedBelow;
  private long lastCompleted;

  /** What was confirmed as durable and must be found again, by offset. */
  final TreeMap<Long, byte[]> confirmed = new TreeMap<>();

  /** Makes the journal, perhaps a faulty one. */
  interface Maker {
    LocalJournal open(Disk disk, Loops loops, JournalSettings settings, UUID store);
  }

  JournalRig(long seed) {
    this(new SimulatedDisk(seed), seed);
  }

  JournalRig(SimulatedDisk disk, long seed) {
    this.disk = disk;
    loops = new SimulatedLoops(seed);
  }

  /** Starts the journal and appends the batch that starts the epoch. */
  void start() throws IOException {
    recover();
    append(new byte[] {'S', 0, 0, (byte) epoch}, true, true);
  }

  /** Starts the journal only. */
  void recover() throws IOException {
    replayed.clear();
    failures.clear();
    appended.clear();
    lastCompleted = -1;
    journal = maker.open(fault.apply(disk), loops, settings, STORE);
    long end = journal.start(trimmedBelow, Runnable::run, this);
    if (window != null) {
      window.close();
    }
    window = new Window(memory, 128 << 10, end);
    number = 0;
  }

  TestBatch append(byte[] payload, boolean startsEpoch, boolean wantsForce) {
    int length = (Journal.Batch.HEADER_BYTES + payload.length + 63) / 64 * 64;
    if (window.room(journal.written()) < length) {
      loops.runUntilIdle();
      assertThat(window.room(journal.written())).isGreaterThanOrEqualTo(length);
    }
    long offset = window.position();
    window.putZeros(Journal.Batch.HEADER_BYTES);
    window.put(payload, 0, payload.length);
    window.align(64);
    TestBatch batch =
        new TestBatch(offset, payload, window.slices(offset, length), startsEpoch, wantsForce);
    batch.whenCompleted =
        done -> {
          assertThat(done.offset).as("completed in order").isGreaterThan(lastCompleted);
          lastCompleted = done.offset;
          if (done.outcome == Outcome.DONE) {
            assertThat(journal.durable()).isGreaterThanOrEqualTo(done.end());
            confirmed.put(done.offset, done.payload);
          }
        };
    batch.whenWritten = done -> assertThat(journal.written()).isGreaterThanOrEqualTo(done.end());
    appended.add(batch);
    journal.append(epoch, ++number, batch);
    return batch;
  }

  TestBatch append(String text) {
    return append(text.getBytes(java.nio.charset.StandardCharsets.UTF_8), false, true);
  }

  /** The header of the begun file with the highest number. */
  FileHeader lastHeader() throws IOException {
    FileHeader last = null;
    for (String name : disk.list(FilePool.FOLDER)) {
      byte[] bytes = disk.contents(FilePool.FOLDER + "/" + name);
      FileHeader header = FileHeader.read(ByteBuffer.wrap(bytes, 0, 4096));
      last = header != null && header.number() == FilePool.number(name) ? header : last;
    }
    return last;
  }

  /** Whether only what frees room should come. */
  boolean lastEighth() {
    return journal.usedBytes() > journal.capacityBytes() / 8 * 7;
  }

  /** Cuts the power. */
  void crash() {
    loops.crash();
    disk.crash();
  }

  /** Ends the process; the page cache stays. */
  void kill() {
    loops.crash();
    disk.kill();
  }

  /** After a start: everything confirmed is there, unchanged. */
  void assertConfirmedIsThere() {
    confirmed
        .tailMap(trimmedBelow)
        .forEach(
            (offset, payload) -> {
              byte[] found = replayed.get(offset);
              assertThat(found).as("confirmed batch at %s", offset).isNotNull();
              assertThat(Arrays.copyOf(found, payload.length))
                  .as("bytes of the confirmed batch at %s", offset)
                  .isEqualTo(payload);
            });
  }

  @Override
  public void replay(long offset, ByteBuffer records) {
    byte[] bytes = new byte[records.remaining()];
    records.get(bytes);
    replayed.put(offset, bytes);
  }

  @Override
  public void leader(long newEpoch, long from) {
    assertThat(newEpoch).isGreaterThanOrEqualTo(epoch);
    assertThat(from).isEqualTo(journal.appended());
    epoch = newEpoch;
  }

  @Override
  public void follower() {
    throw new AssertionError("a local journal never follows");
  }

  @Override
  public void lost(int pending) {
    throw new AssertionError("a local journal never follows");
  }

  @Override
  public void committed(long offset, ByteBuffer records) {
    throw new AssertionError("a local journal never follows");
  }

  @Override
  public void failed(IOException cause) {
    failures.add(cause);
  }
}
