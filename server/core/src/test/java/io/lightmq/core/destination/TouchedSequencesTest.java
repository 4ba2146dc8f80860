package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** What is touched ahead of the messages that are given out. */
class TouchedSequencesTest {
  private static final int LANE = LaneCode.durable(4);
  private static final long FIRST = 1L << 32;

  /** Asked for, not yet durable. */
  private record Asked(long from, int count) {}

  private final DirectMemory direct = new DirectMemory();
  private final Destination queue =
      new Destinations(new OffHeap(direct), new UnloggedStore(direct, 1 << 20))
          .create(1, new DestinationName(DestinationKind.QUEUE, "q"), DestinationSettings.DEFAULT);
  private final Subscription subscription =
      queue.open(1, SubscriptionKind.QUEUE, null, null, false);
  private final DurableLane lane = queue.durable(4);
  private final View view = subscription.view();
  private int records;
  private int waits;
  private final Deque<Asked> asked = new ArrayDeque<>();
  private final Subscription.Touches touches =
      (of, code, from, count) -> {
        asked.add(new Asked(from, count));
        records++;
      };

  /** Of whose records none is lost in a crash. */
  private final SequenceSet durable = new SequenceSet(new OffHeap(direct));

  private void append(int count) {
    long first = lane.tail(1);
    lane.append(first, count);
    for (int i = 0; i < count; i++) {
      lane.entry(first + i, 4_096 + 100 * (first - FIRST + i), 100, 0);
    }
    subscription.seen().touchForRun(lane, first, count, touches);
    lane.show();
  }

  /** The oldest record that was asked for is written. */
  private void oneIsDurable() {
    Asked next = asked.poll();
    if (next != null) {
      subscription.seen().touch(LANE, next.from(), next.count());
      subscription.seen().touchDurable(LANE, next.from(), next.count());
      durable.add(next.from(), next.count());
    }
  }

  private void allIsDurable() {
    while (!asked.isEmpty()) {
      oneIsDurable();
    }
  }

  /** Gives out and acknowledges so many; how many there were. */
  private int consume(int most) {
    int taken = 0;
    while (taken < most && view.next(most - taken, touches)) {
      int count = Math.min(view.count(), most - taken);
      subscription.take(view.lane(), view.from(), count);
      subscription.acknowledge(LANE, view.from(), count);
      taken += count;
    }
    waits += view.waitsForTouch() ? 1 : 0;
    return taken;
  }

  /** What nobody was given of what would be flagged. */
  private int flaggedInVain() {
    subscription.seen().flagTouched();
    int flagged = 0;
    for (long at = subscription.firstUnacknowledged(lane); lane.exists(at); at++) {
      flagged += subscription.deliveries(LANE, at) > 0 ? 1 : 0;
    }
    return flagged;
  }

  @Test
  void nothingIsGivenBeforeItIsTouchedDurably() {
    append(10_000);
    assertThat(view.next(10_000, touches)).isFalse();
    assertThat(view.waitsForTouch()).isTrue();
    assertThat(view.next(10_000, touches)).isFalse();
    assertThat(asked).containsExactly(new Asked(FIRST, 256));
    subscription.seen().touch(LANE, FIRST, 256);
    assertThat(view.next(10, touches)).isFalse();
    subscription.seen().touchDurable(LANE, FIRST, 256);
    assertThat(view.next(100, touches)).isTrue();
    assertThat(view.count()).isEqualTo(100);
    assertThat(asked).as("enough is left").hasSize(1);
    subscription.take(view.lane(), view.from(), 100);
    assertThat(view.next(10_000, touches)).isTrue();
    assertThat(view.count()).isEqualTo(156);
    assertThat(asked).as("one pull takes all").contains(new Asked(FIRST + 256, 512));
  }

  @Test
  void aConsumerThatTakesItsTimeNeverWaitsAndLittleIsFlaggedInVain() {
    append(20_000);
    consume(1);
    allIsDurable();
    for (int i = 0; i < 5_000; i++) {
      assertThat(consume(1)).isOne();
      oneIsDurable();
    }
    assertThat(waits).isOne();
    assertThat(records).isLessThanOrEqualTo(1 + 5_000 / 128 + 1);
    assertThat(flaggedInVain()).isLessThanOrEqualTo(256);
  }

  @Test
  void aFastConsumerWaitsAFewTimesOnlyUntilEnoughIsAskedForAhead() {
    append(200_000);
    int taken = consume(500);
    for (int i = 0; i < 300; i++) {
      int before = waits;
      int forced = asked.size();
      taken += consume(500); // while these become durable
      for (int n = 0; n < forced; n++) {
        oneIsDurable();
      }
      assertThat(i < 20 || waits == before).as("round %d", i).isTrue();
    }
    assertThat(taken).isGreaterThan(130_000);
    assertThat(flaggedInVain())
        .isLessThanOrEqualTo(TouchedSequences.MOST_AHEAD * OffHeap.TOUCHED_AHEAD);
  }

  @Property(tries = 200)
  void whateverIsGivenAndGivenBackNothingIsGivenBeforeItsRecordIsDurable(@ForAll long seed) {
    Random random = new Random(seed);
    subscription.attached(1);
    append(1 + random.nextInt(5_000));
    for (int step = 0; step < 300; step++) {
      switch (random.nextInt(5)) {
        case 0 -> append(1 + random.nextInt(random.nextBoolean() ? 3 : 700));
        case 1, 2 -> takeSome(1 + random.nextInt(900), random);
        case 3 -> oneIsDurable();
        default -> allIsDurable();
      }
    }
    allIsDurable();
    for (int round = 0; subscription.backlog() > 0; round++) {
      assertThat(round).as("rounds in which a wait ended").isLessThan(1_000);
      consume(2_000);
      allIsDurable();
    }
  }

  /** Takes messages, and acknowledges them or gives them back. */
  private void takeSome(int most, Random random) {
    int taken = 0;
    while (taken < most && view.next(most - taken, touches)) {
      long from = view.from();
      int count = view.count();
      assertThat(durable.cardinality(from, from + count)).isEqualTo(count);
      subscription.take(view.lane(), from, count);
      if (random.nextInt(4) == 0) {
        subscription.giveBack(LANE, from, count, random.nextBoolean());
      } else {
        subscription.acknowledge(LANE, from, count);
      }
      taken += count;
    }
  }

  @Test
  void whoWasFastAndIsSlowHasLittleAheadAgain() {
    append(200_000);
    for (int i = 0; i < 100; i++) {
      consume(500);
      oneIsDurable();
    }
    for (int i = 0; i < 20_000; i++) {
      consume(1);
      oneIsDurable();
    }
    assertThat(flaggedInVain()).isLessThanOrEqualTo(256);
  }

  @Test
  void aRunForWhoWaitsIsTouchedWithItAndOneRecordServesMany() {
    subscription.attached(1);
    append(1);
    allIsDurable();
    consume(1);
    waits = 0;
    records = 0;
    for (int i = 0; i < 10_000; i++) {
      append(1);
      allIsDurable();
      assertThat(consume(10)).isOne();
    }
    assertThat(waits).isZero();
    assertThat(records).isLessThanOrEqualTo(10_000 / 128 + 1);
  }

  @Test
  void whatIsSentToAConsumerThatIsFarBehindIsNotTouched() {
    subscription.attached(1);
    append(1);
    allIsDurable();
    consume(1);
    for (int i = 0; i < 10_000; i++) {
      append(1);
    }
    allIsDurable();
    assertThat(flaggedInVain()).isLessThanOrEqualTo(384);
  }
}
