package io.lightmq.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.delivery.DeliveryBench.FakeOutlet;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Split;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.selector.InvalidSelectorException;
import io.lightmq.core.selector.Selector;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DispatcherTest {
  private static final int DURABLE = LaneCode.durable(4);
  private static final long EPOCH = 1L << 32;

  private final DeliveryBench bench = new DeliveryBench();
  private final Dispatcher dispatcher = bench.dispatcher;
  private final Subscription subscription = bench.queue();
  private final Destination queue = subscription.destination();
  private final FakeOutlet one = bench.new FakeOutlet(1);
  private final FakeOutlet two = bench.new FakeOutlet(2);
  private final Recipient first = dispatcher.connect(one);
  private final Recipient second = dispatcher.connect(two);

  private static List<Long> numbers(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  private static List<SequenceRange> range(long from, int count) {
    return List.of(new SequenceRange(DURABLE, EPOCH + from, count));
  }

  private void acknowledge(Consumer consumer, long from, int count) {
    Split split = consumer.holding().split(range(from, count));
    assertThat(split.refused()).isZero();
    consumer.holding().settle(split.accepted());
    subscription.acknowledge(split.accepted());
  }

  @Test
  void aPullTakesAPrefixWithinItsLimits() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 100, 200);
    dispatcher.pull(consumer, 1, 10, 1 << 20, 500);
    assertThat(one.sequences()).isEqualTo(numbers(0, 10));
    dispatcher.pull(consumer, 2, 1000, 600, 500);
    assertThat(one.sequences()).isEqualTo(numbers(10, 12));
    dispatcher.pull(consumer, 3, 1000, 1, 500);
    assertThat(one.sequences()).isEqualTo(numbers(12, 13));
    dispatcher.pull(consumer, 4, 1000, 1 << 20, 500);
    assertThat(one.sequences()).isEqualTo(numbers(13, 100));
    assertThat(consumer.holding().size()).isEqualTo(100);
    acknowledge(consumer, 0, 100);
    assertThat(subscription.backlog()).isZero();
    assertThat(one.buffers).isZero();
  }

  @Test
  void aPullWithoutParkTimeLearnsThatNothingIsThere() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    dispatcher.pull(consumer, 7, 10, 1000, 0);
    assertThat(one.done).containsExactly("7 OK");
    assertThat(dispatcher.parkedPulls()).isZero();
    bench.publish(queue, 1, 10);
    dispatcher.dispatch(queue.queueSubscription());
    assertThat(one.batches).isEmpty();
  }

  @Test
  void aParkedPullGetsWhatIsPublishedAndOnlyThat() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    dispatcher.pull(consumer, 1, 10, 1000, 500);
    assertThat(dispatcher.parkedPulls()).isEqualTo(1);
    bench.publish(queue, 1, 10);
    dispatcher.dispatch(queue.queueSubscription());
    assertThat(one.sequences()).containsExactly(0L);
    assertThat(dispatcher.parkedPulls()).isZero();
    bench.publish(queue, 1, 10);
    dispatcher.dispatch(queue.queueSubscription());
    assertThat(one.batches).isEmpty();
    bench.time(10_000);
    dispatcher.expireParked();
    assertThat(one.done).isEmpty();
  }

  @Test
  void parkedPullsEndWhenTheirTimeIsOver() {
    List<Consumer> consumers = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      consumers.add(dispatcher.attach(first, i, 1, subscription));
      dispatcher.pull(consumers.get(i), i, 1, 1000, 1 + i * 5);
    }
    for (int millis = 0; millis < 12_000; millis += 37) {
      bench.time(millis);
      if (dispatcher.nextExpiryNanos() <= millis * 1_000_000L) {
        dispatcher.expireParked();
      }
      int due = Math.min(2000, millis / 5 + 1);
      int late = Math.max(0, Math.min(2000, (millis - 50) / 5));
      assertThat(one.done.size()).isBetween(late, due);
    }
    assertThat(one.done).hasSize(2000);
    assertThat(first.parked()).isZero();
    assertThat(dispatcher.nextExpiryNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aPullThatIsParkedForLongIsNotLookedAtAgainAndAgain() {
    for (int i = 0; i < 100; i++) {
      dispatcher.pull(dispatcher.attach(first, i, 1, subscription), i, 1, 1000, 30_000 + i * 37);
    }
    int looks = 0;
    long millis = 0;
    while (dispatcher.nextExpiryNanos() != Long.MAX_VALUE) {
      long next = dispatcher.nextExpiryNanos() / 1_000_000;
      assertThat(next).as("the next look, at " + millis + " ms").isGreaterThan(millis);
      millis = next;
      bench.time(millis);
      dispatcher.expireParked();
      looks++;
    }
    assertThat(one.done).hasSize(100);
    assertThat(looks).isLessThanOrEqualTo(100);
    assertThat(millis).isBetween(30_000 + 99 * 37L, 30_000 + 99 * 37L + 8);
  }

  @Test
  void aNewPullReplacesTheParkedOne() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    dispatcher.pull(consumer, 1, 10, 1000, 100);
    dispatcher.pull(consumer, 2, 10, 1000, 1000);
    bench.time(500);
    dispatcher.expireParked();
    assertThat(one.done).isEmpty();
    dispatcher.pull(consumer, 3, 10, 1000, 0);
    assertThat(one.done).containsExactly("3 OK");
    assertThat(dispatcher.parkedPulls()).isZero();
  }

  @Test
  void tooManyParkedPullsAreToldToRetryLater() {
    for (int i = 0; i <= Dispatcher.MAX_PARKED; i++) {
      dispatcher.pull(dispatcher.attach(first, i, 1, subscription), i, 1, 1000, 500);
    }
    assertThat(one.done).containsExactly(Dispatcher.MAX_PARKED + " RETRY_LATER");
    assertThat(first.parked()).isEqualTo(Dispatcher.MAX_PARKED);
  }

  @Test
  void parkedPullsShareWhatComes() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    Consumer b = dispatcher.attach(second, 1, 1, subscription);
    for (int round = 0; round < 10; round++) {
      dispatcher.pull(a, round, 100, 1 << 20, 500);
      dispatcher.pull(b, round, 100, 1 << 20, 500);
      bench.publish(queue, 10, 50);
      dispatcher.dispatch(queue.queueSubscription());
      assertThat(one.sequences()).hasSize(5);
      assertThat(two.sequences()).hasSize(5);
    }
    dispatcher.pull(a, 100, 100, 1 << 20, 500);
    dispatcher.pull(b, 100, 100, 1 << 20, 500);
    bench.publish(queue, 1, 50);
    dispatcher.dispatch(queue.queueSubscription());
    assertThat(one.sequences()).hasSize(1);
    dispatcher.pull(a, 101, 100, 1 << 20, 500);
    bench.publish(queue, 1, 50);
    dispatcher.dispatch(queue.queueSubscription());
    assertThat(two.sequences()).hasSize(1);
  }

  @Test
  void anOutletThatIsNotWritableIsPassedOverUntilItIs() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    Consumer b = dispatcher.attach(second, 1, 1, subscription);
    one.writable = false;
    dispatcher.pull(a, 1, 1, 1000, 5000);
    dispatcher.pull(b, 1, 1, 1000, 5000);
    bench.publish(queue, 2, 50);
    dispatcher.dispatch(queue.queueSubscription());
    assertThat(one.batches).isEmpty();
    assertThat(two.sequences()).containsExactly(0L);
    one.writable = true;
    dispatcher.writable(first);
    assertThat(one.sequences()).containsExactly(1L);
  }

  @Test
  void aPullThatWantsAnAnswerNowWaitsForTheOutletAndTheTouch() {
    bench.touchAtOnce = false;
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 1, 50);
    dispatcher.pull(consumer, 1, 1, 1000, 0);
    assertThat(one.done).isEmpty();
    assertThat(bench.touches).containsExactly(EPOCH);
    subscription.seen().touch(DURABLE, EPOCH, 256);
    subscription.seen().touchDurable(DURABLE, EPOCH, 256);
    one.writable = false;
    dispatcher.dispatch(subscription);
    assertThat(one.batches).isEmpty();
    one.writable = true;
    dispatcher.writable(first);
    assertThat(one.sequences()).containsExactly(0L);
    one.writable = false;
    dispatcher.pull(consumer, 2, 1, 1000, 0);
    assertThat(one.done).isEmpty();
    one.writable = true;
    dispatcher.writable(first);
    assertThat(one.done).containsExactly("2 OK");
  }

  @Test
  void aLostConnectionFlagsWhatWasInFlightAndNothingElse() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    Consumer sibling = dispatcher.attach(first, 2, 1, subscription);
    Consumer b = dispatcher.attach(second, 1, 1, subscription);
    bench.publish(queue, 10, 50);
    dispatcher.pull(a, 1, 4, 1 << 20, 500);
    acknowledge(a, 1, 1);
    dispatcher.pull(b, 2, 1, 1 << 20, 500);
    assertThat(two.sequences()).containsExactly(4L);
    dispatcher.giveBack(b, range(4, 1), false);
    assertThat(dispatcher.giveBack(b, range(4, 1), false)).isEqualTo(1);
    subscription.take(queue.durable(4), EPOCH + 4, 6);
    dispatcher.pull(sibling, 1, 100, 1 << 20, 500);
    subscription.giveBack(DURABLE, EPOCH + 4, 6, false);
    one.batches.clear();
    dispatcher.disconnect(first);
    assertThat(one.batches).isEmpty();
    dispatcher.pull(b, 3, 100, 1 << 20, 500);
    Outlet.Batch batch = two.batches.get(0);
    assertThat(DeliveryBench.sequences(batch)).containsExactly(0L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(batch.seen()).containsExactly(new Outlet.Seen(0, 3, 1));
    assertThat(dispatcher.consumers(subscription)).containsExactly(b);
  }

  @Test
  void expiredMessagesAndOnesOwnAreGivenUp() {
    Destination topic = bench.topic();
    Subscription quiet = topic.open(90, SubscriptionKind.DURABLE, "c", "s", true);
    Consumer consumer = dispatcher.attach(first, 1, 1, quiet);
    bench.publish(topic, 3, 50, bench.wallMillis(), 9);
    bench.publish(topic, 1, 50, 0, 1);
    bench.publish(topic, 2, 50, bench.wallMillis() + 1, 9);
    dispatcher.pull(consumer, 1, 10, 1 << 20, 500);
    assertThat(one.sequences()).containsExactly(4L, 5L);
    assertThat(bench.givenUp).containsExactly("EXPIRED 0+3", "LOCAL 3");
    assertThat(quiet.backlog()).isEqualTo(2);
  }

  @Test
  void whatHasExpiredInABacklogIsGivenUpWhenItIsRead() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 5, 50, bench.wallMillis(), 9);
    bench.publish(queue, 1, 50);
    bench.publish(queue, 5, 50, bench.wallMillis(), 9);
    bench.leaveWindow();
    dispatcher.pull(consumer, 1, 3, 1 << 20, 0);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).containsExactly(5L);
    dispatcher.pull(consumer, 2, 3, 1 << 20, 0);
    bench.loops.runUntilIdle();
    assertThat(one.done).containsExactly("2 OK");
    assertThat(String.join(" ", bench.givenUp)).startsWith("EXPIRED 0").endsWith("EXPIRED 9+2");
    assertThat(subscription.backlog()).isEqualTo(1);
    assertThat(one.buffers).isZero();
  }

  @Test
  void unloggedMessagesComeInOneBatchWithDurableOnes() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    bench.publishUnlogged(queue, 3000);
    bench.publish(queue, 2, 100);
    bench.publishUnlogged(queue, 10);
    dispatcher.pull(consumer, 1, 10, 1 << 20, 500);
    assertThat(one.batches).hasSize(1);
    assertThat(one.sequences()).containsExactly(0L, 0L, 1L, 1L);
    dispatcher.disconnect(first);
    subscription.acknowledge(LaneCode.unlogged(4), EPOCH, 2);
    assertThat(bench.store.usedBytes()).isZero();
  }

  @Test
  void whatHasLeftTheWindowIsReadFromTheJournal() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 50, 300);
    bench.leaveWindow();
    bench.publish(queue, 5, 300);
    dispatcher.pull(consumer, 1, 20, 1 << 20, 0);
    assertThat(one.batches).isEmpty();
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(0, 20));
    dispatcher.pull(consumer, 2, 100, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(20, 50));
    assertThat(bench.journal.reads).isEqualTo(1);
    dispatcher.pull(consumer, 3, 100, 1 << 20, 500);
    assertThat(one.sequences()).isEqualTo(numbers(50, 55));
    assertThat(one.buffers).isZero();
  }

  @Test
  void whoComesAfterAConsumerThatLeftDuringItsReadGetsAllInOrder() {
    bench.publish(queue, 30, 300);
    bench.leaveWindow();
    bench.publish(queue, 20, 300);
    Consumer gone = dispatcher.attach(first, 1, 1, subscription);
    dispatcher.pull(gone, 1, 10, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(0, 10));
    dispatcher.pull(gone, 2, 8, 1 << 20, 500); // being read when it goes
    dispatcher.detach(gone, false);
    Consumer next = dispatcher.attach(second, 1, 1, subscription);
    List<Long> got = new ArrayList<>();
    for (int pull = 1; pull < 60 && got.size() < 50; pull++) {
      dispatcher.pull(next, pull, 16, 1 << 20, 500);
      bench.loops.runUntilIdle();
      got.addAll(two.sequences());
    }
    assertThat(got).isEqualTo(numbers(0, 50));
    assertThat(one.batches).as("nothing is sent to who has gone").isEmpty();
    assertThat(one.buffers).isZero();
    acknowledge(next, 0, 50);
    assertThat(subscription.backlog()).isZero();
  }

  @Test
  void aReadForAConsumerThatLeftTakesNothingFromWhoHasItNow() {
    bench.publish(queue, 10, 300);
    bench.leaveWindow();
    Consumer gone = dispatcher.attach(first, 1, 1, subscription);
    Consumer next = dispatcher.attach(second, 1, 1, subscription);
    dispatcher.pull(gone, 1, 10, 1 << 20, 500);
    dispatcher.disconnect(first);
    dispatcher.pull(next, 1, 10, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(two.sequences()).isEqualTo(numbers(0, 10));
    assertThat(next.holding().size()).isEqualTo(10);
    assertThat(subscription.deliveries(DURABLE, EPOCH)).isZero();
    acknowledge(next, 0, 10);
    assertThat(subscription.backlog()).isZero();
  }

  @Test
  void aBacklogIsReadFromSegmentsWithGapsAndLargeEntries() {
    Consumer consumer = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 100, 300);
    bench.publish(queue, 1, 20_000);
    bench.publish(queue, 100, 300);
    for (int i = 20; i < 60; i += 2) {
      subscription.acknowledge(DURABLE, EPOCH + i, 1);
    }
    bench.checkpoint(queue);
    subscription.acknowledge(DURABLE, EPOCH + 61, 1);
    bench.leaveWindow();
    List<Long> got = new ArrayList<>();
    for (int pull = 1; got.size() < 180; pull++) {
      dispatcher.pull(consumer, pull, 50, 5000, 500);
      bench.loops.runUntilIdle();
      List<Long> some = one.sequences();
      assertThat(some).isNotEmpty();
      got.addAll(some);
    }
    List<Long> expected =
        LongStream.range(0, 201)
            .filter(i -> !(i >= 20 && i < 60 && i % 2 == 0) && i != 61)
            .boxed()
            .toList();
    assertThat(got).isEqualTo(expected);
    assertThat(bench.damages).isEmpty();
    assertThat(one.buffers).isZero();
  }

  @Test
  void aConsumerThatGoesDuringAReadLeavesItsMessagesUncounted() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    Consumer b = dispatcher.attach(second, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.leaveWindow();
    dispatcher.pull(a, 1, 5, 1 << 20, 500);
    assertThat(subscription.inFlight()).isEqualTo(5);
    dispatcher.disconnect(first);
    bench.loops.runUntilIdle();
    assertThat(one.batches).isEmpty();
    assertThat(one.buffers).isZero();
    dispatcher.pull(b, 1, 100, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(two.batches.get(0).seen()).isEmpty();
    assertThat(two.sequences()).isEqualTo(numbers(0, 10));
  }

  @Test
  void whatIsAcknowledgedOrReplacedDuringAReadIsLeftOut() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.leaveWindow();
    dispatcher.pull(a, 1, 8, 1 << 20, 500);
    subscription.acknowledge(DURABLE, EPOCH + 2, 1);
    dispatcher.pull(a, 2, 4, 1 << 20, 0);
    bench.loops.runUntilIdle();
    assertThat(one.batches.get(0).pullId()).isEqualTo(2);
    assertThat(one.sequences()).containsExactly(0L, 1L, 3L, 4L);
    assertThat(subscription.inFlight()).isEqualTo(4);
    dispatcher.pull(a, 3, 100, 1 << 20, 0);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).containsExactly(5L, 6L, 7L, 8L, 9L);
  }

  @Test
  void aPlaceThatHasMovedIsLookedUpOnceMore() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.leaveWindow();
    dispatcher.pull(a, 1, 5, 1 << 20, 500);
    bench.checkpoint(queue);
    bench.journal.trim(bench.window.position());
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(0, 5));
    assertThat(bench.damages).isEmpty();
  }

  @Test
  void damagedBytesAreReportedAndWhatLiesBehindThemIsDelivered() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.journal.flip(120);
    bench.leaveWindow();
    dispatcher.pull(a, 1, 5, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(1, 6));
    assertThat(bench.damages).hasSize(1);
    assertThat(bench.damages.get(0)).hasMessageContaining("run at offset 0");
    assertThat(one.done).isEmpty();
    assertThat(queue.damaged().count()).isEqualTo(1);
    assertThat(one.buffers).isZero();
  }

  @Test
  void whatLiesAroundADamagedMessageOfTheJournalIsDelivered() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.journal.flip(3 * (300 + Entry.HEADER_BYTES + 1) + 120);
    bench.leaveWindow();
    checkThatAllButTheFourthCome(a);
  }

  @Test
  void whatLiesAroundADamagedMessageOfASegmentIsDelivered() throws IOException {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.checkpoint(queue);
    bench.leaveWindow();
    String segment = "segments/" + bench.disk.list("segments").get(0);
    long piece = queue.durable(4).pieces().get(0).address();
    long segmentAddress = queue.durable(4).pieces().get(0).segmentAddress();
    long fourth = piece - segmentAddress + 3 * (300 + Entry.HEADER_BYTES + 1);
    bench.disk.flip(segment, (int) fourth + 120, 1);
    checkThatAllButTheFourthCome(a);
  }

  private void checkThatAllButTheFourthCome(Consumer consumer) {
    dispatcher.pull(consumer, 1, 5, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(0, 3));
    assertThat(one.done).isEmpty();
    assertThat(bench.damages).isEmpty();
    dispatcher.pull(consumer, 2, 5, 1 << 20, 500);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(4, 9));
    assertThat(one.done).isEmpty();
    assertThat(bench.damages).hasSize(1);
    assertThat(queue.damaged().next(0, 0, 100, 1 << 30)).isEqualTo(range(3, 1));
    dispatcher.pull(consumer, 3, 5, 1 << 20, 0);
    dispatcher.pull(consumer, 4, 5, 1 << 20, 0);
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).isEqualTo(numbers(9, 10));
    dispatcher.pull(consumer, 5, 5, 1 << 20, 0);
    bench.loops.runUntilIdle();
    assertThat(one.done).contains("5 OK");
    assertThat(one.buffers).isZero();
  }

  @Test
  void aSectorOfTheJournalThatTheDeviceDoesNotGiveTakesOnlyWhatLiesInIt() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    bench.publish(queue, 10, 300);
    bench.journal.unreadable = 1_700;
    bench.leaveWindow();
    List<Long> got = new ArrayList<>();
    for (int pull = 1; pull < 5; pull++) {
      dispatcher.pull(a, pull, 20, 1 << 20, 0);
      bench.loops.runUntilIdle();
      got.addAll(one.sequences());
    }
    List<Long> whole = new ArrayList<>(numbers(0, 4));
    whole.addAll(numbers(6, 10));
    assertThat(got).isEqualTo(whole);
    assertThat(queue.damaged().next(0, 0, 100, 1 << 30)).isEqualTo(range(4, 2));
    assertThat(one.done).contains("4 OK");
    assertThat(one.buffers).isZero();
  }

  @Test
  void readsThatWaitTheirTurnGetNoBufferWhileTheOutletIsFull() {
    bench.publish(queue, 100, 300);
    bench.leaveWindow();
    one.mostBuffers = 1;
    for (int i = 0; i < 50; i++) {
      dispatcher.pull(dispatcher.attach(first, i, 1, subscription), i, 2, 1 << 20, 500);
    }
    List<Long> got = new ArrayList<>();
    for (int round = 0; round < 200 && got.size() < 100; round++) {
      bench.loops.runUntilIdle();
      got.addAll(one.sequences());
      dispatcher.writable(first);
    }
    assertThat(got).containsExactlyInAnyOrderElementsOf(numbers(0, 100));
    assertThat(one.highestBuffers).isEqualTo(1);
    assertThat(one.done).isEmpty();
  }

  @Test
  void pullsBeyondTheReadsUnderWayWaitTheirTurn() {
    bench.publish(queue, 200, 50);
    bench.leaveWindow();
    for (int i = 0; i < 100; i++) {
      dispatcher.pull(dispatcher.attach(first, i, 1, subscription), i, 2, 1 << 20, 0);
    }
    assertThat(one.done).isEmpty();
    bench.loops.runUntilIdle();
    assertThat(one.sequences()).containsExactlyInAnyOrderElementsOf(numbers(0, 200));
    assertThat(one.done).isEmpty();
  }

  @Test
  void theEndOfASubscriptionAnswersItsPulls() {
    Consumer a = dispatcher.attach(first, 1, 1, subscription);
    dispatcher.attach(first, 2, 1, subscription);
    bench.publish(queue, 3, 50);
    dispatcher.pull(a, 1, 1, 1000, 500);
    bench.leaveWindow();
    dispatcher.pull(a, 2, 1, 1000, 500);
    dispatcher.end(subscription, FaultCode.DESTINATION_GONE);
    bench.destinations.delete(queue);
    bench.loops.runUntilIdle();
    assertThat(one.done).containsExactly("2 DESTINATION_GONE");
    assertThat(one.batches).hasSize(1);
    assertThat(first.consumers()).isEmpty();
    assertThat(one.buffers).isZero();
    assertThat(bench.memory.usedBytes()).isZero();
  }

  // ---- with selectors ----

  private Consumer selecting(int id) throws InvalidSelectorException {
    return dispatcher.attach(first, id, 1, subscription, Selector.parse("n = 7"), false);
  }

  private static long evaluations(Consumer consumer) {
    Filter filter = consumer.view().filter();
    return filter == null ? -1 : filter.evaluations();
  }

  @Test
  void aPausedSubscriptionIsNotLookedThroughUntilItGoesOn() throws InvalidSelectorException {
    bench.publish(queue, 300, 100);
    subscription.pause(true);
    Consumer consumer = selecting(1);
    dispatcher.pull(consumer, 1, 10, 1000, 500);
    bench.loops.runUntilIdle();
    assertThat(evaluations(consumer)).isZero();
    subscription.pause(false);
    dispatcher.dispatch(subscription);
    bench.loops.runUntilIdle();
    assertThat(evaluations(consumer)).isEqualTo(300);
  }
}
