package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Each way in which a pipeline may break its promise is found. */
class FailoverLedgerTest {
  private final FailoverLedger ledger = new FailoverLedger(2);

  private void goIn(int key, int count) {
    for (int i = 0; i < count; i++) {
      ledger.confirmed(key, ledger.next(key));
    }
  }

  @Test
  void eachInputOnceAndInOrderIsWell() {
    goIn(0, 3);
    goIn(1, 1);
    int unconfirmed = ledger.next(1);
    ledger.output(0, 1);
    ledger.output(1, 1);
    ledger.output(0, 2);
    assertThat(ledger.isComplete()).isFalse();
    ledger.output(0, 3);
    assertThat(ledger.isComplete()).isTrue();
    ledger.output(1, unconfirmed); // it may come
    ledger.finish();
    assertThat(ledger.violations()).isEmpty();
    assertThat(ledger.confirmed()).isEqualTo(4);
    assertThat(ledger.outputs()).isEqualTo(5);
  }

  @Test
  void whatIsLostIsFoundInTheMiddleAndAtTheEnd() {
    goIn(0, 4);
    ledger.output(0, 1);
    ledger.output(0, 3);
    assertThat(ledger.isComplete()).isFalse();
    ledger.finish();
    assertThat(ledger.violations())
        .containsExactly("2 of key 0 never came out", "4 of key 0 never came out");
    assertThat(ledger.brokenCount()).isEqualTo(2);
  }

  @Test
  void whatComesOutTwiceOrBehindALaterOneIsFound() {
    goIn(0, 3);
    ledger.output(0, 1);
    ledger.output(0, 1);
    ledger.output(0, 3);
    ledger.output(0, 2);
    ledger.output(0, 2);
    assertThat(ledger.violations())
        .containsExactly(
            "1 of key 0 comes out twice",
            "2 of key 0 comes out behind 3",
            "2 of key 0 comes out twice");
  }

  @Test
  void whatNeverWentInIsFound() {
    goIn(0, 1);
    ledger.output(0, 2);
    ledger.output(1, 1);
    assertThat(ledger.violations())
        .containsExactly(
            "2 of key 0 comes out and never went in", "1 of key 1 comes out and never went in");
  }

  @Test
  void inputsOfAKeyAreConfirmedOneAfterTheOther() {
    ledger.next(0);
    ledger.next(0);
    assertThatThrownBy(() -> ledger.confirmed(0, 2)).isInstanceOf(IllegalStateException.class);
  }
}
