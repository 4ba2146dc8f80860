package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.delivery.Damage;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.SettingAside;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord.AsideAction;
import io.lightmq.core.record.ShardRecord.SetAside;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.SimulatedClock;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.core.storage.snapshot.Snapshot;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is set aside is bounded by number, and no turn walks over all of it. */
class SetAsideBoundsTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "orders");
  private static final int RUN = 100;
  private static final int MANY = 2 * SettingAside.MAX_RANGES + RUN;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(9);
  private final DirectMemory memory = new DirectMemory();
  private boolean asked;

  /** A stopped broker with messages of which every other one, but the last, is set aside. */
  private void stored(int messages, int aside) throws IOException {
    h.settings = BrokerHarness.settings(4 << 20, 1 << 20);
    h.open();
    FakePeer sender = h.attach();
    long id = h.producer(sender, QUEUE);
    for (int from = 0, run = 1; from < messages; from += RUN, run++) {
      String[] texts = new String[Math.min(RUN, messages - from)];
      for (int i = 0; i < texts.length; i++) {
        texts[i] = "m" + (from + i) + "-";
      }
      assertThat(h.receipt(sender, h.publish(sender, id, run, texts))).isEqualTo(FaultCode.OK);
    }
    h.close();
    SnapshotStore store =
        SnapshotStore.open(
            h.disk, StoreIdentity.openOrCreate(h.disk, () -> new UUID(1, 1)).storeId());
    Snapshot last = store.load().snapshot().orElseThrow();
    ShardState state =
        new ShardState(new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 20)));
    StateSnapshot.decode(last.state(), state);
    long first = state.destinations().find(QUEUE).durable(4).last() - messages + 1;
    List<SequenceRange> ranges = new ArrayList<>();
    for (int i = 0; i < aside; i++) {
      ranges.add(new SequenceRange(4, first + 2L * i, 1));
    }
    state.apply(new SetAside(id, AsideAction.SET_ASIDE, ranges, "test"), BatchBytes.NONE);
    StateSnapshot amended = new StateSnapshot(state, Set.of());
    while (!amended.step()) {}
    store.publish(
        new Snapshot(
            last.offset(),
            last.createdMillis(),
            last.nextAddress(),
            amended.slices(),
            last.segments(),
            last.pieces()));
    h.disk.kill();
  }

  private void flip(int number) throws IOException {
    byte[] text = ("m" + number + "-").getBytes(StandardCharsets.UTF_8);
    for (String each : h.disk.list("segments")) {
      String all = new String(h.disk.contents("segments/" + each), StandardCharsets.ISO_8859_1);
      int at = all.indexOf(new String(text, StandardCharsets.ISO_8859_1));
      if (at >= 0) {
        h.disk.flip("segments/" + each, at, 3);
      }
    }
  }

  private String listed() {
    String list = h.admin("damaged.list", Map.of("limit", "1"));
    return list.substring(list.lastIndexOf("\"messages\""));
  }

  @Test
  void theLimitCountsWhatAStartHasReadBeforeAnybodyAsksForMetrics() throws IOException {
    stored(MANY, SettingAside.MAX_RANGES);
    int damaged = 2 * SettingAside.MAX_RANGES + 51;
    flip(damaged);
    h.open();
    FakePeer peer = h.attach();
    long id = h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<String> texts = new ArrayList<>();
    for (List<Received> got = h.pull(peer, 1, RUN); !got.isEmpty(); got = h.pull(peer, 1, RUN)) {
      got.forEach(each -> texts.add(each.text()));
      h.acknowledge(peer, 1, id, got.stream().map(Received::range).toArray(SequenceRange[]::new));
    }
    assertThat(texts)
        .hasSize(MANY - SettingAside.MAX_RANGES - 1)
        .doesNotContain("m" + damaged + "-");
    assertThat(listed()).isEqualTo("\"messages\":" + SettingAside.MAX_RANGES + "}");
    assertThat(h.admin("destination.show", Map.of("name", "orders")))
        .contains("\"backlog\":" + (SettingAside.MAX_RANGES + 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"damaged.list", "damaged.retry", "damaged.drop"})
  void othersHaveTurnsWhileAnAdministratorSeesToMany(String verb) throws IOException {
    int aside = 20_000;
    stored(2 * aside, aside);
    h.open();
    FakePeer admin = h.newPeer();
    FakePeer other = h.newPeer();
    h.broker.submit(new Command.Admin(admin, 1, verb, Map.of()));
    h.loops.runUntil(
        () -> {
          if (!asked) {
            asked = true;
            h.broker.submit(new Command.Admin(other, 2, "destination.list", Map.of()));
          }
          return other.replies.containsKey(2);
        });
    assertThat(admin.replies).as("it goes on").isEmpty();
    String json = ((Peer.Reply.Json) h.reply(admin, 1)).json();
    assertThat(json).contains(":" + aside + "}");
    assertThat(listed()).isEqualTo("\"messages\":" + (verb.endsWith("list") ? aside : 0) + "}");
  }

  // ---- unlogged messages ----

  private record Rig(
      SettingAside aside,
      Destination queue,
      UnloggedLane lane,
      NamedHeap named,
      Counters counters) {}

  private Rig rig(int messages, int subscriptions) {
    Destinations destinations =
        new Destinations(new OffHeap(memory), new UnloggedStore(memory, 64 << 20));
    ShardState state = new ShardState(destinations);
    Destination topic =
        destinations.create(
            destinations.nextId(),
            new DestinationName(DestinationKind.TOPIC, "news"),
            DestinationSettings.DEFAULT);
    for (int i = 0; i < subscriptions; i++) {
      topic.open(i + 1, SubscriptionKind.PLAIN, null, null, false);
    }
    UnloggedLane lane = topic.unlogged(4);
    for (int i = 0; i < messages; i++) {
      lane.append(lane.tail(1), ByteBuffer.allocate(100));
    }
    lane.show();
    Counters counters = new Counters();
    SettingAside aside =
        new SettingAside(
            new Recorder(state, null, null),
            new Ready(state.guard()),
            counters,
            new TurnTime(new SimulatedClock()));
    return new Rig(aside, topic, lane, destinations.named(), counters);
  }

  private static void find(Rig rig, long sequence) {
    Subscription one = rig.queue().subscriptions().iterator().next();
    Damage damage = new Damage(sequence, sequence, new IOException("damaged"));
    assertThat(rig.aside().found(one, rig.lane(), damage)).isTrue();
  }

  @Test
  void rangesOfUnloggedMessagesHaveABoundOfTheirOwn() {
    int messages = 2 * (SettingAside.MAX_UNLOGGED_RANGES + 50);
    Rig rig = rig(messages, 1);
    long first = rig.lane().last() - messages + 1;
    for (int i = 0; i < messages / 2; i++) {
      find(rig, first + 2L * i);
      assertThat(rig.aside().recordNext((bytes, publishes) -> true)).isTrue();
      rig.aside().turn();
    }
    assertThat(rig.named().asideRanges(false)).isEqualTo(SettingAside.MAX_UNLOGGED_RANGES);
    assertThat(rig.named().asideRanges(true)).isZero();
    assertThat(rig.queue().damaged().kept()).isEqualTo(SettingAside.MAX_UNLOGGED_RANGES);
    assertThat(rig.queue().damaged().count())
        .as("too many to be looked up one by one")
        .isEqualTo(SettingAside.MAX_UNLOGGED_RANGES);
  }

  @Test
  void aTurnSetsAsideSoManyRangesForAllSubscriptionsTogether() {
    int subscriptions = 100;
    Rig rig = rig(100, subscriptions);
    long first = rig.lane().last() - 99;
    for (int i = 0; i < 50; i++) {
      find(rig, first + 2L * i);
    }
    int turns = 0;
    while (!rig.aside().isEmpty()) {
      int before = rig.named().asideRanges(false);
      while (!rig.aside().isEmpty() && rig.aside().recordNext((bytes, publishes) -> true)) {}
      int inTurn = rig.named().asideRanges(false) - before;
      assertThat(inTurn).isBetween(1, SettingAside.TURN_RANGES / subscriptions + 1);
      rig.aside().turn();
      turns++;
    }
    assertThat(turns).isGreaterThan(3);
    assertThat(rig.named().asideRanges(false)).isEqualTo(50);
  }

  private static Destaged.Damage told(Rig rig, long from, long through) {
    return new Destaged.Damage(
        rig.queue().id(), rig.lane().code(), from, through, new IOException("damaged"));
  }

  /** How many messages are held, once for each subscription. */
  private static int held(Rig rig, long first, int messages) {
    int held = 0;
    for (Subscription each : rig.queue().subscriptions()) {
      for (long at = first; at < first + messages; at++) {
        held += each.isHeld(rig.lane().code(), at) ? 1 : 0;
      }
    }
    return held;
  }

  private static void recordAll(Rig rig, long first, int messages, int most) {
    int before = held(rig, first, messages);
    while (!rig.aside().isEmpty()) {
      while (!rig.aside().isEmpty() && rig.aside().recordNext((bytes, publishes) -> true)) {}
      rig.aside().turn();
      int after = held(rig, first, messages);
      assertThat(after - before).as("in one turn").isBetween(0, most);
      before = after;
    }
  }

  @Test
  void whatACheckpointTellsIsSetAsideInTurnsForAllSubscriptions() {
    int subscriptions = 100;
    int messages = 200;
    Rig rig = rig(messages, subscriptions);
    long first = rig.lane().last() - messages + 1;
    List<Destaged.Damage> damages = new ArrayList<>();
    for (int i = 0; i < messages; i += 2) {
      damages.add(told(rig, first + i, first + i));
    }
    rig.aside().damaged(damages);
    assertThat(held(rig, first, messages)).as("in the checkpoint's turn").isZero();
    recordAll(rig, first, messages, SettingAside.TURN_RANGES);
    assertThat(held(rig, first, messages)).isEqualTo(messages / 2 * subscriptions);
    assertThat(rig.counters().figures().get(Figure.SET_ASIDE)).isEqualTo(messages / 2);
  }

  @Test
  void oneDamageThatIsManyRangesIsDividedByTheSubscriptions() {
    int subscriptions = 600;
    int messages = 64;
    Rig rig = rig(messages, subscriptions);
    long first = rig.lane().last() - messages + 1;
    for (int i = 0; i < messages; i += 2) {
      find(rig, first + i);
    }
    recordAll(rig, first, messages, SettingAside.TURN_RANGES);
    rig.aside().damaged(List.of(told(rig, first, first + messages - 1)));
    recordAll(rig, first, messages, SettingAside.TURN_RANGES);
    assertThat(held(rig, first, messages)).isEqualTo(messages * subscriptions);
    assertThat(rig.counters().figures().get(Figure.SET_ASIDE)).isEqualTo(messages);
  }

  @Test
  void whatIsFoundByManyBeforeThereIsRoomIsToldOnce() {
    Rig rig = rig(10, 3);
    long first = rig.lane().last() - 9;
    Damage damage = new Damage(first + 2, first + 4, new IOException("damaged"));
    for (Subscription each : rig.queue().subscriptions()) {
      assertThat(rig.aside().found(each, rig.lane(), damage)).isTrue();
    }
    rig.aside().damaged(List.of(told(rig, first + 1, first + 5)));
    recordAll(rig, first, 10, SettingAside.TURN_RANGES);
    assertThat(rig.counters().figures().get(Figure.SET_ASIDE)).isEqualTo(5);
    assertThat(rig.queue().damaged().count()).isEqualTo(5);
    assertThat(held(rig, first, 10)).isEqualTo(15);
  }

  @Test
  void whatIsBeyondTheBoundIsHeldForAll() {
    int messages = 2 * SettingAside.MAX_UNLOGGED_RANGES + 10;
    Rig rig = rig(messages, 2);
    long first = rig.lane().last() - messages + 1;
    List<SequenceRange> full = new ArrayList<>();
    for (int i = 0; i < SettingAside.MAX_UNLOGGED_RANGES; i++) {
      full.add(new SequenceRange(rig.lane().code(), first + 2L * i, 1));
    }
    rig.queue().damaged().setAside(full);
    long beyond = first + messages - 5;
    find(rig, beyond);
    recordAll(rig, beyond, 5, SettingAside.TURN_RANGES);
    assertThat(held(rig, beyond, 5)).isEqualTo(2);
    assertThat(rig.counters().figures().get(Figure.SET_ASIDE)).isEqualTo(1);
    assertThat(rig.named().asideRanges(false)).isEqualTo(SettingAside.MAX_UNLOGGED_RANGES);
  }
}
