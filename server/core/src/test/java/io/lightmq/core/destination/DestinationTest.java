package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.DestinationRules.Rule;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.spi.Durability;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.SequenceRange;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DestinationTest {
  private static final int DURABLE = LaneCode.durable(4);
  private static final int UNLOGGED = LaneCode.unlogged(4);
  private static final long EPOCH = 1L << 32;

  private final DirectMemory direct = new DirectMemory();
  private final OffHeap memory = new OffHeap(direct);
  private final UnloggedStore store = new UnloggedStore(direct, 1 << 20);
  private final Destinations destinations = new Destinations(memory, store);
  private long offset = 4096;

  /** Touches at once, as if the record were durable already. */
  private final Subscription.Touches now =
      (subscription, lane, from, count) -> {
        subscription.seen().touch(lane, from, count);
        subscription.seen().touchDurable(lane, from, count);
      };

  private Destination queue() {
    Destination queue =
        destinations.create(
            destinations.nextId(),
            new DestinationName(DestinationKind.QUEUE, "q" + destinations.nextId()),
            DestinationSettings.DEFAULT);
    queue.open(queue.id(), SubscriptionKind.QUEUE, null, null, false);
    return queue;
  }

  private Destination topic() {
    return destinations.create(
        destinations.nextId(),
        new DestinationName(DestinationKind.TOPIC, "t" + destinations.nextId()),
        DestinationSettings.DEFAULT);
  }

  private long publish(Destination to, long shardEpoch, int count) {
    DurableLane lane = to.durable(4);
    long first = lane.tail(shardEpoch);
    lane.append(first, count);
    for (int i = 0; i < count; i++) {
      lane.entry(first + i, offset, 100, 0);
      offset += 100;
    }
    return first;
  }

  private long publishUnlogged(Destination to) {
    long sequence = to.unlogged(4).tail(1);
    to.unlogged(4).append(sequence, ByteBuffer.allocate(120));
    to.unlogged(4).show();
    return sequence;
  }

  private List<String> drain(Subscription subscription) {
    List<String> all = new ArrayList<>();
    View view = subscription.view();
    while (view.next(1000, now)) {
      for (int i = 0; i < view.count(); i++) {
        all.add((view.lane().code() == UNLOGGED ? "v" : "d") + (view.from() + i & 0xFFFFFFFFL));
      }
      subscription.take(view.lane(), view.from(), view.count());
    }
    return all;
  }

  @Test
  void nothingIsVisibleBeforeItsMarkAndNothingOvertakes() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publish(queue, 1, 1);
    queue.durable(4).await(1000, Mark.DURABLE);
    publish(queue, 1, 1);
    queue.durable(4).await(2000, Mark.WRITTEN);
    assertThat(drain(subscription)).isEmpty();
    List<Destination> moved = new ArrayList<>();
    destinations.advance(2000, 999, moved::add);
    assertThat(moved).isEmpty();
    assertThat(drain(subscription)).isEmpty();
    destinations.advance(2000, 1000, moved::add);
    assertThat(moved).containsExactly(queue);
    assertThat(drain(subscription)).containsExactly("d0", "d1");
  }

  @Test
  void manyWaitingBatchesBecomeVisibleInOrder() {
    Destination queue = queue();
    for (int i = 1; i <= 50; i++) {
      publish(queue, 1, 2);
      queue.durable(4).await(i * 100L, i % 3 == 0 ? Mark.WRITTEN : Mark.DURABLE);
      if (i % 7 == 0) {
        destinations.advance(i * 100L, (i - 4) * 100L, d -> {});
        assertThat(queue.durable(4).visibleEnd())
            .isEqualTo(EPOCH + 2L * ((i - 4 + 1) % 3 == 0 ? i - 3 : i - 4));
      }
    }
    destinations.advance(5000, 5000, d -> {});
    assertThat(queue.queueSubscription().ready()).isEqualTo(100);
  }

  @Test
  void unloggedMessagesKeepTheirPlaceAmongDurableOnes() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publishUnlogged(queue);
    publish(queue, 1, 2);
    queue.durable(4).show();
    publishUnlogged(queue);
    publishUnlogged(queue);
    publish(queue, 1, 1);
    queue.durable(4).await(9000, Mark.DURABLE);
    publishUnlogged(queue);
    assertThat(drain(subscription)).containsExactly("v0", "d0", "d1", "v1", "v2");
    destinations.advance(9000, 9000, d -> {});
    assertThat(drain(subscription)).containsExactly("d2", "v3");
  }

  @Test
  void returnedMessagesComeFirstAgainAndFlaggedIfCounted() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publish(queue, 1, 10);
    queue.durable(4).show();
    assertThat(drain(subscription)).hasSize(10);
    subscription.giveBack(DURABLE, EPOCH + 3, 2, true);
    subscription.giveBack(DURABLE, EPOCH + 8, 1, false);
    assertThat(drain(subscription)).containsExactly("d3", "d4", "d8");
    assertThat(subscription.deliveries(DURABLE, EPOCH + 3)).isEqualTo(1);
    assertThat(subscription.deliveries(DURABLE, EPOCH + 8)).isZero();
    subscription.giveBack(DURABLE, EPOCH + 3, 1, true);
    assertThat(subscription.deliveries(DURABLE, EPOCH + 3)).isEqualTo(2);
    subscription.acknowledge(DURABLE, EPOCH, 10);
    assertThat(subscription.deliveries(DURABLE, EPOCH + 3)).isZero();
    assertThat(subscription.backlog()).isZero();
  }

  @Test
  void whatMayHaveBeenSeenIsFlaggedAfterAnUncleanStopOnly() throws IOException {
    Destination queue = queue();
    publish(queue, 1, 5000);
    queue.durable(4).show();
    Subscription before = queue.queueSubscription();
    assertThat(before.view().next(10, now)).isTrue();
    before.take(queue.durable(4), EPOCH, 10);
    before.acknowledge(DURABLE, EPOCH, 4);
    before.giveBack(DURABLE, EPOCH + 7, 1, true);

    Subscription clean = copy(queue).queueSubscription();
    assertThat(clean.deliveries(DURABLE, EPOCH + 5)).isEqualTo(1);
    assertThat(clean.deliveries(DURABLE, EPOCH + 7)).isEqualTo(1);
    assertThat(clean.deliveries(DURABLE, EPOCH + 20)).isZero();
    assertThat(clean.backlog()).isEqualTo(4996);

    Subscription unclean = copy(queue).queueSubscription();
    unclean.seen().flagTouched();
    assertThat(unclean.deliveries(DURABLE, EPOCH + 20)).isEqualTo(1);
    assertThat(unclean.deliveries(DURABLE, EPOCH + 255)).isEqualTo(1);
    assertThat(unclean.deliveries(DURABLE, EPOCH + 256)).isZero();
    assertThat(unclean.anySeen(unclean.destination().durable(4), EPOCH + 4096, 100)).isFalse();
    assertThat(unclean.anySeen(unclean.destination().durable(4), EPOCH + 255, 2)).isTrue();
  }

  private Destination copy(Destination original) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    original.encode(new DataOutputStream(bytes));
    Destinations other = new Destinations(new OffHeap(new DirectMemory()), store);
    return other.decode(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
  }

  @Test
  void aTopicSubscriptionBeginsAtTheTailAndAQueueAtTheBeginning() {
    Destination topic = topic();
    assertThat(topic.placement(true)).isEqualTo(Destination.Placement.NOWHERE);
    topic.open(50, SubscriptionKind.DURABLE, "c", "a", false);
    assertThat(topic.placement(true)).isEqualTo(Destination.Placement.DURABLE);
    publish(topic, 1, 3);
    topic.durable(4).show();
    Subscription late = topic.open(51, SubscriptionKind.PLAIN, null, null, false);
    publish(topic, 1, 2);
    topic.durable(4).show();
    assertThat(drain(late)).containsExactly("d3", "d4");
    assertThat(late.backlog()).isEqualTo(2);
    assertThat(topic.backlog()).isEqualTo(5);
    topic.close(topic.subscriptions().iterator().next());
    assertThat(topic.placement(true)).isEqualTo(Destination.Placement.UNLOGGED);
  }

  @Test
  void unloggedEntriesGoWithTheLastSubscriptionThatNeedsThem() {
    Destination topic = topic();
    Subscription one = topic.open(60, SubscriptionKind.PLAIN, null, null, false);
    Subscription two = topic.open(61, SubscriptionKind.SHARED, null, "s", false);
    long first = publishUnlogged(topic);
    publishUnlogged(topic);
    assertThat(one.acknowledge(UNLOGGED, first, 1)).isEqualTo(1);
    assertThat(one.acknowledge(UNLOGGED, first, 1)).isZero();
    long used = store.usedBytes();
    assertThat(two.acknowledge(UNLOGGED, first, 1)).isEqualTo(1);
    assertThat(store.usedBytes()).isLessThan(used);
    topic.close(two);
    assertThat(drain(one)).containsExactly("v1");
    topic.close(one);
    assertThat(store.usedBytes()).isZero();
    assertThat(memory.usedBytes()).isZero();
  }

  @Test
  void onlyWhatIsInFlightToTheConsumerOrFreeMayBeAcknowledged() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publish(queue, 1, 10);
    queue.durable(4).show();
    Holding mine = subscription.newHolding();
    Holding other = subscription.newHolding();
    subscription.take(queue.durable(4), EPOCH, 6);
    mine.add(queue.durable(4), EPOCH, 4);
    other.add(queue.durable(4), EPOCH + 4, 2);
    Split whole = mine.split(List.of(new SequenceRange(DURABLE, EPOCH, 4)));
    assertThat(whole.refused()).isZero();
    Split split = mine.split(List.of(new SequenceRange(DURABLE, EPOCH + 2, 2_000_000_000)));
    assertThat(split.accepted())
        .containsExactly(
            new SequenceRange(DURABLE, EPOCH + 2, 2), new SequenceRange(DURABLE, EPOCH + 6, 4));
    assertThat(split.refused()).isEqualTo(2_000_000_000 - 6);
    assertThat(mine.split(List.of(new SequenceRange(7, 0, 3))).refused()).isEqualTo(3);
    publish(queue, 2, 1);
    queue.durable(4).show();
    assertThat(mine.split(List.of(new SequenceRange(DURABLE, EPOCH + 9, 2_000_000_000))))
        .isEqualTo(new Split(List.of(new SequenceRange(DURABLE, EPOCH + 9, 1)), 1_999_999_999));
    assertThat(mine.split(List.of(new SequenceRange(DURABLE, EPOCH + 10, 5))).refused())
        .isEqualTo(5);
    subscription.acknowledge(whole.accepted());
    mine.settle(whole.accepted());
    assertThat(mine.split(whole.accepted()).refused()).isEqualTo(4);
    assertThat(mine.size()).isZero();
    assertThat(other.giveBack(List.of(new SequenceRange(DURABLE, EPOCH + 3, 2)), true))
        .isEqualTo(1);
    assertThat(subscription.isFree(DURABLE, EPOCH + 4)).isTrue();
    assertThat(other.size()).isEqualTo(1);
  }

  @Test
  void aCheckpointKeepsWhatSomebodyNeedsWhenItWasDecided() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publish(queue, 1, 9000);
    queue.durable(4).show();
    subscription.acknowledge(DURABLE, EPOCH, 4200);
    for (int i = 5000; i < 6000; i += 2) {
      subscription.acknowledge(DURABLE, EPOCH + i, 1);
    }
    LaneCheckpoint checkpoint = queue.checkpoint(queue.durable(4), false);
    assertThat(checkpoint).isNotNull();
    subscription.acknowledge(DURABLE, EPOCH, 9000);
    long later = publish(queue, 1, 5);
    LanePlan plan = checkpoint.plan();
    List<Long> kept = new ArrayList<>();
    plan.runs()
        .forEach(
            run ->
                LongStream.range(run.firstSequence(), run.lastSequence() + 1)
                    .filter(plan.needed()::wants)
                    .forEach(kept::add));
    List<Long> expected = new ArrayList<>();
    for (long i = 4200; i < 9000; i++) {
      if (i < 5000 || i >= 6000 || i % 2 == 1) {
        expected.add(EPOCH + i);
      }
    }
    assertThat(kept).isEqualTo(expected);
    List<Long> walked = new ArrayList<>();
    for (long s = plan.needed().next(0); s != Long.MAX_VALUE; s = plan.needed().next(s + 1)) {
      if (plan.needed().wants(s)) {
        walked.add(s);
      }
    }
    assertThat(walked).isEqualTo(expected);
    assertThat(plan.expectedBytes()).isBetween(100L * 4000, 100L * 4600);
    Piece piece =
        new Piece(
            queue.id(), DURABLE, 0, EPOCH + 4200, later - 1, 4300, 0, 64, 430_000, 500_000, 2);
    long checkpointOffset = offset - 500;
    queue.durable(4).install(List.of(piece), checkpointOffset);
    checkpoint.release();
    Location at = new Location();
    assertThat(queue.durable(4).locate(EPOCH + 4300, at)).isTrue();
    assertThat(at.piece()).isEqualTo(piece);
    assertThat(queue.durable(4).locate(later + 1, at)).isTrue();
    assertThat(at.piece()).isNull();
    assertThat(queue.needed(piece)).isZero();
    subscription.acknowledge(DURABLE, EPOCH, 9005);
    queue.trim();
    queue.durable(4).install(List.of(), Long.MAX_VALUE);
    destinations.delete(queue);
    assertThat(memory.usedBytes()).isZero();
  }

  @Test
  void aPurgeSeesWhatIsFreeOnly() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publish(queue, 1, 100);
    queue.durable(4).show();
    publish(queue, 2, 20);
    publishUnlogged(queue);
    subscription.acknowledge(DURABLE, EPOCH, 10);
    subscription.take(queue.durable(4), EPOCH + 50, 5);
    List<SequenceRange> free = new ArrayList<>();
    subscription.forEachFree((lane, from, count) -> free.add(new SequenceRange(lane, from, count)));
    assertThat(free)
        .containsExactly(
            new SequenceRange(DURABLE, EPOCH + 10, 40),
            new SequenceRange(DURABLE, EPOCH + 55, 45),
            new SequenceRange(DURABLE, 2 * EPOCH, 20),
            new SequenceRange(UNLOGGED, EPOCH, 1));
    subscription.acknowledge(free);
    assertThat(subscription.backlog()).isEqualTo(5);
  }

  @Test
  void idsAreNeverUsedTwice() {
    Destination queue = queue();
    destinations.delete(queue);
    assertThatThrownBy(
            () -> destinations.create(queue.id(), queue.name(), DestinationSettings.DEFAULT))
        .hasMessageContaining("used up");
    assertThat(destinations.find(queue.name())).isNull();
  }

  @Test
  void theMostSpecificRuleWins() {
    DestinationSettings fast = new DestinationSettings(Durability.PERFORMANCE);
    DestinationSettings middle = new DestinationSettings(Durability.BALANCED);
    DestinationSettings high = new DestinationSettings(Durability.HIGH);
    DestinationRules rules =
        new DestinationRules(
            List.of(
                new Rule(">", fast),
                new Rule("orders.>", middle),
                new Rule("orders.*", fast),
                new Rule("orders.e*u", high)));
    assertThat(rules.settingsFor(name("orders.eu"))).isEqualTo(high);
    assertThat(rules.settingsFor(name("orders.us"))).isEqualTo(fast);
    assertThat(rules.settingsFor(name("orders.us.ny"))).isEqualTo(middle);
    assertThat(rules.settingsFor(name("orders"))).isEqualTo(fast);
    assertThat(new DestinationRules(List.of()).settingsFor(name("x")))
        .isEqualTo(DestinationSettings.DEFAULT);
    assertThatThrownBy(() -> new Rule("a.>.b", fast)).hasMessageContaining("a.>.b");
  }

  private static DestinationName name(String name) {
    return new DestinationName(DestinationKind.QUEUE, name);
  }

  private void publish(Destination to, int priority, boolean kept) {
    if (kept) {
      DurableLane lane = to.durable(priority);
      long sequence = lane.tail(1);
      lane.append(sequence, 1);
      lane.entry(sequence, offset, 100, 0);
      offset += 100;
      lane.show();
    } else {
      UnloggedLane lane = to.unlogged(priority);
      lane.append(lane.tail(1), ByteBuffer.allocate(120));
      lane.show();
    }
  }

  /** Code and place in its lane of all that is there, in the order of the view. */
  private List<String> lanes(Subscription subscription) {
    List<String> all = new ArrayList<>();
    while (subscription.view().next(100, now)) {
      View view = subscription.view();
      subscription.take(view.lane(), view.from(), view.count());
      for (int i = 0; i < view.count(); i++) {
        all.add(view.lane().code() + "/" + (view.from() + i - EPOCH));
      }
    }
    return all;
  }

  @Test
  void prioritiesComeHighestFirstAndEachInTheOrderOfItsTwoLanes() {
    Destination queue = queue();
    publish(queue, 4, true);
    publish(queue, 4, false);
    publish(queue, 9, false);
    publish(queue, 4, true);
    publish(queue, 0, true);
    publish(queue, 9, true);
    assertThat(lanes(queue.queueSubscription()))
        .containsExactly("137/0", "9/0", "4/0", "132/0", "4/1", "0/0");
  }

  @Test
  void aPriorityThatHadNothingIsLookedAtAgainOnceItHas() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    publish(queue, 8, true);
    publish(queue, 1, true);
    assertThat(lanes(subscription)).containsExactly("8/0", "1/0");
    publish(queue, 1, true);
    publish(queue, 8, false);
    publish(queue, 5, true);
    assertThat(lanes(subscription)).containsExactly("136/0", "5/0", "1/1");
    subscription.giveBack(8, EPOCH, 1, true);
    subscription.giveBack(136, EPOCH, 1, true);
    assertThat(lanes(subscription)).containsExactly("8/0", "136/0");
  }

  @Test
  void whatIsNotVisibleYetKeepsNoOtherPriorityBack() {
    Destination queue = queue();
    Subscription subscription = queue.queueSubscription();
    DurableLane high = queue.durable(9);
    high.append(high.tail(1), 1);
    high.entry(EPOCH, offset, 100, 0);
    high.await(9_000, Mark.DURABLE);
    publish(queue, 9, false);
    publish(queue, 2, true);
    assertThat(lanes(subscription)).containsExactly("2/0");
    assertThat(queue.awaited(1 << 9)).isEqualTo(Mark.DURABLE);
    assertThat(queue.awaited(1 << 2)).isNull();
    destinations.advance(9_000, 9_000, destination -> {});
    assertThat(lanes(subscription)).containsExactly("9/0", "137/0");
  }

  @Test
  void whatIsUntouchedOfAllPrioritiesIsAskedForTogether() {
    Destination queue = queue();
    publish(queue, 7, true);
    publish(queue, 3, true);
    publish(queue, 0, true);
    List<Integer> asked = new ArrayList<>();
    View view = queue.queueSubscription().view();
    assertThat(view.next(10, (subscription, lane, from, count) -> asked.add(lane))).isFalse();
    assertThat(view.waitsForTouch()).isTrue();
    assertThat(asked).containsExactly(7, 3, 0);
  }

  @Test
  void lanesAreMadeWhenUsedAndAnOldSubscriptionGetsAllOfALaterOne() throws IOException {
    Destination topic = topic();
    Subscription early = topic.open(70, SubscriptionKind.DURABLE, "c", "early", false);
    publish(topic, 4, true);
    Subscription late = topic.open(71, SubscriptionKind.DURABLE, "c", "late", false);
    publish(topic, 6, true);
    assertThat(topic.durableLanes()).extracting(Lane::code).containsExactly(4, 6);
    assertThat(topic.unloggedLanes()).isEmpty();
    // Asking for a lane makes it, but a snapshot does not have it before something is in it.
    topic.durable(1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    topic.encode(new DataOutputStream(bytes));
    Destinations others = new Destinations(memory, store);
    Destination read =
        others.decode(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertThat(read.durableLanes()).extracting(Lane::code).containsExactly(4, 6);
    read.durableLanes().forEach(DurableLane::show);
    publish(read, 1, true);
    assertThat(lanes(read.subscription(early.id()))).containsExactly("6/0", "4/0", "1/0");
    assertThat(lanes(read.subscription(late.id()))).containsExactly("6/0", "1/0");
  }
}
