package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.PowerCut;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * A start is killed at each change that it makes to the disk; the next start has its power cut at
 * each of its changes; the third must find what was confirmed before the first.
 */
class StartCrashTest {
  private static final int MOST_CHANGES = 60;

  @Test
  void nothingConfirmedIsLostWhereverTwoStartsEnd() throws Exception {
    assertThat(losses(LocalJournal::new, 0)).isZero();
    assertThat(losses(LocalJournal::new, 3)).isZero();
  }

  @Test
  void reuseOfReplacedFilesBeforeTheTailIsForcedLosesWhatWasConfirmed() throws Exception {
    assertThat(losses(FaultyJournals::reusesReplacedFilesAtOnce, 0)).isPositive();
  }

  private static int losses(JournalRig.Maker maker, int batches) throws IOException {
    int losses = 0;
    boolean firstCut = true;
    for (int first = 1; firstCut; first++) {
      assertThat(first).isLessThan(MOST_CHANGES);
      boolean secondCut = true;
      for (int second = 1; secondCut; second++) {
        assertThat(second).isLessThan(MOST_CHANGES);
        JournalRig rig = confirmed(first * 1000L + second, batches);
        rig.maker = maker;
        rig.kill();
        firstCut = startUntil(rig, first);
        rig.kill();
        secondCut = startUntil(rig, second);
        rig.crash();
        losses += isLost(rig) ? 1 : 0;
      }
    }
    return losses;
  }

  private static JournalRig confirmed(long seed, int batches) throws IOException {
    JournalRig rig = new JournalRig(new SimulatedDisk(seed), seed);
    rig.start();
    for (int i = 0; i < batches; i++) {
      rig.append("message " + i);
      rig.loops.runUntilIdle();
    }
    rig.loops.runUntilIdle();
    assertThat(rig.appended).allMatch(batch -> batch.outcome == Outcome.DONE);
    return rig;
  }

  private static boolean startUntil(JournalRig rig, int change) throws IOException {
    rig.disk.cutPowerAt(change);
    try {
      rig.recover();
      return false;
    } catch (PowerCut cut) {
      return true;
    }
  }

  private static boolean isLost(JournalRig rig) {
    try {
      rig.recover();
      return !rig.replayed.keySet().containsAll(rig.confirmed.keySet());
    } catch (IOException refused) {
      return true;
    }
  }
}
