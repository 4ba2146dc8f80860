package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.Duplicates;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.destination.Suppression;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.Committed;
import io.lightmq.core.record.ShardRecord.Decided;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.DestinationDeleted;
import io.lightmq.core.record.ShardRecord.DestinationSet;
import io.lightmq.core.record.ShardRecord.Dropped;
import io.lightmq.core.record.ShardRecord.Entries;
import io.lightmq.core.record.ShardRecord.Held;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.record.ShardRecord.Prepared;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.record.ShardRecord.Refused;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.state.SubscriptionKey;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.spi.Durability;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The bytes of a snapshot's state, versions 3 to 5; {@code -Dgolden.write=<folder>} writes them.
 */
class StateGoldenTest {
  private static final String GOLDEN = "state-v5.hex";

  /** Without transactions. */
  private static final String WITHOUT_TRANSACTIONS = "state-v4-sequences.hex";

  /** With numbers of blocks that were touched, as brokers wrote it that touched whole blocks. */
  private static final String BLOCKS = "state-v4.hex";

  /** With what nobody needs any more, as brokers wrote it that did not leave it out. */
  private static final String UNTRIMMED = "state-v4-untrimmed.hex";

  private static final String OLDER = "state-v3.hex";
  private static final int LANE = LaneCode.durable(4);
  private static final int BLOCK = 4096;
  private static final UUID LINK = new UUID(0x1111, 0x2222);
  private static final UUID OTHER = new UUID(0x3333, 0x4444);
  private static final UUID CLOSED = new UUID(0x5555, 0x6666);
  private static final long FIRST = 1L << 32;
  private static final long SECOND = 2L << 32;

  private final DirectMemory memory = new DirectMemory();
  private long offset = 64;

  /** Whether something is staged. */
  private boolean staged = true;

  /** 1 for the state as a broker without owners had it. */
  private int older;

  private ShardState newState() {
    return new ShardState(
        new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 20)));
  }

  private Published run(long number, long destination, long sequence, int count) {
    return run(number, destination, LANE, sequence, count);
  }

  private Published run(long number, long destination, int lane, long sequence, int count) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, 100);
    Published run =
        new Published(
            number == 0 ? null : LINK,
            number,
            destination,
            lane,
            sequence,
            new Entries(offset, lengths, number == 4));
    offset += 100L * count + 64;
    return run;
  }

  private static Acked acked(long destination, long subscription, SequenceRange... ranges) {
    return new Acked(destination, subscription, Reason.ACKNOWLEDGED, List.of(ranges));
  }

  private @Nullable String owner(String user) {
    return older == 1 ? null : user;
  }

  private ShardState sample() {
    ShardState state = newState();
    List<ShardRecord> records = new ArrayList<>();
    records.add(new Started(1, true));
    records.add(new LinkAttached(LINK, 1, owner("ada"), 1 - older));
    records.add(
        new DestinationCreated(
            1, name(DestinationKind.QUEUE, "orders"), new DestinationSettings(Durability.HIGH)));
    // Of the queue's blocks the first is acknowledged, the second in part, the others not at all.
    records.add(run(1, 1, FIRST, 4 * BLOCK));
    records.add(new Touched(1, 1, LANE, FIRST, BLOCK));
    records.add(new Touched(1, 1, LANE, FIRST + BLOCK, BLOCK));
    records.add(acked(1, 1, new SequenceRange(LANE, FIRST, BLOCK)));
    for (int i = 0; i < 5; i++) {
      records.add(acked(1, 1, new SequenceRange(LANE, FIRST + BLOCK + 7 * i, 3)));
    }
    records.add(
        new DestinationCreated(
            2,
            name(DestinationKind.TOPIC, "prices"),
            new DestinationSettings(Durability.BALANCED)));
    records.add(
        new SubscriptionOpened(
            5, 2, SubscriptionKind.DURABLE, "desk", "all", null, true, null, owner("bérénice")));
    records.add(run(2, 2, FIRST, 10));
    records.add(run(0, 2, 9, FIRST, 3));
    records.add(acked(2, 5, new SequenceRange(9, FIRST, 1)));
    records.add(
        new SubscriptionOpened(
            6, 2, SubscriptionKind.SHARED_DURABLE, null, "bérénice", "name = 'é'", false));
    records.add(
        new DestinationCreated(
            3, name(DestinationKind.QUEUE, "gone"), new DestinationSettings(Durability.HIGH)));
    records.add(new DestinationDeleted(3));
    records.add(new Refused(LINK, 3, FaultCode.DESTINATION_GONE, "destination 3 was deleted"));
    records.add(new Started(2, false));
    records.add(run(4, 2, SECOND, 5));
    records.add(run(0, 2, 0, SECOND, 2));
    records.add(new DestinationSet(2, new DestinationSettings(Durability.PERFORMANCE)));
    records.add(new LinkAttached(OTHER, 8, owner("bob"), 7 * (1 - older)));
    records.add(
        new Committed(
            OTHER,
            8,
            List.of(
                run(0, 1, SECOND, 20),
                acked(
                    2, 5, new SequenceRange(LANE, FIRST, 2), new SequenceRange(LANE, SECOND, 1)))));
    records.add(new Touched(1, 1, LANE, SECOND, BLOCK));
    records.add(new LinkAttached(CLOSED, 1));
    records.add(new LinkClosed(CLOSED));
    records.add(
        new DestinationCreated(
            4,
            name(DestinationKind.QUEUE, "once"),
            DestinationSettings.DEFAULT.with(
                Map.of("suppress-duplicates", "property:order,keys=10,time=1m"))));
    records.add(
        new Acked(
            4,
            4,
            Reason.ACKNOWLEDGED,
            List.of(),
            new ShardRecord.SeenKeys(1_700_000_000_000L, List.of(LINK, OTHER))));
    if (staged) {
      addTransactions(records);
    }
    BatchBytes never = at -> 0; // nothing expires
    records.forEach(record -> state.apply(record, never));
    state.destinations().all().forEach(each -> each.durable(4).show());
    Subscription queue = queue(state);
    deliver(queue, SECOND, 3, 1);
    deliver(queue, SECOND + 1, 1, 2);
    queue.take(queue.destination().durable(4), SECOND + 9, 2);
    return state;
  }

  /** One that is open, one that is prepared, one that an administrator has decided. */
  private void addTransactions(List<ShardRecord> records) {
    DestinationSettings hidden = new DestinationSettings(Durability.HIGH);
    Xid xid = new Xid(7, new byte[] {1, 2}, new byte[] {3});
    records.add(new TransactionBegun(1, new TransactionName.OfLink(LINK, 9)));
    records.add(new DestinationCreated(5, name(DestinationKind.QUEUE, "$lightmq.tx.1.1"), hidden));
    records.add(new Committed(null, 0, List.of(run(0, 5, SECOND, 3))));
    records.add(new TransactionBegun(2, new TransactionName.OfUser("bérénice", xid)));
    records.add(new DestinationCreated(6, name(DestinationKind.QUEUE, "$lightmq.tx.2.2"), hidden));
    Published unwanted = run(0, 6, SECOND, 5);
    BitSet places = new BitSet();
    places.set(1, 3);
    records.add(
        new Committed(
            null,
            0,
            List.of(
                new Published(
                    null,
                    0,
                    6,
                    LANE,
                    SECOND,
                    unwanted.entries(),
                    List.of(new ShardRecord.Unwanted(6, places))),
                new Held(
                    2,
                    1,
                    1,
                    List.of(new SequenceRange(LANE, SECOND + 12, 2)),
                    ShardRecord.SeenKeys.NONE),
                new Held(
                    2,
                    2,
                    5,
                    List.of(new SequenceRange(9, FIRST + 1, 1)),
                    ShardRecord.SeenKeys.NONE))));
    records.add(new Committed(LINK, 5, List.of(new Prepared(2, 1_700_000_000_000L))));
    records.add(
        new TransactionBegun(
            3, new TransactionName.OfUser("ada", new Xid(-1, new byte[64], new byte[0]))));
    records.add(
        new Committed(null, 0, List.of(new Prepared(3, 5), new Decided(3, false), new Dropped(3))));
  }

  private static void deliver(Subscription subscription, long from, int count, int times) {
    for (int i = 0; i < times; i++) {
      subscription.take(subscription.destination().durable(4), from, count);
      subscription.giveBack(LANE, from, count, true);
    }
  }

  private static DestinationName name(DestinationKind kind, String text) {
    return new DestinationName(kind, text);
  }

  private static Destination destination(ShardState state, long id) {
    Destination found = state.destinations().find(id);
    assertThat(found).as("destination %d", id).isNotNull();
    return found;
  }

  private static Subscription queue(ShardState state) {
    return destination(state, 1).queueSubscription();
  }

  private static List<ByteBuffer> encode(ShardState state) {
    StateSnapshot snapshot = new StateSnapshot(state, Set.of());
    for (int steps = 0; !snapshot.step(); steps++) {
      assertThat(steps).isLessThan(20);
    }
    List<ByteBuffer> slices = List.copyOf(snapshot.slices());
    assertThat(snapshot.release(100)).isTrue();
    return slices;
  }

  private static List<String> hex(List<ByteBuffer> slices) {
    List<String> all = new ArrayList<>();
    for (ByteBuffer slice : slices) {
      byte[] bytes = new byte[slice.remaining()];
      slice.duplicate().get(bytes);
      all.add(HexFormat.of().formatHex(bytes));
    }
    return all;
  }

  /** The slices of the golden file, which stand apart by an empty line. */
  private static List<String> golden(String name) throws IOException {
    try (InputStream in = StateGoldenTest.class.getResourceAsStream("/golden/" + name)) {
      assertThat(in).as("golden file %s", name).isNotNull();
      List<String> slices = new ArrayList<>();
      for (String slice : new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\n\n")) {
        slices.add(slice.replaceAll("\\s", ""));
      }
      return slices;
    }
  }

  /** What version 3 held. */
  private ShardState decoded() throws IOException {
    return decoded(OLDER);
  }

  private ShardState decoded(String name) throws IOException {
    ShardState state = newState();
    List<ByteBuffer> slices = new ArrayList<>();
    for (String slice : golden(name)) {
      slices.add(ByteBuffer.wrap(HexFormat.of().parseHex(slice)));
    }
    StateSnapshot.decode(slices, state);
    return state;
  }

  @Test
  void theBytesOfVersionFiveStayAsTheyAre() throws IOException {
    List<String> written = hex(encode(sample()));
    String folder = System.getProperty("golden.write");
    if (folder != null) {
      StringBuilder text = new StringBuilder();
      for (String slice : written) {
        text.append(slice.replaceAll("(.{96})(?=.)", "$1\n")).append("\n\n");
      }
      Files.writeString(Path.of(folder, GOLDEN), text.substring(0, text.length() - 1));
    }
    assertThat(written).isEqualTo(golden(GOLDEN));
  }

  @Test
  void theVersionInTheBytesIsThatOfTheGoldenFile() {
    assertThat(encode(sample()).get(0).get(0)).isEqualTo((byte) 5);
  }

  @Test
  void whatVersionFiveHoldsIsReadAndWrittenAgainUnchanged() throws IOException {
    assertThat(hex(encode(decoded(GOLDEN)))).isEqualTo(golden(GOLDEN));
  }

  @Test
  void transactionsOfVersionFiveAreReadAsTheyWere() throws IOException {
    ShardState state = decoded(GOLDEN);
    StagedTransactions transactions = state.transactions();
    assertThat(transactions.nextId()).isEqualTo(4);
    assertThat(transactions.open()).isEqualTo(1);
    assertThat(transactions.prepared()).isEqualTo(1);
    assertThat(transactions.decided()).isEqualTo(1);
    assertThat(transactions.bytes()).isEqualTo(800);
    assertThat(transactions.get(1).queues()).extracting(StagedQueue::destinationId).contains(1L);
    assertThat(transactions.get(2).heldCount()).isEqualTo(3);
    assertThat(queue(state).isHeld(LANE, SECOND + 13)).isTrue();
    assertThat(queue(state).isFree(LANE, SECOND + 13)).isFalse();
    state.apply(new Started(3, true), at -> 0);
    assertThat(transactions.find(1)).as("what is not prepared ends with a start").isNull();
    assertThat(state.destinations().find(5)).isNull();
    assertThat(queue(state).isHeld(LANE, SECOND + 13)).isTrue();
  }

  @Test
  void blocksThatWereTouchedAreReadAsTheirMessages() throws IOException {
    assertThat(hex(encode(decoded(BLOCKS)))).isEqualTo(hex(encode(decoded(WITHOUT_TRANSACTIONS))));
  }

  @Test
  void whatVersionFourHoldsIsWrittenAgainInVersionFive() throws IOException {
    staged = false;
    assertThat(hex(encode(decoded(WITHOUT_TRANSACTIONS)))).isEqualTo(hex(encode(sample())));
  }

  @Test
  void whatVersionFourHeldOfWhatNobodyNeedsIsReadAndLeftOut() throws IOException {
    assertThat(hex(encode(decoded(UNTRIMMED))))
        .isEqualTo(hex(encode(decoded(WITHOUT_TRANSACTIONS))));
  }

  @Test
  void whatVersionThreeHoldsIsWrittenAgainInVersionFive() throws IOException {
    staged = false;
    older = 1;
    assertThat(hex(encode(decoded(OLDER)))).isEqualTo(hex(encode(sample())));
  }

  @Test
  void destinationsAndSubscriptionsOfVersionThreeAreReadAsTheyWere() throws IOException {
    ShardState state = decoded();
    assertThat(state.epoch()).isEqualTo(2);
    assertThat(state.stopped()).isFalse();
    assertThat(state.nextSubscriptionId()).isEqualTo(7);
    assertThat(state.destinations().find(3)).isNull();
    assertThat(state.destinations().nextId()).isEqualTo(5);
    Duplicates once = destination(state, 4).queueSubscription().duplicates();
    assertThat(once).isNotNull();
    assertThat(once.suppression()).isEqualTo(new Suppression("order", 10, 60_000));
    assertThat(once.remembered()).isEqualTo(2);
    assertThat(once.give(4, 1, LINK, 1_700_000_059_999L))
        .isEqualTo(Duplicates.Verdict.ACKNOWLEDGED);
    assertThat(once.give(4, 1, LINK, 1_700_000_060_000L)).isEqualTo(Duplicates.Verdict.NEW);
    Destination topic = destination(state, 2);
    assertThat(topic.name()).isEqualTo(name(DestinationKind.TOPIC, "prices"));
    assertThat(topic.isGrouped()).isTrue();
    assertThat(destination(state, 1).isGrouped()).isFalse();
    assertThat(topic.settings().tier()).isEqualTo(Durability.PERFORMANCE);
    assertThat(topic.subscriptions()).extracting(Subscription::backlog).containsExactly(16L, 7L);
    Subscription desk = state.durableSubscription(new SubscriptionKey("desk", "all"));
    assertThat(desk).isNotNull();
    assertThat(desk.noLocal()).isTrue();
    assertThat(desk.selectorText()).isNull();
    assertThat(state.durableSubscription(new SubscriptionKey(null, "bérénice")))
        .extracting(Subscription::selectorText)
        .isEqualTo("name = 'é'");
    assertThat(state.durableSubscription(new SubscriptionKey(null, "bérénice")))
        .extracting(Subscription::kind)
        .isEqualTo(SubscriptionKind.SHARED_DURABLE);
  }

  @Test
  void whatConsumersDidWithAQueueOfVersionThreeIsReadAsItWas() throws IOException {
    Subscription queue = queue(decoded());
    assertThat(queue.backlog()).isEqualTo(3 * BLOCK - 15 + 20);
    assertThat(queue.firstUnacknowledged(queue.destination().durable(4)))
        .isEqualTo(FIRST + BLOCK + 3);
    assertThat(queue.isUnacknowledged(LANE, FIRST + BLOCK + 7)).isFalse();
    assertThat(queue.deliveries(LANE, FIRST + BLOCK + 3))
        .as("touched before the unclean end of epoch 1")
        .isEqualTo(1);
    assertThat(queue.deliveries(LANE, FIRST + 2 * BLOCK)).as("never touched").isZero();
    assertThat(queue.deliveries(LANE, SECOND)).isEqualTo(1);
    assertThat(queue.deliveries(LANE, SECOND + 1)).isEqualTo(3);
    assertThat(queue.deliveries(LANE, SECOND + 3)).isZero();
    assertThat(queue.deliveries(LANE, SECOND + 10)).as("was in flight").isEqualTo(1);
  }

  @Test
  void linksOfVersionThreeKeepTheirNumbersAndOutcomes() throws IOException {
    ShardState state = decoded();
    Link link = state.links().find(LINK);
    assertThat(link).isNotNull();
    assertThat(link.last()).isEqualTo(4);
    assertThat(link.outcome(3))
        .isNotNull()
        .satisfies(outcome -> assertThat(outcome.code()).isEqualTo(FaultCode.DESTINATION_GONE))
        .satisfies(outcome -> assertThat(outcome.text()).isEqualTo("destination 3 was deleted"));
    Link other = state.links().find(OTHER);
    assertThat(other).isNotNull();
    assertThat(other.last()).isEqualTo(8);
    assertThat(state.links().find(CLOSED)).isNull();
  }
}
