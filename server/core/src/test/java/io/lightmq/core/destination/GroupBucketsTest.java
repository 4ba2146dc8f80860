package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GroupBucketsTest {
  private static final int KNOWN = 10_000;

  private final DirectMemory direct = new DirectMemory();
  private final Destinations destinations =
      new Destinations(
          new OffHeap(direct, new ViewBounds(KNOWN, 1 << 20, 100)),
          new UnloggedStore(direct, 1 << 24));
  private final Destination queue =
      destinations.create(
          1, new DestinationName(DestinationKind.QUEUE, "q"), DestinationSettings.DEFAULT);
  private final Subscription subscription =
      queue.open(1, SubscriptionKind.QUEUE, null, null, false);
  private final MessageWriter writer = new MessageWriter(1 << 12);
  private long offset = 4096;

  private final class Taker extends GroupOwner {
    boolean waiting = true;

    Taker() {
      super(subscription);
    }

    @Override
    protected boolean isWaiting() {
      return waiting;
    }

    @Override
    protected boolean isIdle() {
      return !waiting && holding().size() == 0;
    }
  }

  private GroupBuckets spread() {
    queue.group(true);
    GroupBuckets keys = subscription.view().keys();
    assertThat(keys).isNotNull();
    return keys;
  }

  private ByteBuffer message(String group) {
    writer.start(BodyType.TEXT, 4, true, 0, 0).properties(Map.of("JMSXGroupID", group)).finish();
    return ByteBuffer.wrap(writer.array(), 0, writer.length());
  }

  private void publish(ByteBuffer message) {
    DurableLane lane = queue.durable(4);
    long sequence = lane.tail(1);
    lane.append(sequence, 1);
    lane.entry(sequence, offset, 100, 0);
    offset += 100;
    lane.show();
    subscription.views().arrived(lane, sequence, message, 0, message.limit(), new Work());
  }

  @Test
  void sharesDifferByOneAtMostWhoeverComesAndGoes() {
    GroupBuckets keys = spread();
    Random random = new Random(5);
    List<Taker> takers = new ArrayList<>();
    for (int step = 0; step < 2_000; step++) {
      if (takers.isEmpty() || (takers.size() < 90 && random.nextInt(5) < 3)) {
        takers.add(new Taker());
        keys.join(takers.get(takers.size() - 1));
      } else {
        keys.leave(takers.remove(random.nextInt(takers.size())));
      }
      long all = 0;
      int fewest = Integer.MAX_VALUE;
      int most = 0;
      for (Taker taker : takers) {
        assertThat(all & taker.owned).isZero();
        all |= taker.owned;
        fewest = Math.min(fewest, Long.bitCount(taker.owned));
        most = Math.max(most, Long.bitCount(taker.owned));
      }
      assertThat(all).isEqualTo(takers.isEmpty() ? 0 : -1L);
      assertThat(most - fewest)
          .as("of %d", takers.size())
          .isBetween(0, takers.isEmpty() ? most : 1);
    }
  }

  @Test
  void onlyWhatIsTooMuchMovesWhenOneMoreComes() {
    GroupBuckets keys = spread();
    List<Taker> takers = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      Map<Taker, Long> before = new HashMap<>();
      takers.forEach(taker -> before.put(taker, taker.owned));
      Taker added = new Taker();
      takers.add(added);
      keys.join(added);
      before.forEach((taker, owned) -> assertThat(taker.owned & ~owned).isZero());
      assertThat(Long.bitCount(added.owned)).isEqualTo(64 / takers.size());
    }
  }

  @Test
  void keysAreHashedAlikeForEver() {
    GroupScan scan = new GroupScan();
    List<Integer> codes = new ArrayList<>();
    for (String group : List.of("a", "b", "order-4711", "\u00fcber", "\u65e5\u672c")) {
      ByteBuffer message = message(group);
      codes.add(scan.codeOf(message, 0, message.limit()));
    }
    assertThat(codes).as("group bucket + 1").containsExactly(33, 19, 3, 45, 27);
    Map<Integer, Integer> spread = new HashMap<>();
    for (int i = 0; i < 6_400; i++) {
      ByteBuffer message = message("key-" + i);
      spread.merge(scan.codeOf(message, 0, message.limit()), 1, Integer::sum);
    }
    assertThat(spread).hasSize(64);
    assertThat(spread.values()).allMatch(count -> count > 50 && count < 150);
  }

  @Test
  void aViewThatKnowsTooManyMessagesLooksNoFurtherUntilHalfOfThemAreGone() {
    GroupBuckets keys = spread();
    View view = subscription.view();
    view.attached(1);
    keys.join(new Taker());
    ByteBuffer message = message("a");
    for (int i = 0; i < KNOWN + 100; i++) {
      publish(message);
    }
    assertThat(view.matches()).isEqualTo(KNOWN);
    assertThat(view.isFull()).isTrue();
    assertThat(view.unsifted()).isNull();
    long first = 1L << 32;
    subscription.acknowledge(LaneCode.durable(4), first, KNOWN / 2 - 1);
    assertThat(view.unsifted()).isNull();
    subscription.views().takeLagging();
    subscription.acknowledge(LaneCode.durable(4), first + KNOWN / 2 - 1, 1);
    assertThat(view.isFull()).isFalse();
    assertThat(subscription.views().takeLagging()).as("views are asked again").isTrue();
    assertThat(view.unsifted()).isSameAs(queue.durable(4));
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo(first + KNOWN);
  }

  @Test
  void aFullViewThatForgetsWhatItKnowsWithItsLastConsumerLooksAgain() {
    spread();
    View view = subscription.view();
    view.attached(1);
    ByteBuffer message = message("a");
    for (int i = 0; i < KNOWN + 100; i++) {
      publish(message);
    }
    view.attached(-1);
    view.attached(1);
    assertThat(view.isFull()).isFalse();
    assertThat(view.unsifted()).isSameAs(queue.durable(4));
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo(1L << 32);
  }

  @Test
  void whatIsSettledWakesConsumersOfAFullViewAlthoughNothingKnownIsFree() {
    GroupBuckets keys = spread();
    View view = subscription.view();
    view.attached(1);
    Taker taker = new Taker();
    keys.join(taker);
    ByteBuffer message = message("a");
    for (int i = 0; i < KNOWN; i++) {
      publish(message);
    }
    while (view.next(taker, KNOWN, (of, lane, from, count) -> touch(lane, from, count))) {
      view.take(taker, view.lane(), view.from(), view.count());
    }
    assertThat(subscription.inFlight()).isEqualTo(KNOWN);
    keys.watch(true, view.isFull());
    assertThat(keys.isWatching()).isTrue();
    keys.watch(true, false);
    assertThat(keys.isWatching()).isFalse();
  }

  @Test
  void nothingMovesOnceWhatWasInFlightToTheLastConsumerIsSettled() {
    GroupBuckets keys = spread();
    View view = subscription.view();
    view.attached(1);
    Taker taker = new Taker();
    keys.join(taker);
    publish(message("a"));
    publish(message("b"));
    while (view.next(taker, 2, (of, lane, from, count) -> touch(lane, from, count))) {
      taker.holding().add(view.lane(), view.from(), view.count());
      view.take(taker, view.lane(), view.from(), view.count());
      taker.arrived();
    }
    keys.leave(taker);
    assertThat(keys.use(null).moving()).isEqualTo(2);
    taker.holding().settle(List.of(new SequenceRange(LaneCode.durable(4), 1L << 32, 2)));
    assertThat(keys.use(null)).isEqualTo(new GroupUse(null, List.of(), 0, 64));
  }

  @Test
  void aViewIsFullAlsoOfFewMessagesThatTakeTooMuchMemoryAndGoesOnBehindThatOnlySoFar() {
    GroupBuckets keys = spread();
    View view = subscription.view();
    view.attached(1);
    keys.join(new Taker());
    DurableLane lane = queue.durable(4);
    long first = lane.tail(1);
    int count = 1_000_000;
    lane.append(first, count);
    lane.entry(first, 4096, 100, 0);
    lane.show();
    subscription.views().takeLagging();
    long before = direct.total();
    long at = showUntilFull(view, lane, first, 0);
    long few = at - first;
    assertThat(view.matches()).isLessThan(KNOWN / 2);
    assertThat(direct.total() - before).isBetween(1L << 19, 5L << 18);
    assertThat(view.unsifted()).isNull();
    int goesOn = 0;
    view.lookOn();
    while (!view.isFull()) {
      at = showUntilFull(view, lane, first, at - first);
      goesOn++;
      view.lookOn();
    }
    assertThat(goesOn).isPositive();
    assertThat(direct.total() - before).isBetween(3L << 20, 5L << 20);
    subscription.acknowledge(lane.code(), first, at - first - few / 3);
    assertThat(view.isFull()).isFalse();
    assertThat(view.bytes()).isBetween(1L, 1L << 19);
    subscription.acknowledge(lane.code(), first, count);
    assertThat(view.bytes()).isZero();
  }

  /** One message in 64 matches, of all group buckets in turn. */
  private long showUntilFull(View view, DurableLane lane, long first, long from) {
    long at = from;
    do {
      view.match(lane, first + at, 1 + (int) (at / 64 % GroupScan.BUCKETS));
      at += 64;
    } while (!view.isFull());
    view.sifted(lane, first + at);
    return first + at;
  }

  @Test
  void rangesOfManyBlocksAreAcknowledgedAndComeBackAsSingleMessagesDo() {
    OffHeap memory = new OffHeap(direct);
    DurableLane lane = queue.durable(4);
    long first = lane.tail(1);
    int count = 20 * SequenceSet.BLOCK;
    lane.append(first, count);
    lane.entry(first, 4096, 100, 0);
    lane.show();
    Cursor cursor = subscription.cursors().iterator().next();
    GroupLane ranges = new GroupLane(cursor, memory, new SequenceSet(memory), 0);
    GroupLane singles = new GroupLane(cursor, memory, new SequenceSet(memory), 0);
    Random random = new Random(3);
    for (int i = 0; i < count; i++) {
      int code = i >> 14 == 1 ? GroupScan.LOOSE : random.nextInt(GroupScan.BUCKETS + 1);
      ranges.add(first + i, code);
      singles.add(first + i, code);
    }
    for (int step = 0; step < 60; step++) {
      long from = first + random.nextInt(count);
      long to = Math.min(first + count, from + random.nextInt(step < 40 ? 3 << 12 : count));
      boolean back = random.nextInt(3) == 0;
      if (back) {
        ranges.back(from, to);
      } else {
        ranges.remove(from, to);
      }
      for (long at = from; at < to; at++) {
        if (back) {
          singles.back(at, at + 1);
        } else {
          singles.remove(at, at + 1);
        }
      }
      assertThat(ranges.size()).isEqualTo(singles.size());
      for (int key = 0; key < GroupScan.BUCKETS; key++) {
        assertThat(ranges.known(1L << key)).isEqualTo(singles.known(1L << key));
        assertThat(ranges.next(1L << key, false)).isEqualTo(singles.next(1L << key, false));
      }
      for (long at = first; at < first + count; at += 7) {
        assertThat(ranges.key(at)).isEqualTo(singles.key(at));
      }
    }
    ranges.remove(first, first + count);
    assertThat(ranges.size()).isZero();
    assertThat(ranges.next(-1L, true)).isEqualTo(Level.NONE);
  }

  private void touch(int lane, long from, int count) {
    subscription.seen().touch(lane, from, count);
    subscription.seen().touchDurable(lane, from, count);
  }
}
