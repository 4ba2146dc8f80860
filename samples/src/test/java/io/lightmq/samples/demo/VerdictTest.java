package io.lightmq.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The checker of the demo, shown each kind of broken promise. */
class VerdictTest {

  private static final int LINES = 100;

  private final Sent sent = new Sent();
  private final Arrivals arrivals = new Arrivals("queue");

  @BeforeEach
  void sendAndConfirmAHundredLines() {
    for (int line = 1; line <= LINES; line++) {
      assertThat(sent.add(hash(line))).isEqualTo(line);
      sent.confirm(line);
    }
  }

  @Test
  void everyLineOnceAndInOrderKeepsThePromise() {
    arrive("a", 1, LINES);
    Verdict verdict = Verdict.complete(sent, arrivals);
    assertThat(verdict.violations()).isEmpty();
    assertThat(verdict.missing()).isZero();
  }

  @Test
  void aLostLineIsFound() {
    arrive("a", 1, 41);
    arrive("a", 43, LINES);
    Verdict verdict = Verdict.complete(sent, arrivals);
    assertThat(verdict.missing()).isEqualTo(1);
    assertThat(verdict.violations()).anyMatch(text -> text.contains("the first are [42]"));
  }

  @Test
  void theLostLastLineIsFound() {
    arrive("a", 1, LINES - 1);
    assertThat(Verdict.complete(sent, arrivals).missing()).isEqualTo(1);
  }

  @Test
  void aLineWhoseSendIsOpenIsNotOwedButReported() {
    sent.add(hash(LINES + 1));
    arrive("a", 1, LINES);
    Verdict verdict = Verdict.complete(sent, arrivals);
    assertThat(verdict.missing()).isZero();
    assertThat(verdict.violations()).containsExactly("queue: 1 sends got no answer");
  }

  @Test
  void aFailedSendIsFound() {
    sent.fail(sent.add(hash(LINES + 1)), "no room");
    arrive("a", 1, LINES);
    assertThat(Verdict.complete(sent, arrivals).violations())
        .anyMatch(text -> text.contains("line 101 failed: no room"));
  }

  @Test
  void aDuplicateWithoutItsFlagIsFound() {
    arrive("a", 1, LINES);
    arrivals.arrived("b", 7, hash(7), false, 0);
    assertThat(Verdict.complete(sent, arrivals).violations())
        .anyMatch(text -> text.contains("line 7 came again to b without JMSRedelivered"));
  }

  @Test
  void aFlaggedDuplicateIsAllowedAndCounted() {
    arrive("a", 1, LINES);
    arrivals.arrived("b", 7, hash(7), true, 0);
    assertThat(Verdict.complete(sent, arrivals).violations()).isEmpty();
    assertThat(arrivals.redelivered()).isEqualTo(1);
  }

  @Test
  void twoSwappedLinesAreFound() {
    arrive("a", 1, 10);
    arrive("a", 12, 12);
    arrive("a", 11, 11);
    arrive("a", 13, LINES);
    assertThat(Verdict.complete(sent, arrivals).violations())
        .anyMatch(text -> text.contains("line 11 came to a after line 12"));
  }

  @Test
  void competingListenersMayOvertakeEachOther() {
    arrive("a", 51, LINES);
    arrive("b", 1, 50);
    assertThat(Verdict.complete(sent, arrivals).violations()).isEmpty();
  }

  @Test
  void aChangedLineIsFound() {
    arrive("a", 1, 10);
    arrivals.arrived("a", 11, hash(12), false, 0);
    arrive("a", 12, LINES);
    assertThat(Verdict.complete(sent, arrivals).violations())
        .containsExactly("queue: 1 lines with wrong content");
  }

  @Test
  void aDuplicateWithOtherContentIsFound() {
    arrive("a", 1, LINES);
    arrivals.arrived("a", 11, hash(12), true, 0);
    assertThat(Verdict.complete(sent, arrivals).violations())
        .anyMatch(text -> text.contains("line 11 came twice with different content"));
  }

  @Test
  void aLineThatNobodySentIsFound() {
    arrive("a", 1, LINES);
    arrivals.arrived("a", LINES + 5, hash(1), false, 0);
    arrivals.arrived("a", 0, hash(1), false, 0);
    assertThat(Verdict.complete(sent, arrivals).violations())
        .contains("queue: 1 lines with wrong content", "queue: 1 messages that nobody sent");
  }

  @Test
  void thePlainSubscriptionMayMissOneStretchAfterTheKill() {
    arrive("a", 1, 30);
    arrivals.killed();
    arrive("a", 60, LINES);
    Verdict verdict = Verdict.plain(sent, arrivals);
    assertThat(verdict.violations()).isEmpty();
    assertThat(verdict.missing()).isEqualTo(29);
  }

  @Test
  void thePlainSubscriptionMayMissNothingWhileTheBrokerIsUp() {
    arrive("a", 1, 30);
    arrive("a", 32, LINES);
    assertThat(Verdict.plain(sent, arrivals).violations())
        .containsExactly("queue: 1 lines after line 30 were missed before the broker was killed");
  }

  @Test
  void thePlainSubscriptionMayNotMissASecondStretch() {
    arrivals.killed();
    arrive("a", 5, 30);
    arrive("a", 32, LINES);
    assertThat(Verdict.plain(sent, arrivals).violations())
        .containsExactly("queue: 1 lines after line 30 were missed after it was back");
  }

  @Test
  void thePlainSubscriptionMayNotStayAway() {
    arrive("a", 1, 30);
    arrivals.killed();
    assertThat(Verdict.plain(sent, arrivals).violations())
        .containsExactly("queue: the last 70 lines were missed");
  }

  private void arrive(String listener, int from, int to) {
    for (int line = from; line <= to; line++) {
      arrivals.arrived(listener, line, hash(line), false, 1);
    }
  }

  private static long hash(int line) {
    return 31L * line + 7;
  }
}
