package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import java.io.IOException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Each planted bug must turn the simulation red within its seeds, or the simulation is worthless.
 */
class PlantedBugsTest {
  private static final int SEEDS = 300;
  private static final int ROUNDS = 12;

  @Test
  void aForceThatDoesNothingIsFound() {
    assertFound(FaultyDisk::forceThatDoesNothing, LocalJournal::new);
  }

  @Test
  void aMissingDirectoryForceIsFound() {
    assertFound(FaultyDisk::noDirectoryForce, LocalJournal::new);
  }

  @Test
  void aConfirmationBeforeTheForceIsFound() {
    assertFound(FaultyDisk::confirmBeforeForce, LocalJournal::new);
  }

  @Test
  void aSkippedCrcIsFound() {
    assertFound(FaultyJournals::skipsTheCrc, LocalJournal::new);
  }

  @Test
  void aSwallowedForceFailureIsFound() {
    assertFound(FaultyDisk::failedForceIsSwallowed, LocalJournal::new);
  }

  @Test
  void aTailThatIsTrustedIsFound() {
    assertFound(UnaryOperator.identity(), FaultyJournals::trustsTheRecoveredTail);
  }

  private static void assertFound(UnaryOperator<Disk> fault, JournalRig.Maker maker) {
    int seed = 1;
    while (seed <= SEEDS && survives(seed, fault, maker)) {
      seed++;
    }
    assertThat(seed).as("seeds until the planted bug was found").isLessThanOrEqualTo(SEEDS);
  }

  private static boolean survives(long seed, UnaryOperator<Disk> fault, JournalRig.Maker maker) {
    JournalRig rig = new JournalRig(seed);
    rig.fault = fault;
    rig.maker = maker;
    try {
      new JournalSimulation(seed, rig, seed % 2 == 0).run(ROUNDS);
      return true;
    } catch (AssertionError | IOException found) {
      return false;
    }
  }
}
