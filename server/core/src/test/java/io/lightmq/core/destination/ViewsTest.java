package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.selector.InvalidSelectorException;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageWriter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ViewsTest {
  private final DirectMemory direct = new DirectMemory();
  private final Destinations destinations =
      new Destinations(new OffHeap(direct), new UnloggedStore(direct, 1 << 24));
  private final Destination queue =
      destinations.create(
          1, new DestinationName(DestinationKind.QUEUE, "q"), DestinationSettings.DEFAULT);
  private final Subscription subscription =
      queue.open(1, SubscriptionKind.QUEUE, null, null, false);
  private final Views views = subscription.views();
  private final MessageWriter writer = new MessageWriter(1 << 12);
  private long offset = 4096;

  private final Subscription.Touches now =
      (of, lane, from, count) -> {
        of.seen().touch(lane, from, count);
        of.seen().touchDurable(lane, from, count);
      };

  private long append(int count) {
    DurableLane lane = queue.durable(4);
    long first = lane.tail(1);
    lane.append(first, count);
    for (int i = 0; i < count; i++) {
      lane.entry(first + i, offset, 100, 0);
      offset += 100;
    }
    lane.show();
    return first;
  }

  private long publish(int n) {
    long sequence = append(1);
    writer
        .start(BodyType.TEXT, 4, true, 0, 0)
        .correlationId("c" + n)
        .properties(Map.of("n", n))
        .finish();
    views.arrived(
        queue.durable(4),
        sequence,
        ByteBuffer.wrap(writer.array()),
        0,
        writer.length(),
        new Work());
    return sequence;
  }

  private View open(String selector) throws InvalidSelectorException {
    return views.open(Selector.parse(selector));
  }

  private List<Long> given(View view) {
    List<Long> given = new ArrayList<>();
    while (view.next(100, now)) {
      for (int i = 0; i < view.count(); i++) {
        given.add(view.from() + i);
      }
      subscription.take(view.lane(), view.from(), view.count());
    }
    return given;
  }

  @Test
  void whatArrivesUnshownIsLookedUpLater() throws InvalidSelectorException {
    View view = open("n > 1");
    long first = publish(2);
    assertThat(view.unsifted()).isNull();
    long unshown = append(2);
    assertThat(views.takeLagging()).isTrue();
    assertThat(views.takeLagging()).isFalse();
    assertThat(view.unsifted()).isSameAs(queue.durable(4));
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo(unshown);
    long behind = publish(3);
    assertThat(given(view)).containsExactly(first);
    view.match(queue.durable(4), unshown + 1, 0);
    view.sifted(queue.durable(4), unshown + 2);
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo(behind);
    view.match(queue.durable(4), behind, 0);
    view.sifted(queue.durable(4), behind + 1);
    assertThat(given(view)).containsExactly(unshown + 1, behind);
    assertThat(view.unsifted()).isNull();
    assertThat(given(view)).isEmpty();
    long live = publish(4);
    assertThat(given(view)).containsExactly(live);
  }

  @Test
  void aGapIsSeenByTheNextThatIsShownToo() throws InvalidSelectorException {
    View view = open("n > 1");
    publish(2);
    long unshown = append(1);
    publish(3);
    assertThat(views.takeLagging()).isTrue();
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo(unshown);
  }

  @Test
  void aViewThatKnowsManyMatchesIsShownNoMore() throws InvalidSelectorException {
    View view = open("n > 1");
    for (int i = 0; i < Views.MAX_MATCHES + 10; i++) {
      publish(2);
    }
    assertThat(view.matches()).isEqualTo(Views.MAX_MATCHES + 1);
    assertThat(views.takeLagging()).as("asked again, also if all that it knows goes").isTrue();
    assertThat(view.unsifted()).isSameAs(queue.durable(4));
    subscription.acknowledge(LaneCode.durable(4), 1L << 32, Views.MAX_MATCHES + 1);
    assertThat(view.matches()).isZero();
    assertThat(views.matching()).isEmpty();
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo((1L << 32) + Views.MAX_MATCHES + 1);
  }

  @Test
  void aViewThatComesAgainGoesOnWhereItWas() throws InvalidSelectorException {
    View view = open("n > 1");
    assertThat(open("n>1")).isSameAs(view);
    long first = publish(2);
    long taken = publish(3);
    views.close(view);
    assertThat(views.all()).containsExactly(view);
    views.close(view);
    assertThat(views.all()).isEmpty();
    assertThat(views.isEmpty()).isTrue();
    assertThat(view.isOpen()).isFalse();
    long meanwhile = append(2);
    subscription.acknowledge(LaneCode.durable(4), taken, 1);
    queue.unlogged(9);
    assertThat(open(" n > 1")).isSameAs(view);
    assertThat(view.isOpen()).isTrue();
    assertThat(view.unsifted()).isSameAs(queue.unlogged(9));
    view.sifted(queue.unlogged(9), view.nextUnsifted(queue.unlogged(9)));
    assertThat(view.nextUnsifted(queue.durable(4))).isEqualTo(meanwhile);
    assertThat(given(view)).containsExactly(first);
    view.match(queue.durable(4), meanwhile + 1, 0);
    view.sifted(queue.durable(4), meanwhile + 2);
    assertThat(given(view)).containsExactly(meanwhile + 1);
    assertThat(view.unsifted()).isNull();
    assertThat(views.evaluations()).isEqualTo(2);
  }

  @Test
  void fewViewsAreKeptAndNoneThatKnowsMuchOrAsksForAnId() throws InvalidSelectorException {
    List<View> all = new ArrayList<>();
    for (int i = 0; i <= Views.RECENT; i++) {
      View view = open("n > " + i);
      all.add(view);
      views.close(view);
    }
    assertThat(open("n > 0")).isNotSameAs(all.get(0));
    assertThat(open("n > 1")).isSameAs(all.get(1));
    View id = open("JMSMessageID = 'x'");
    views.close(id);
    assertThat(open("JMSMessageID = 'x'")).isNotSameAs(id);
    View much = open("n = 7");
    for (int i = 0; i <= Views.RECENT_MATCHES; i++) {
      publish(7);
    }
    views.close(much);
    assertThat(open("n = 7")).isNotSameAs(much);
  }

  @Test
  void anIndexOfIdsStaysForAWhile() throws InvalidSelectorException {
    View view = open("JMSCorrelationID = 'c1'");
    publish(1);
    views.close(view);
    assertThat(views.isEmpty()).isFalse();
    for (int i = 0; i < IdIndex.IDLE_ARRIVALS; i++) {
      publish(2);
    }
    assertThat(views.isEmpty()).isTrue();
  }

  @Test
  void aNewViewPassesOverWhatTheIndexKnows() throws InvalidSelectorException {
    View first = open("JMSCorrelationID = 'c1'");
    List<Long> sequences = new ArrayList<>();
    for (int n = 0; n < 1_000; n++) {
      sequences.add(publish(n % 500));
    }
    assertThat(given(first)).containsExactly(sequences.get(1), sequences.get(501));
    subscription.acknowledge(LaneCode.durable(4), sequences.get(7), 1);
    View second = open("JMSCorrelationID = 'c7'");
    second.jump(queue.durable(4));
    assertThat(second.nextUnsifted(queue.durable(4))).isEqualTo(sequences.get(507));
    assertThat(second.unsiftedRun(queue.durable(4), sequences.get(507), 100)).isEqualTo(1);
    assertThat(second.nextUnsifted(queue.durable(4), sequences.get(508)))
        .isEqualTo(sequences.get(999) + 1);
    assertThat(second.learns(queue.durable(4))).isFalse();
  }

  @Test
  void aFullIndexForgetsWhatIsAcknowledgedAndThenTheOlderHalf() {
    DurableLane lane = queue.durable(4);
    long first = append(2 * IdLane.MAX_ENTRIES + 100);
    Cursor cursor = subscription.cursor(lane);
    IdLane index = new IdLane(cursor, new Arrivals(lane));
    subscription.acknowledge(lane.code(), first, IdLane.MAX_ENTRIES);
    for (int i = 0; i < 2 * IdLane.MAX_ENTRIES; i++) {
      index.add(first + i, 1 + i);
    }
    assertThat(index.from()).isEqualTo(first);
    assertThat(index.entries()).isEqualTo(IdLane.MAX_ENTRIES);
    index.add(first + 2 * IdLane.MAX_ENTRIES, 5_000_000);
    assertThat(index.from()).isGreaterThan(first + IdLane.MAX_ENTRIES);
    assertThat(index.entries()).isBetween(IdLane.MAX_ENTRIES / 2, IdLane.MAX_ENTRIES / 2 + 2);
    SequenceSet found = new SequenceSet(new OffHeap(direct));
    index.find(5_000_000, 0, found);
    index.find(2 * IdLane.MAX_ENTRIES, 0, found);
    index.find(3, 0, found);
    assertThat(found.size()).isEqualTo(2);
    assertThat(found.contains(first + 2 * IdLane.MAX_ENTRIES - 1)).isTrue();
  }
}
