package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.SimulatedDisk.Operation;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Every force, write and rename fails once, at every place; nothing is ever retried. */
class JournalFailureTest {
  private static final int BATCHES = 25;

  @Test
  void afterEachFailingForceNothingIsConfirmedAndNothingConfirmedIsLost() throws Exception {
    failEach(Operation.FORCE);
  }

  @Test
  void afterEachFailingWriteNothingIsConfirmedAndNothingConfirmedIsLost() throws Exception {
    failEach(Operation.WRITE);
  }

  @Test
  void eachFailingRenameOrDirectoryForceLosesNothing() throws Exception {
    failEach(Operation.RENAME);
    failEach(Operation.FORCE_DIRECTORY);
  }

  @Test
  void withoutSpaceForMoreFilesAppendsWaitForATrim() throws Exception {
    JournalRig rig = new JournalRig(1);
    rig.start();
    rig.loops.runUntilIdle();
    rig.disk.capacity(rig.disk.usedBytes());
    TestBatch last = null;
    int sent = 0;
    while (!rig.lastEighth()) {
      last = rig.append(new byte[20_000], false, true);
      rig.loops.runUntilIdle();
      assertThat(++sent).isLessThan(20);
    }
    assertThat(rig.journal.capacityBytes()).isEqualTo(4L * rig.settings.usableBytes());
    assertThat(rig.failures).isEmpty();

    rig.journal.trim(last.offset);
    rig.loops.runUntilIdle();

    assertThat(rig.lastEighth()).isFalse();
    for (int i = 0; i < 4; i++) {
      TestBatch more = rig.append(new byte[20_000], false, true);
      rig.loops.runUntilIdle();
      assertThat(more.outcome).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void theEndsOfFilesThatNoBatchFitsIntoAreUsedBeforeAnythingIsWritten() throws Exception {
    JournalRig rig = new JournalRig(1);
    rig.start();
    rig.loops.runUntilIdle();
    long before = rig.journal.usedBytes();
    long bytes = 0;
    for (int i = 0; i < 5; i++) {
      long expected = rig.journal.usedBytesAfter(20_032 + 64);
      TestBatch batch = rig.append(new byte[20_032], false, true);
      assertThat(rig.journal.usedBytes()).isEqualTo(expected);
      bytes += batch.end() - batch.offset;
    }
    long appended = rig.journal.usedBytes();
    assertThat(appended).isGreaterThan(before + bytes);
    rig.loops.runUntilIdle();
    assertThat(rig.journal.usedBytes()).isEqualTo(appended);
  }

  private static void failEach(Operation operation) throws IOException {
    int nth = 1;
    int fired = 0;
    boolean more = true;
    while (more) {
      JournalRig rig = new JournalRig(nth);
      rig.start();
      rig.loops.runUntilIdle();
      int before = rig.disk.count(operation);
      rig.disk.fail(operation, nth);
      boolean failed = false;
      int refused = 0;
      for (int i = 0; i < BATCHES && refused < 2; i++) {
        TestBatch batch =
            rig.append(new byte[i % 5 == 0 && !failed ? 30_000 : 300], false, i % 3 != 0);
        rig.loops.runUntilIdle();
        if (failed) {
          assertThat(batch.outcome).isEqualTo(Outcome.REFUSED);
          refused++;
        }
        failed = !rig.failures.isEmpty();
        if (rig.journal.usedBytes() > rig.journal.capacityBytes() / 2 && !failed) {
          rig.trimmedBelow = rig.confirmed.lastKey();
          rig.journal.trim(rig.trimmedBelow);
          rig.loops.runUntilIdle();
          failed = !rig.failures.isEmpty();
        }
      }
      more = rig.disk.count(operation) - before >= nth;
      fired += failed ? 1 : 0;
      assertThat(rig.failures.size()).isLessThanOrEqualTo(1);
      rig.crash();
      rig.recover();
      rig.assertConfirmedIsThere();
      nth++;
    }
    assertThat(nth).as("places where %s could fail", operation).isGreaterThan(2);
    if (operation == Operation.FORCE || operation == Operation.WRITE) {
      assertThat(fired).as("failures of %s that ended the journal", operation).isGreaterThan(5);
    }
  }
}
