package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.shard.PlantedSeams;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Each known way to break the promises, planted at a seam, must turn the simulation red, with all
 * features on and by the oracle whose twin it is. What does not is a hole in the simulation.
 */
class PlantedBugTest {
  private static final int SEEDS = 300;

  /** One of so many histories has to be ended by one of these oracles. */
  private static void isFoundBy(Supplier<Plant> planted, String... oracles) {
    isFoundBy((LongFunction<Plant>) seed -> planted.get(), oracles);
  }

  /** The same with several brokers, of which one leads. */
  private static void isFoundBy(LongFunction<Plant> planted, String... oracles) {
    List<String> others = new ArrayList<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      long of = seed;
      Throwable found = new History(seed, Feature.all(), null).run(() -> planted.apply(of));
      if (found != null) {
        String reason = Shrinking.reason(found);
        if (Set.of(oracles).contains(reason)) {
          if (Boolean.getBoolean("lightmq.show")) {
            System.out.println(
                planted.apply(of).getClass().getSimpleName() + " seed " + seed + ": " + found);
          }
          return;
        }
        others.add("seed " + seed + ": " + found);
      }
    }
    assertThat(others)
        .as("violations of %s in %d seeds", List.of(oracles), SEEDS)
        .anyMatch(each -> false);
  }

  // ---- the disk ----

  @Test
  void confirmingBeforeTheForceIsFound() {
    isFoundBy(Plants.ConfirmsBeforeTheForce::new, "NothingLost", "StartsAgain");
  }

  @Test
  void aForceThatDoesNothingIsFound() {
    isFoundBy(Plants.ForcesNothing::new, "NothingLost", "StartsAgain");
  }

  @Test
  void aMissingForceOfDirectoriesIsFound() {
    isFoundBy(Plants.ForcesNoDirectory::new, "NothingLost", "StartsAgain");
  }

  @Test
  void trustingTheRecoveredTailIsFound() {
    isFoundBy(Plants.TrustsTheTail::new, "NothingLost", "StartsAgain");
  }

  @Test
  void destagingByTheNewestStateIsFound() {
    isFoundBy(
        Plants.DestagesByTheNewestState::new,
        "NothingLost",
        "NothingLeft",
        "IllegalStateException");
  }

  @Test
  void anOverflowThatKeepsNothingIsFound() {
    isFoundBy(Plants.OverflowsNothing::new, "NothingLost");
  }

  @Test
  void anOrderlyEndWithoutARecordIsFound() {
    isFoundBy(Plants.StopsWithoutARecord::new, "UnflaggedIfUnseen");
  }

  // ---- what the broker is told ----

  @Test
  void aMessageThatIsDroppedIsFound() {
    isFoundBy(Plants.DropsMessages::new, "NothingLost");
  }

  @Test
  void selectingByWhatIsNotInTheMessageIsFound() {
    isFoundBy(Plants.SelectsByOther::new, "NothingInvented");
  }

  @Test
  void aMessageInTheLaneOfAnotherPriorityIsFound() {
    isFoundBy(Plants.OtherPriority::new, "NothingInvented");
  }

  @Test
  void aMessageThatIsReleasedEarlyIsFound() {
    isFoundBy(Plants.ReleasesEarly::new, "NothingBeforeItsTime");
  }

  @Test
  void aMessageThatOutlivesItsTimeIsFound() {
    isFoundBy(Plants.OutlivesItsTime::new, "NothingAfterItsTime");
  }

  @Test
  void messagesOfOneGroupThatTheBrokerTakesForSeveralAreFound() {
    isFoundBy(Plants.SplitsGroups::new, "OrderOfGroup");
  }

  @Test
  void aGroupBucketThatMovesWhileSomethingIsInFlightIsFound() {
    isFoundBy(Plants.AcknowledgesMore::new, "OrderOfGroup");
  }

  @Test
  void anUnloggedMessageThatOvertakesItsDurablePredecessorIsFound() {
    isFoundBy(Plants.UnloggedOvertakes::new, "OrderOfProducer");
  }

  @Test
  void aQueueThatSuppressesNothingIsFound() {
    isFoundBy(() -> new Plants.Suppresses("none"), "OnceByKey");
  }

  @Test
  void aWindowOfKeysThatIsTooSmallIsFound() {
    isFoundBy(() -> new Plants.Suppresses("property:key,keys=3"), "OnceByKey");
  }

  @Test
  void anAttemptThatIsNotCountedIsFound() {
    isFoundBy(Plants.ForgetsAttempts::new, "AttemptsCounted");
  }

  @Test
  void sendingWithoutTheAcknowledgementOfThePullIsFound() {
    isFoundBy(Plants.SendsWithoutAcknowledgement::new, "AcknowledgedForGood");
  }

  @Test
  void aCommitInTwoPartsIsFound() {
    isFoundBy(Plants.CommitsInTwoParts::new, "AllOrNothing", "NothingLost");
  }

  @Test
  void aCommitByHalvesIsFound() {
    isFoundBy(Plants.CommitsByHalves::new, "AllOrNothing");
  }

  @Test
  void aStagedTransactionThatForgetsWhatItAcknowledgesIsFound() {
    isFoundBy(StagingPlants.StagesByHalves::new, "AllOrNothing");
  }

  @Test
  void aTransactionThatDoesNotHoldWhatItAcknowledgesIsFound() {
    isFoundBy(StagingPlants.HoldsNothing::new, "HeldIsHeld");
  }

  // ---- what the broker does ----

  @Test
  void aMoveThatIsSettledBeforeTheRecordOfItsTargetIsFound() {
    isFoundBy(() -> new Plants.MovesInTwoRecords(true), "NothingLost");
  }

  @Test
  void aMoveThatIsSettledAfterTheRecordOfItsTargetIsFound() {
    isFoundBy(() -> new Plants.MovesInTwoRecords(false), "OnceByNumber");
  }

  @Test
  void aCommitInMemoryWhoseNumberIsInNoRecordIsFound() {
    isFoundBy(Plants.ForgetsNumbers::new, "OnceByNumber");
  }

  @Test
  void aReplayThatForgetsWhenTheSecondMessageOfARunExpiresIsFound() {
    isFoundBy(
        () -> new Plants.ReplayForgets(PlantedSeams::replayForgetsExpiries), "ReplayedAsItLived");
  }

  @Test
  void aReplayThatForgetsWhatASubscriptionDoesNotWantIsFound() {
    isFoundBy(
        () -> new Plants.ReplayForgets(PlantedSeams::replayForgetsWhatIsUnwanted),
        "ReplayedAsItLived");
  }

  @Test
  void aReplayThatForgetsWhatACommitAcknowledgesIsFound() {
    isFoundBy(
        () -> new Plants.ReplayForgets(PlantedSeams::replayForgetsAcknowledgementsOfCommits),
        "ReplayedAsItLived");
  }

  // ---- what clients see ----

  @Test
  void deliveringTwiceWithoutTheFlagIsFound() {
    isFoundBy(Plants.NeverFlags::new, "FlaggedIfSeen");
  }

  @Test
  void reusingSequencesAfterACrashIsFound() {
    isFoundBy(Plants.ReusesSequences::new, "OnceByNumber");
  }

  @Test
  void lanesThatAreReadOneAfterTheOtherAreFound() {
    isFoundBy(Plants.ReadsLanesInTurn::new, "OrderOfProducer");
  }

  @Test
  void givingLowPrioritiesFirstIsFound() {
    isFoundBy(Plants.LowPrioritiesFirst::new, "HighestPriorityFirst");
  }

  @Test
  void aBrowserThatPassesOverMessagesIsFound() {
    isFoundBy(Plants.BrowsesLess::new, "BrowsersSeeWhatComes");
  }

  // ---- several brokers ----

  @Test
  void confirmingBeforeTheCommitIsFound() {
    isFoundBy(Plants.ConfirmsBeforeTheCommit::new, "NothingLost");
  }

  @Test
  void anOwnerThatKeepsWhatIsNotCommittedIsFound() {
    isFoundBy(Plants.KeepsWhatIsLost::new, "NothingLost", "IllegalStateException");
  }

  @Test
  void anOwnerThatAppliesWhatItDoesNotRecordIsFound() {
    isFoundBy(Plants.AppliesWithoutARecord::new, "ReplayedAsItLived");
  }
}
