package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.SimulatedDisk.Operation;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** A page cache outlives a killed process and a failed force, so it proves nothing. */
class RecoveredTailTest {
  private static final int SEEDS = 200;

  @Test
  void whatAStartHasReadIsOnTheDeviceBeforeItHasAnyEffect() throws Exception {
    assertThat(losses(LocalJournal::new)).isZero();
  }

  @Test
  void aTailThatIsTrustedIsLostByTheNextPowerCut() throws Exception {
    assertThat(losses(FaultyJournals::trustsTheRecoveredTail)).isPositive();
  }

  @Test
  void aTailIsWrittenAgainAtTheSameOffsets() throws Exception {
    JournalRig rig = new JournalRig(3);
    TestBatch batch = untilTheForceFails(rig);

    rig.kill();
    rig.recover();

    assertThat(rig.replayed).containsKey(batch.offset);
    assertThat(rig.journal.durable()).isEqualTo(batch.end());
    FileHeader header = rig.lastHeader();
    assertThat(header.recovery()).isTrue();
    assertThat(header.base()).isLessThanOrEqualTo(batch.offset);
    assertThat(header.tailEnd()).isEqualTo(batch.end());
  }

  private static int losses(JournalRig.Maker maker) throws IOException {
    int losses = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      JournalRig rig = new JournalRig(seed);
      rig.maker = maker;
      TestBatch batch = untilTheForceFails(rig);
      rig.kill();
      rig.start();
      assertThat(rig.replayed).containsKey(batch.offset);
      rig.loops.runUntilIdle();
      assertThat(rig.appended.get(0).outcome).isEqualTo(Outcome.DONE);
      rig.crash();
      try {
        rig.recover();
        losses += rig.replayed.containsKey(batch.offset) ? 0 : 1;
      } catch (IOException damaged) {
        losses++;
      }
    }
    return losses;
  }

  private static TestBatch untilTheForceFails(JournalRig rig) throws IOException {
    rig.start();
    rig.loops.runUntilIdle();
    rig.disk.fail(Operation.FORCE, 1);
    TestBatch batch = rig.append(new byte[5_000], false, true);
    rig.loops.runUntilIdle();
    assertThat(batch.outcome).isEqualTo(Outcome.UNKNOWN);
    return batch;
  }
}
