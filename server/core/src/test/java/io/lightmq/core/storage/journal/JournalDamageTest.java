package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import java.util.Arrays;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Cuts, flips and foreign files: found, refused or harmless, never silent. */
class JournalDamageTest {
  private static final String FILE = FilePool.name(1);
  private final JournalRig rig = new JournalRig(5);
  private TestBatch first;
  private TestBatch second;
  private TestBatch third;

  @BeforeEach
  void threeBatches() throws Exception {
    rig.start();
    first = rig.append("the first");
    rig.loops.runUntilIdle();
    second = rig.append("the second");
    rig.loops.runUntilIdle();
    third = rig.append("the third");
    rig.loops.runUntilIdle();
    assertThat(third.outcome).isEqualTo(Outcome.DONE);
    rig.kill();
  }

  @Test
  void atEachByteThatTheLastBatchIsCutTheOthersAreFound() throws Exception {
    for (long offset = third.offset; offset < third.end(); offset++) {
      JournalRig cut = at(rig.disk.copy(1));
      byte[] bytes = cut.disk.contents(FILE);
      Arrays.fill(bytes, place(offset), bytes.length, (byte) 0);
      cut.disk.replace(FILE, bytes);
      cut.recover();
      assertThat(cut.replayed.keySet()).contains(first.offset, second.offset);
      boolean whole = offset > third.offset + 64 + third.payload.length;
      assertThat(cut.replayed.containsKey(third.offset))
          .as("cut at %s", offset)
          .isEqualTo(whole || Arrays.equals(bytes, rig.disk.contents(FILE)));
    }
  }

  @Test
  void eachFlippedBitOfAForcedBatchRefusesTheStart() throws Exception {
    for (long offset = second.offset; offset < second.end(); offset++) {
      JournalRig flipped = at(rig.disk.copy(1));
      flipped.disk.flip(FILE, place(offset), (int) (offset & 7));
      assertThatThrownBy(flipped::recover)
          .as("flip at %s", offset)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("damaged at offset " + second.offset);
    }
  }

  @Test
  void eachFlippedBitOfTheLastBatchIsATornTail() throws Exception {
    for (long offset = third.offset; offset < third.end(); offset++) {
      JournalRig flipped = at(rig.disk.copy(1));
      flipped.disk.flip(FILE, place(offset), (int) (offset & 7));
      flipped.recover();
      assertThat(flipped.replayed.keySet()).contains(second.offset).doesNotContain(third.offset);
    }
  }

  @Test
  void eachFlippedBitOfTheFileHeaderRefusesTheStart() throws Exception {
    for (int at = 0; at < FileHeader.BYTES; at++) {
      JournalRig flipped = at(rig.disk.copy(1));
      flipped.disk.flip(FILE, at, at & 7);
      assertThatThrownBy(flipped::recover).as("flip at %s", at).isInstanceOf(IOException.class);
    }
  }

  @Test
  void afterAnIdleRecordAFlipOfTheLastBatchIsDamageToo() throws Exception {
    JournalRig idle = at(rig.disk.copy(1));
    idle.recover();
    idle.append("one more");
    idle.loops.advance(100_000_000);
    TestBatch last = idle.append("the last");
    idle.loops.advance(100_000_000);
    assertThat(last.outcome).isEqualTo(Outcome.DONE);
    FileHeader header = idle.lastHeader();
    idle.kill();
    idle.disk.flip(FilePool.name(header.number()), 4096 + last.offset - header.base() + 70, 1);

    assertThatThrownBy(idle::recover).hasMessageContaining("damaged at offset " + last.offset);
  }

  @Test
  void aForeignStoreIsRefused() {
    SimulatedLoops loops = new SimulatedLoops(1);
    LocalJournal journal = new LocalJournal(rig.disk, loops, JournalRig.SETTINGS, new UUID(1, 2));

    assertThatThrownBy(() -> journal.start(0, Runnable::run, rig))
        .hasMessageContaining(JournalRig.STORE.toString())
        .hasMessageContaining("copied here");
  }

  @Test
  void aMissingFirstFileIsRefused() throws Exception {
    rig.disk.delete(FILE);
    rig.trimmedBelow = second.offset;

    assertThatThrownBy(rig::recover).hasMessageContaining("the journal is missing");
  }

  @Test
  void anOffsetInTheMiddleOfABatchOrBehindTheEndIsRefused() {
    rig.trimmedBelow = second.offset + 1;
    assertThatThrownBy(rig::recover).hasMessageContaining("no batch that begins at offset");

    rig.trimmedBelow = third.end() + 64;
    assertThatThrownBy(rig::recover).hasMessageContaining("read up to offset " + third.end());
  }

  @Test
  void staleContentsOfARecycledFileAreNotTakenForNew() throws Exception {
    JournalRig recycled = at(rig.disk.copy(1));
    recycled.recover();
    recycled.append(new byte[] {'S'}, true, true);
    byte[] large = new byte[20_000];
    Arrays.fill(large, (byte) 9);
    for (int i = 0; i < 60; i++) {
      TestBatch batch = recycled.append(large, false, true);
      recycled.loops.runUntilIdle();
      assertThat(batch.outcome).isEqualTo(Outcome.DONE);
      recycled.trimmedBelow = batch.offset;
      recycled.journal.trim(batch.offset);
      recycled.loops.runUntilIdle();
      recycled.kill();
      recycled.recover();
      assertThat(recycled.replayed.keySet()).containsExactly(batch.offset);
    }
    assertThat(recycled.disk.list("journal")).hasSizeLessThanOrEqualTo(8);
  }

  private JournalRig at(SimulatedDisk disk) {
    return new JournalRig(disk, 7);
  }

  private int place(long offset) {
    return (int) (JournalSettings.PAGE_BYTES + offset);
  }
}
