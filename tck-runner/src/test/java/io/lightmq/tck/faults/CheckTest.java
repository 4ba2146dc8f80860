package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The checker of the fault rounds, shown each kind of broken promise. */
class CheckTest {

  private final SendLog sync = new SendLog(1, "q", 1);
  private final SendLog transacted = new SendLog(2, "q", 5);
  private final DeliveryLog queue = DeliveryLog.single("q");

  @Test
  void whatWasConfirmedAndCameIsFine() {
    deliver("c", confirm(sync, 20), false);
    Check check = check();
    assertThat(check.violations()).isEmpty();
    assertThat(check.confirmed()).isEqualTo(20);
    assertThat(check.lost()).isZero();
  }

  @Test
  void aLostMessageIsFound() {
    List<Stamp> stamps = confirm(sync, 20);
    deliver("c", stamps.subList(0, 7), false);
    deliver("c", stamps.subList(8, 20), false);
    assertThat(check().lost()).isEqualTo(1);
    assertThat(check().violations()).singleElement().asString().contains("lost, the first are [8]");
  }

  @Test
  void aMessageThatIsLostAfterItsRollbackIsFound() {
    List<Stamp> stamps = confirm(sync, 5);
    deliver("c", stamps, false);
    queue.returned("c", stamps);
    deliver("c", stamps.subList(0, 3), true);
    deliver("d", stamps.subList(4, 5), true);
    assertThat(Check.missing(sync, queue).stream()).containsExactly(4);
    assertThat(check().lost()).isEqualTo(1);
    assertThat(check().violations())
        .containsExactly(
            "q: 1 messages of stream 1 did not come again after their rollback,"
                + " the first are [4]");
  }

  @Test
  void aRollbackOwesNothingThatAnotherConsumerAlreadyHas() {
    List<Stamp> stamps = confirm(sync, 2);
    deliver("c", stamps, false);
    deliver("d", stamps, true);
    queue.settled(stamps.subList(0, 1));
    queue.returned("c", stamps);
    assertThat(check().violations()).isEmpty();
    queue.returned("d", stamps);
    assertThat(check().lost()).isEqualTo(1);
  }

  @Test
  void anUnknownMessageMayComeOrNot() {
    sync.unknown(sync.next());
    Stamp second = sync.next();
    sync.unknown(second);
    deliver("c", List.of(second), false);
    assertThat(check().violations()).isEmpty();
    assertThat(check().unknown()).isEqualTo(2);
  }

  @Test
  void anUnflaggedDuplicateIsFound() {
    List<Stamp> stamps = confirm(sync, 3);
    deliver("c", stamps, false);
    deliver("d", stamps.subList(1, 2), false);
    assertThat(check().violations())
        .containsExactly("q: 1/2 came again to d without JMSRedelivered");
  }

  @Test
  void aFlaggedDuplicateIsAllowed() {
    List<Stamp> stamps = confirm(sync, 3);
    deliver("c", stamps, false);
    deliver("d", stamps, true);
    assertThat(check().violations()).isEmpty();
    assertThat(queue.repeated()).isEqualTo(3);
  }

  @Test
  void aDeliveryAfterAConfirmedAcknowledgementIsFound() {
    List<Stamp> stamps = confirm(sync, 3);
    deliver("c", stamps, false);
    queue.settled(stamps);
    deliver("c", stamps.subList(2, 3), true);
    assertThat(check().violations())
        .containsExactly("q: 1/3 came to c after its acknowledgement was confirmed");
  }

  @Test
  void aMessageThatIsStoredTwiceIsFoundEvenIfFlagged() {
    List<Stamp> stamps = confirm(sync, 1);
    queue.delivered("c", stamps.get(0), false, 1_000);
    queue.delivered("c", stamps.get(0), true, 1_250);
    assertThat(check().violations()).containsExactly("q: 1/1 was stored twice, 250 ms apart");
  }

  @Test
  void twoSwappedMessagesAreFound() {
    List<Stamp> stamps = confirm(sync, 3);
    deliver("c", List.of(stamps.get(1), stamps.get(0), stamps.get(2)), false);
    assertThat(check().violations()).containsExactly("q: 1/1 came to c after 1/2");
  }

  @Test
  void competingConsumersMayOvertakeWhichIsCounted() {
    DeliveryLog competing = DeliveryLog.competing("q");
    List<Stamp> stamps = confirm(sync, 2);
    competing.delivered("c", stamps.get(1), false, 1_000);
    competing.delivered("c", stamps.get(0), false, 1_000);
    assertThat(Check.of(List.of(sync), List.of(competing)).violations()).isEmpty();
    assertThat(competing.overtaken()).isEqualTo(1);
  }

  @Test
  void aMessageThatNobodySentIsFound() {
    queue.delivered("c", new Stamp(1, 1), false, 1_000);
    queue.foreign("c", 12);
    assertThat(check().violations())
        .containsExactly("q: c got 12 bytes that nobody sent", "q: 1/1 came but was never sent");
  }

  @Test
  void aRolledBackMessageThatComesIsFound() {
    Stamp stamp = sync.next();
    sync.rolledBack(stamp);
    deliver("c", List.of(stamp), false);
    assertThat(check().violations())
        .containsExactly("q: 1/1 came although its transaction was rolled back");
  }

  @Test
  void halfATransactionIsFound() {
    for (int i = 0; i < 10; i++) {
      transacted.unknown(transacted.next());
    }
    deliver("c", List.of(new Stamp(2, 6), new Stamp(2, 7)), false);
    assertThat(check().violations())
        .containsExactly("q: of the transaction 2/6 to 10 only 2 of 5 messages came");
  }

  @Test
  void aSubscriptionOfAnotherDestinationIsNotOwedAnything() {
    confirm(sync, 3);
    assertThat(Check.of(List.of(sync), List.of(DeliveryLog.single("t"))).violations()).isEmpty();
  }

  @Test
  void aSendCannotEndTwice() {
    Stamp stamp = sync.next();
    sync.confirmed(stamp);
    assertThatThrownBy(() -> sync.unknown(stamp)).hasMessageContaining("1/1 ended twice");
  }

  @Test
  void aChangedBodyHasNoStamp() {
    byte[] body = Payload.of(new Stamp(3, 4), 101);
    assertThat(Payload.read(body)).isEqualTo(new Stamp(3, 4));
    body[100] ^= 1;
    assertThat(Payload.read(body)).isNull();
    assertThat(Payload.read(new byte[3])).isNull();
  }

  private Check check() {
    return Check.of(List.of(sync, transacted), List.of(queue));
  }

  private void deliver(String consumer, List<Stamp> stamps, boolean flagged) {
    stamps.forEach(stamp -> queue.delivered(consumer, stamp, flagged, 1_000));
  }

  private static List<Stamp> confirm(SendLog log, int count) {
    return java.util.stream.IntStream.range(0, count)
        .mapToObj(
            i -> {
              Stamp stamp = log.next();
              log.confirmed(stamp);
              return stamp;
            })
        .toList();
  }
}
