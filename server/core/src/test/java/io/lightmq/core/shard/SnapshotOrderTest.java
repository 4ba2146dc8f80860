package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.DestinationDeleted;
import io.lightmq.core.record.ShardRecord.Entries;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.record.ShardRecord.Refused;
import io.lightmq.core.record.ShardRecord.SeenKeys;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * The state in a snapshot depends on the records before it alone: not on who looked up what, on
 * when a checkpoint trimmed, on what came while it was encoded, nor on who consumed from memory
 * only.
 */
class SnapshotOrderTest {
  private static final long FIRST = 1L << 32;
  private static final int LANE = 4;
  private static final int DESTINATIONS = 12;
  private static final int LINKS = 700;
  private static final int RUN = 5_000;
  private static final long EXPIRES = 77_000;

  private final DirectMemory memory = new DirectMemory();
  private final Random random = new Random(5);

  private ShardState newState() {
    return new ShardState(
        new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 20)));
  }

  private static ShardState apply(ShardState state, List<ShardRecord> records) {
    BatchBytes bytes = at -> EXPIRES;
    records.forEach(each -> state.apply(each, bytes));
    return state;
  }

  private static UUID link(int number) {
    return new UUID(Integer.reverse(number), number);
  }

  private static boolean isQueue(long id) {
    return id % 3 != 0;
  }

  private static Published run(long id, long sequence, int count) {
    int[] lengths = new int[count];
    java.util.Arrays.fill(lengths, 100);
    return new Published(
        link((int) id),
        sequence - FIRST + count,
        id,
        LANE,
        sequence,
        new Entries(id * 10_000_000 + (sequence - FIRST) * 100, lengths));
  }

  private static Acked acked(long id, long subscription, long from, int count) {
    return new Acked(
        id,
        subscription,
        Reason.ACKNOWLEDGED,
        List.of(new SequenceRange(LANE, from, count)),
        new SeenKeys(1_000_000, List.of(new UUID(id, from))));
  }

  /** Destinations with messages, subscriptions and keys, and links. */
  private static List<ShardRecord> history() {
    List<ShardRecord> records = new ArrayList<>();
    records.add(new Started(1, true));
    for (int i = 0; i < LINKS; i++) {
      records.add(new LinkAttached(link(i), 1, "user " + i % 7, 1 + i));
    }
    for (long id = 1; id <= DESTINATIONS; id++) {
      DestinationKind kind = isQueue(id) ? DestinationKind.QUEUE : DestinationKind.TOPIC;
      records.add(
          new DestinationCreated(
              id,
              new DestinationName(kind, "d" + id),
              DestinationSettings.DEFAULT.with(
                  isQueue(id) ? Map.of("suppress-duplicates", "property:key") : Map.of())));
      for (long s = id * 100; !isQueue(id) && s < id * 100 + 3; s++) {
        records.add(
            new SubscriptionOpened(
                s, id, SubscriptionKind.SHARED_DURABLE, null, "s" + s, "n > " + s, false));
      }
      records.add(run(id, FIRST, RUN));
      for (long s = id * 100; !isQueue(id) && s < id * 100 + 3; s++) {
        records.add(acked(id, s, FIRST, (int) (4_300 + s)));
        records.add(new Touched(id, s, LANE, FIRST, 300));
        records.add(new Touched(id, s, LANE, FIRST + 4_000, 900));
      }
      if (isQueue(id)) {
        records.add(acked(id, id, FIRST, (int) (4_500 - id)));
        records.add(new Touched(id, id, LANE, FIRST, 300));
        records.add(new Touched(id, id, LANE, FIRST + 4_000, 900));
      }
    }
    records.add(new Started(2, false));
    for (int i = 0; i < LINKS; i += 5) {
      records.add(new Refused(link(i), 10_000 + i, FaultCode.TOO_LARGE, "no " + i));
    }
    records.add(new LinkClosed(link(3)));
    return records;
  }

  /** What changes all of it. */
  private static List<ShardRecord> more() {
    List<ShardRecord> records = new ArrayList<>();
    for (long id = 1; id <= DESTINATIONS; id++) {
      records.add(run(id, FIRST + RUN, 3));
      records.add(acked(id, isQueue(id) ? id : id * 100, FIRST + RUN, 1));
    }
    records.add(new DestinationDeleted(5));
    records.add(new DestinationDeleted(9));
    for (int i = 0; i < LINKS; i += 3) {
      records.add(i % 2 == 0 ? new LinkClosed(link(i)) : new LinkAttached(link(i), 3, "x", 9_000));
    }
    records.add(new LinkAttached(link(LINKS + 1), 1, "new", 1));
    return records;
  }

  private static List<ByteBuffer> encode(ShardState state) {
    StateSnapshot snapshot = new StateSnapshot(state, Set.of());
    for (int steps = 0; !snapshot.step(); steps++) {
      assertThat(steps).isLessThan(1_000);
    }
    List<ByteBuffer> slices = List.copyOf(snapshot.slices());
    assertThat(snapshot.release(1_000)).isTrue();
    return slices;
  }

  private List<ByteBuffer> expected() {
    return encode(apply(newState(), history()));
  }

  @Test
  void whoWasLookedUpInBetweenDoesNotMatter() {
    ShardState state = newState();
    for (ShardRecord record : history()) {
      apply(state, List.of(record));
      state.links().find(link(random.nextInt(LINKS)));
      state.destinations().find(1 + random.nextInt(DESTINATIONS));
    }
    assertThat(encode(state)).isEqualTo(expected());
  }

  @Test
  void whatChangesWhileItIsEncodedDoesNotMatter() {
    for (int n = 0; n < 20; n++) {
      ShardState state = apply(newState(), history());
      List<ShardRecord> changes = new ArrayList<>(more().subList(0, 2 * DESTINATIONS));
      Collections.reverse(changes);
      changes.removeIf(each -> each instanceof Acked); // they follow their runs
      List<ShardRecord> rest = more().subList(2 * DESTINATIONS, more().size());
      StateSnapshot snapshot = new StateSnapshot(state, Set.of());
      int done = random.nextInt(DESTINATIONS);
      for (int i = 0; i < done; i++) {
        snapshot.step();
      }
      apply(state, changes);
      apply(state, rest);
      while (!snapshot.step()) {
        state.links().find(link(random.nextInt(LINKS)));
      }
      assertThat(snapshot.slices()).isEqualTo(expected());
      assertThat(snapshot.release(1_000)).isTrue();
    }
  }

  @Test
  void aSnapshotThatIsGivenUpLeavesNothingBehind() {
    ShardState state = apply(newState(), history());
    StateSnapshot givenUp = new StateSnapshot(state, Set.of());
    apply(state, more().subList(0, 4));
    givenUp.step();
    assertThat(givenUp.release(1_000)).isTrue();
    ShardState other = apply(newState(), history());
    apply(other, more().subList(0, 4));
    assertThat(encode(state)).isEqualTo(encode(other));
  }

  @Test
  void whenACheckpointTrimsDoesNotMatter() {
    ShardState state = newState();
    for (ShardRecord record : history()) {
      apply(state, List.of(record));
      if (random.nextInt(5) == 0) {
        state.destinations().all().forEach(Destination::trim);
      }
    }
    assertThat(encode(state)).isEqualTo(expected());
  }

  @Test
  void whoConsumesFromMemoryOnlyDoesNotMatter() {
    ShardState state = newState();
    for (ShardRecord record : history()) {
      apply(state, List.of(record));
      if (record instanceof DestinationCreated created && !isQueue(created.destinationId())) {
        Destination topic = state.destinations().find(created.destinationId());
        topic.open(-created.destinationId(), SubscriptionKind.PLAIN, null, null, false);
      }
      if (record instanceof Acked) {
        state.destinations().all().forEach(Destination::trim); // that one holds it up
      }
    }
    assertThat(encode(state)).isEqualTo(expected());
  }

  @Test
  void whatTheJanitorHasSeenDoesNotMatter() {
    ShardState state = apply(newState(), history());
    for (Destination each : state.destinations().all()) {
      DurableLane lane = each.durable(LANE);
      long block = lane.dueBlock(EXPIRES);
      assertThat(block).isPositive();
      lane.lookedAt(block, random.nextBoolean() ? Long.MAX_VALUE : EXPIRES + 5_000, EXPIRES);
    }
    assertThat(encode(state)).isEqualTo(expected());
  }

  @Test
  void whatIsReadAgainIsWrittenAgainTheSame() throws Exception {
    ShardState again = newState();
    StateSnapshot.decode(expected(), again);
    assertThat(encode(again)).isEqualTo(expected());
    for (Destination each : again.destinations().all()) {
      assertThat(each.subscriptions()).extracting(Subscription::id).isSorted();
    }
  }
}
