package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class XaOutcomeTest {
  private static XaOutcome outcome(
      boolean decided, int outputs, int ledger, int orders, int unflagged) {
    return new XaOutcome(decided, 3, outputs, ledger, orders, unflagged, List.of());
  }

  @Test
  void everywhereOrNowhereAsTheLogSaysIsFine() {
    assertThat(outcome(true, 3, 1, 0, 0).violations()).isEmpty();
    assertThat(outcome(false, 0, 0, 1, 0).violations()).isEmpty();
  }

  @Test
  void aMixedOutcomeIsFound() {
    assertThat(outcome(true, 3, 0, 0, 0).violations()).hasSize(1);
    assertThat(outcome(true, 0, 1, 1, 0).violations()).hasSize(1);
    assertThat(outcome(false, 0, 1, 1, 0).violations()).hasSize(1);
    assertThat(outcome(true, 3, 1, 1, 0).violations()).hasSize(1);
  }

  @Test
  void aStuckALostAndADoubledMessageAreFound() {
    assertThat(outcome(false, 0, 0, 0, 0).violations()).hasSize(1);
    assertThat(outcome(true, 2, 1, 0, 0).violations()).hasSize(1);
    assertThat(outcome(true, 4, 1, 0, 0).violations()).hasSize(1);
    assertThat(outcome(false, 0, 0, 2, 0).violations()).hasSize(1);
  }

  @Test
  void whatTheLogDoesNotSayIsFound() {
    assertThat(outcome(true, 0, 0, 1, 0).violations()).hasSize(1);
    assertThat(outcome(false, 3, 1, 0, 0).violations()).hasSize(1);
  }

  @Test
  void aLostFlagAndABranchInDoubtAreFound() {
    assertThat(outcome(false, 0, 0, 1, 1).violations()).hasSize(1);
    assertThat(new XaOutcome(true, 3, 3, 1, 0, 0, List.of("branch")).violations()).hasSize(1);
  }

  @Test
  void onlyCodesThatTellOfALostBrokerAreAllowed() {
    assertThat(XaCodes.isOfFault("commit", "XAER_RMFAIL")).isTrue();
    assertThat(XaCodes.isOfFault("prepare", "XA_RBCOMMFAIL")).isTrue();
    for (String wrong :
        List.of("XAER_RMERR", "XA_HEURMIX", "XA_HEURRB", "XAER_NOTA", "XA_RBBASE")) {
      assertThat(XaCodes.isOfFault("commit", wrong)).as(wrong).isFalse();
      assertThat(XaCodes.isOfFault("recover", wrong)).as(wrong).isFalse();
    }
    assertThat(XaCodes.name(javax.transaction.xa.XAException.XA_RBCOMMFAIL))
        .isEqualTo("XA_RBCOMMFAIL");
  }

  @Test
  void theManagersLogCountsWholeLinesOnly(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("log");
    try (XaLog log = XaLog.open(file)) {
      log.commit(1);
      log.end(1);
      log.commit(2);
      assertThat(log.isDecided(2)).isTrue();
    }
    Files.writeString(file, Files.readString(file) + "commit 3");
    assertThat(XaLog.decided(file)).containsExactly(1, 2);
  }
}
