package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.snapshot.Snapshot;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Links, client ids and durable subscriptions belong to the user who made them. */
class OwnershipTest {
  private static final UUID LINK = new UUID(5, 5);
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");
  private static final DestinationName PRICES =
      new DestinationName(DestinationKind.TOPIC, "prices");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(1);

  @BeforeEach
  void start() throws IOException {
    h.open();
  }

  private FakePeer peer(String user) {
    FakePeer peer = h.newPeer();
    peer.user = user;
    return peer;
  }

  private Peer.Reply attach(
      FakePeer peer, UUID link, long epoch, long answersFrom, String clientId) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, link, epoch, answersFrom, clientId));
    h.loops.runUntil(() -> peer.replies.containsKey(c) || !peer.disconnects.isEmpty());
    Peer.Reply reply = peer.replies.get(c);
    return reply == null
        ? new Peer.Reply.Failed(FaultCode.PROTOCOL_ERROR, peer.disconnects.toString())
        : reply;
  }

  private FakePeer attached(String user, String clientId) {
    FakePeer peer = peer(user);
    isAttached(attach(peer, new UUID(6, h.nextCorrelation()), 1, 1, clientId));
    return peer;
  }

  private static void isAttached(Peer.Reply reply) {
    assertThat(reply).isInstanceOf(Peer.Reply.Attached.class);
  }

  private static void isRefused(Peer.Reply reply, FaultCode code, String word) {
    assertThat(reply).isInstanceOf(Peer.Reply.Failed.class);
    assertThat(((Peer.Reply.Failed) reply).code()).isEqualTo(code);
    assertThat(((Peer.Reply.Failed) reply).text()).contains(word);
  }

  private void leave(FakePeer peer) {
    h.broker.submit(new Command.Detach(peer, false));
  }

  private Peer.Reply unsubscribe(FakePeer peer, String name) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Unsubscribe(peer, c, name));
    return h.reply(peer, c);
  }

  private Peer.Reply setClientId(FakePeer peer, String clientId) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.SetClientId(peer, c, clientId));
    return h.reply(peer, c);
  }

  /** Makes a durable subscription and closes its connection. */
  private void subscribe(String user, String clientId, String name) {
    FakePeer owner = attached(user, clientId);
    h.consumer(
        owner, 1, PRICES, clientId == null ? Subscribe.SHARED_DURABLE : Subscribe.DURABLE, name);
    leave(owner);
  }

  /** Adds to what a stopped broker has written what one of before would have. */
  private void amend(ShardRecord... records) throws IOException {
    h.close();
    SnapshotStore store =
        SnapshotStore.open(
            h.disk, StoreIdentity.openOrCreate(h.disk, () -> new UUID(1, 1)).storeId());
    Snapshot last = store.load().snapshot().orElseThrow();
    DirectMemory memory = new DirectMemory();
    ShardState state =
        new ShardState(new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 20)));
    StateSnapshot.decode(last.state(), state);
    for (ShardRecord record : records) {
      state.apply(record, BatchBytes.NONE);
    }
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
    h.open();
  }

  // ---- links ----

  @Test
  void aLinkOfAnotherUserIsNotAttachedAndItsNumbersStay() throws IOException {
    FakePeer victim = peer("ada");
    isAttached(attach(victim, LINK, 1, 1, null));
    isRefused(
        attach(peer("mallory"), LINK, 2, 1_000, null), FaultCode.NOT_AUTHORIZED, "another user");
    assertThat(victim.disconnects).isEmpty();
    h.crash(true);
    h.open();
    isRefused(
        attach(peer("anonymous"), LINK, 2, 1_000, null), FaultCode.NOT_AUTHORIZED, "another user");
    Peer.Reply again = attach(peer("ada"), LINK, 2, 1, null);
    assertThat(((Peer.Reply.Attached) again).last()).isZero();
  }

  @Test
  void aLinkOfBeforeBelongsToTheFirstUserWithANameOfItsOwn() throws IOException {
    amend(new LinkAttached(LINK, 1));
    isAttached(attach(peer("anonymous"), LINK, 7, 1, null));
    isAttached(attach(peer("ada"), LINK, 8, 1, null));
    isRefused(attach(peer("anonymous"), LINK, 9, 1, null), FaultCode.NOT_AUTHORIZED, "another");
    h.crash(true);
    h.open();
    isRefused(attach(peer("bob"), LINK, 10, 1, null), FaultCode.NOT_AUTHORIZED, "another");
  }

  @Test
  void epochsAndNumbersDoNotJump() throws IOException {
    isAttached(attach(peer("ada"), LINK, 1, 1, null));
    isRefused(attach(peer("ada"), LINK, 1_000_002, 1, null), FaultCode.PROTOCOL_ERROR, "1000000");
    isRefused(attach(peer("ada"), LINK, 2, 65_537, null), FaultCode.PROTOCOL_ERROR, "65536");
    isAttached(attach(peer("ada"), LINK, 1_000_001, 65_536, null));
    h.close();
    h.open();
    isRefused(attach(peer("ada"), LINK, 2_000_002, 1, null), FaultCode.PROTOCOL_ERROR, "1000000");
    isRefused(
        attach(peer("ada"), LINK, 2_000_001, 131_073, null), FaultCode.PROTOCOL_ERROR, "65536");
    isAttached(attach(peer("ada"), LINK, 2_000_001, 131_071, null));
  }

  @Test
  void afterAnUncleanStopTheClientMayKnowMoreNumbersThanTheBroker() throws IOException {
    isAttached(attach(peer("ada"), LINK, 1, 1, null));
    h.crash(true); // runs for a topic without durable subscriptions are in no record
    h.open();
    Peer.Reply reply = attach(peer("ada"), LINK, 2, 900_001, null);
    assertThat(((Peer.Reply.Attached) reply).last()).isEqualTo(900_000);
    isRefused(attach(peer("ada"), LINK, 3, 1_900_001, null), FaultCode.PROTOCOL_ERROR, "65536");
  }

  // ---- what the broker has forgotten ----

  @Test
  void anAttachIsToldSinceWhichEpochItsLinkIsKnownHoweverOftenItAsks() throws IOException {
    Peer.Reply first = attach(peer("ada"), LINK, 1, 1, null);
    assertThat(((Peer.Reply.Attached) first).knownSince()).isEqualTo(1);
    UUID forgotten = new UUID(5, 6);
    Peer.Reply second = attach(peer("ada"), forgotten, 4, 12, null);
    assertThat(((Peer.Reply.Attached) second).knownSince()).isEqualTo(4);
    assertThat(((Peer.Reply.Attached) second).last()).isEqualTo(11);
    h.crash(true);
    h.open();
    Peer.Reply again = attach(peer("ada"), forgotten, 5, 12, null);
    assertThat(((Peer.Reply.Attached) again).knownSince())
        .as("the answer before may have been lost")
        .isEqualTo(4);
    h.close();
    h.open();
    again = attach(peer("ada"), forgotten, 6, 12, null);
    assertThat(((Peer.Reply.Attached) again).knownSince()).isEqualTo(4);
  }

  @Test
  void anOldClientDoesNotTakeUpALinkThatIsForgotten() {
    FakePeer old = peer("ada");
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(old, c, LINK, 2, 1, null, false));
    isRefused(h.reply(old, c), FaultCode.VERSION_MISMATCH, "nothing of link");
    FakePeer fresh = peer("ada");
    c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(fresh, c, LINK, 1, 1, null, false));
    isAttached(h.reply(fresh, c));
    FakePeer lost = peer("ada");
    c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(lost, c, LINK, 2, 1, null, false));
    isAttached(h.reply(lost, c));
  }

  // ---- durable subscriptions and client ids ----

  @Test
  void aDurableSubscriptionIsNeitherReadNorEndedByAnotherUser() throws IOException {
    subscribe("ada", "app", "daily");
    subscribe("ada", null, "shared");
    for (int round = 0; round < 2; round++) {
      isRefused(
          attach(peer("mallory"), new UUID(9, 1 + round), 1, 1, "app"),
          FaultCode.NOT_AUTHORIZED,
          "another user");
      FakePeer later = attached("mallory", null);
      isRefused(
          h.tryConsumer(later, 1, PRICES, Subscribe.SHARED_DURABLE, "shared"),
          FaultCode.NOT_AUTHORIZED,
          "another user");
      isRefused(unsubscribe(later, "shared"), FaultCode.NOT_AUTHORIZED, "another user");
      isRefused(setClientId(later, "app"), FaultCode.NOT_AUTHORIZED, "another user");
      h.close();
      h.open();
    }
    FakePeer owner = attached("ada", "app");
    h.consumer(owner, 1, PRICES, Subscribe.DURABLE, "daily");
    h.consumer(owner, 2, PRICES, Subscribe.SHARED_DURABLE, "other");
  }

  @Test
  void aSubscriptionOfAnotherUserGivesNoWayToOneOfTheSameName() {
    subscribe("ada", null, "shared");
    FakePeer later = attached("mallory", null);
    isRefused(
        h.tryConsumer(later, 1, PRICES, Subscribe.SHARED_DURABLE, "shared", "a = 1", false),
        FaultCode.NOT_AUTHORIZED,
        "another user");
  }

  @Test
  void aClientIdIsFreeForOthersOnceItsLastDurableSubscriptionIsGone() {
    subscribe("ada", "app", "daily");
    FakePeer owner = attached("ada", "app");
    assertThat(unsubscribe(owner, "daily")).isInstanceOf(Peer.Reply.Ok.class);
    leave(owner);
    attached("bob", "app");
  }

  @Test
  void subscriptionsOfBeforeBelongToTheFirstUserWithANameOfItsOwn() throws IOException {
    h.consumer(attached("ada", null), 1, PRICES, Subscribe.PLAIN, null);
    long topic = h.producer(attached("ada", null), PRICES);
    amend(
        new SubscriptionOpened(1, topic, SubscriptionKind.DURABLE, "app", "daily", null, false),
        new SubscriptionOpened(2, topic, SubscriptionKind.DURABLE, "app", "weekly", null, false),
        new SubscriptionOpened(
            3, topic, SubscriptionKind.SHARED_DURABLE, null, "shared", null, false));
    FakePeer squatter = attached("anonymous", "app");
    h.consumer(squatter, 1, PRICES, Subscribe.DURABLE, "daily");
    h.consumer(squatter, 2, PRICES, Subscribe.DURABLE, "new");
    h.consumer(squatter, 3, PRICES, Subscribe.SHARED_DURABLE, "shared");
    leave(squatter);
    FakePeer owner = attached("ada", "app");
    isRefused(
        attach(peer("bob"), new UUID(9, 6), 1, 1, "app"), FaultCode.NOT_AUTHORIZED, "another");
    h.consumer(owner, 2, PRICES, Subscribe.DURABLE, "new");
    leave(owner);
    FakePeer bob = attached("bob", null);
    isRefused(
        attach(peer("bob"), new UUID(9, 7), 1, 1, "app"), FaultCode.NOT_AUTHORIZED, "another");
    h.consumer(bob, 1, PRICES, Subscribe.SHARED_DURABLE, "shared");
    leave(bob);
    h.crash(true);
    h.open();
    isRefused(
        attach(peer("anonymous"), new UUID(9, 8), 1, 1, "app"), FaultCode.NOT_AUTHORIZED, "anoth");
    isRefused(
        h.tryConsumer(attached("ada", null), 1, PRICES, Subscribe.SHARED_DURABLE, "shared"),
        FaultCode.NOT_AUTHORIZED,
        "another user");
  }

  @Test
  void whoHoldsAClientIdIsToldToItsOwnUserOnly() {
    FakePeer holder = attached("ada", "app");
    Peer.Reply other = attach(peer("mallory"), new UUID(9, 1), 1, 1, "app");
    isRefused(other, FaultCode.CLIENT_ID_IN_USE, "in use by another connection");
    assertThat(((Peer.Reply.Failed) other).text())
        .doesNotContain("ada", holder.address(), Long.toString(holder.connectionId()));
    Peer.Reply own = attach(peer("ada"), new UUID(9, 2), 1, 1, "app");
    isRefused(own, FaultCode.CLIENT_ID_IN_USE, holder.address());
    attached("anonymous", "free");
    Peer.Reply anonymous = attach(peer("anonymous"), new UUID(9, 3), 1, 1, "free");
    isRefused(anonymous, FaultCode.CLIENT_ID_IN_USE, "in use by another connection");
  }

  // ---- administration ----

  @Test
  void anAdministratorListsAndDeletesDurableSubscriptionsWhoeversTheyAre() throws IOException {
    subscribe("ada", "app", "daily");
    subscribe("bob", null, "shared");
    long topic = h.producer(attached("bob", null), PRICES);
    FakePeer sender = attached("ada", null);
    h.receipt(sender, h.publish(sender, topic, 1, "a", "b"));
    String list = h.admin("subscription.list", Map.of());
    assertThat(list)
        .contains("\"name\":\"daily\"", "\"clientId\":\"app\"", "\"topic\":\"prices\"")
        .contains("\"owner\":\"ada\"", "\"owner\":\"bob\"", "\"backlog\":2", "\"consumers\":0");
    assertThat(h.admin("subscription.list", Map.of("client-id", "app"))).doesNotContain("shared");
    assertThat(h.admin("subscription.list", Map.of("topic", "other"))).doesNotContain("shared");
    assertThat(h.admin("subscription.list", Map.of("limit", "1")))
        .contains("\"left\":1")
        .doesNotContain("shared");
    assertThat(h.admin("subscription.delete", Map.of("subscription", "daily")))
        .contains("INVALID_SUBSCRIPTION")
        .contains("without a client id");
    assertThat(h.admin("subscription.delete", Map.of("subscription", "daily", "client-id", "app")))
        .contains("\"deleted\":\"daily\"", "\"backlog\":2");
    FakePeer user = attached("bob", null);
    h.consumer(user, 1, PRICES, Subscribe.SHARED_DURABLE, "shared");
    assertThat(h.admin("subscription.delete", Map.of("subscription", "shared")))
        .contains("IN_USE", "1 consumers");
    assertThat(h.admin("subscription.delete", Map.of("subscription", "shared", "force", "true")))
        .contains("\"deleted\":\"shared\"");
    assertThat(h.admin("subscription.list", Map.of())).doesNotContain("shared", "daily");
    attached("mallory", "app");
    h.crash(true);
    h.open();
    assertThat(h.admin("subscription.list", Map.of())).doesNotContain("shared", "daily");
    assertThat(h.producer(attached("ada", null), ORDERS)).isPositive();
  }
}
