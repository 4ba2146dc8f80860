package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.SequenceRange;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Holding what is damaged and letting it go, against a model that does it one by one. */
class HoldingDamageTest {
  private static final long FIRST = 1L << 32;
  private static final int COUNT = 10_000;

  private final DirectMemory direct = new DirectMemory();
  private final Destinations destinations =
      new Destinations(new OffHeap(direct), new UnloggedStore(direct, 1 << 20));
  private Destination queue;

  private Subscription queue(int count) {
    queue =
        destinations.create(
            destinations.nextId(),
            new DestinationName(DestinationKind.QUEUE, "q" + destinations.nextId()),
            DestinationSettings.DEFAULT);
    Subscription only = queue.open(queue.id(), SubscriptionKind.QUEUE, null, null, false);
    queue.durable(4).append(FIRST, count);
    queue.durable(4).show();
    return only;
  }

  private static SequenceRange range(int from, int end) {
    return new SequenceRange(4, FIRST + from, end - from);
  }

  private static Set<Integer> members(SequenceSet set) {
    Set<Integer> all = new TreeSet<>();
    for (long at = set.nextPresent(FIRST, FIRST + COUNT);
        at < FIRST + COUNT;
        at = set.nextPresent(at + 1, FIRST + COUNT)) {
      all.add((int) (at - FIRST));
    }
    return all;
  }

  @Property(tries = 200)
  void freeMessagesAreHeldAndTheSameAreLetGo(
      @ForAll @Size(max = 12) List<@IntRange(max = COUNT - 300) Integer> acknowledged,
      @ForAll @Size(max = 12) List<@IntRange(max = COUNT - 300) Integer> flying,
      @ForAll @IntRange(max = COUNT - 1) int from,
      @ForAll @IntRange(min = 1, max = COUNT) int length) {
    Subscription only = queue(COUNT);
    int end = Math.min(COUNT, from + length);
    Set<Integer> gone = new TreeSet<>();
    for (int each : acknowledged) {
      only.acknowledge(List.of(range(each, each + 1 + each % 200)));
      for (int i = each; i < each + 1 + each % 200; i++) {
        gone.add(i);
      }
    }
    Cursor cursor = only.cursor(queue.durable(4));
    Set<Integer> taken = new TreeSet<>();
    for (int each : flying) {
      for (int i = each; i < each + 1 + each % 150; i++) {
        if (!gone.contains(i) && taken.add(i)) {
          cursor.inFlight.add(FIRST + i, 1);
        }
      }
    }
    Set<Integer> expected = new TreeSet<>();
    for (int i = from; i < end; i++) {
      if (!gone.contains(i) && !taken.contains(i)) {
        expected.add(i);
      }
    }
    queue.damaged().setAside(List.of(range(from, end)));
    Set<Integer> held = members(cursor.inFlight);
    held.removeAll(taken);
    assertThat(held).isEqualTo(expected);
    for (int each : expected) {
      assertThat(cursor.isHeld(FIRST + each)).isTrue();
    }
    for (int each : taken) {
      assertThat(cursor.isHeld(FIRST + each)).isFalse();
    }
    queue.damaged().giveBack(List.of(range(0, COUNT)));
    assertThat(members(cursor.inFlight)).isEqualTo(taken);
    assertThat(queue.damaged().kept()).isZero();
    destinations.delete(queue);
  }

  @Test
  void theNumberOfRangesIsKnownWhateverBecomesOfThem() {
    Subscription only = queue(1_000);
    NamedHeap all = destinations.named();
    queue
        .damaged()
        .setAside(
            List.of(range(10, 20), range(30, 40), range(50, 60), range(60, 70), range(5, 12)));
    assertThat(all.asideRanges(true)).isEqualTo(3);
    queue.damaged().giveBack(List.of(range(33, 35)));
    assertThat(all.asideRanges(true)).isEqualTo(4);
    queue.damaged().drop(List.of(range(0, 32)));
    assertThat(all.asideRanges(true)).isEqualTo(3);
    only.acknowledge(List.of(range(0, 55)));
    queue.trim();
    assertThat(all.asideRanges(true)).isEqualTo(1);
    assertThat(queue.damaged().count()).isEqualTo(15);
    assertThat(all.asideRanges(false)).isZero();
    destinations.delete(queue);
    assertThat(all.asideRanges(true)).isZero();
  }
}
