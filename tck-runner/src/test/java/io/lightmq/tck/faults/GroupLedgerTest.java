package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class GroupLedgerTest {
  private final GroupLedger ledger = new GroupLedger(3);

  @Test
  void whatIsGivenBackMustComeAgainInOrder() {
    rollBackThirdAndFourth();
    ledger.begun(2, 1, 3, true);
    ledger.begun(2, 1, 4, true);
    ledger.begun(2, 1, 5, false);
    assertThat(ledger.violations()).isEmpty();
  }

  @Test
  void aLaterMessageBeforeOneThatWasGivenBackIsAViolation() {
    rollBackThirdAndFourth();
    ledger.begun(2, 1, 5, false);
    ledger.begun(2, 1, 3, true);
    assertThat(ledger.violations()).containsExactly("consumer 2 gets 5 of key 1 after 2");
  }

  private void rollBackThirdAndFourth() {
    for (int count = 1; count <= 4; count++) {
      ledger.begun(1, 1, count, false);
    }
    ledger.confirmed(Map.of(1, 2));
    ledger.givenBack(Map.of(1, 3));
    ledger.released(1, Map.of(1, 4));
  }
}
