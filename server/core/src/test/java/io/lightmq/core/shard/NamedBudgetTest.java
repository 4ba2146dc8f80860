package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sessions.NamedBudget;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What clients can name or leave behind stays within one budget of heap. */
class NamedBudgetTest {
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final int MIB = 1 << 20;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(3);

  private void budget(long namedBytes) {
    h.settings = h.settings.with(h.settings.memory().withNamedBytes(namedBytes));
  }

  private FakePeer start(long namedBytes) throws Exception {
    h.settings = BrokerHarness.settings(2 << 20, 1 << 20);
    budget(namedBytes);
    h.open();
    return h.attach(new UUID(9, 9), 1, 1, "me");
  }

  private long named(Figure figure) {
    h.loops.advance(3_000_000_000L);
    return h.broker.metrics().of(figure);
  }

  private static DestinationName queue(int i) {
    return new DestinationName(DestinationKind.QUEUE, "queue." + i);
  }

  private Peer.Reply producer(FakePeer peer, DestinationName name) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.AttachProducer(peer, c, name, true));
    return h.reply(peer, c);
  }

  private Peer.Reply temporary(FakePeer peer) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(peer, c, DestinationKind.TEMPORARY_QUEUE));
    return h.reply(peer, c);
  }

  private static void assertRefused(Peer.Reply reply, String... texts) {
    assertThat(reply).isInstanceOf(Peer.Reply.Failed.class);
    Peer.Reply.Failed failed = (Peer.Reply.Failed) reply;
    assertThat(failed.code()).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(failed.text()).contains(texts);
  }

  private int fillWithQueues(FakePeer peer) {
    int made = 0;
    while (producer(peer, queue(made)) instanceof Peer.Reply.ProducerAttached) {
      made++;
    }
    return made;
  }

  @Test
  void queuesBeyondItAreRefusedWithFiguresAndAnAdministratorStillGetsIn() throws Exception {
    FakePeer peer = start(MIB);
    int made = fillWithQueues(peer);
    assertThat(made).isBetween(350, 420);
    assertRefused(
        producer(peer, queue(made)), "queue queue." + made, "of 917504", "memory.named-state");
    assertThat(named(Figure.NAMED_REFUSED)).isEqualTo(2);
    long id = ((Peer.Reply.ProducerAttached) producer(peer, queue(0))).destinationId();
    assertThat(h.receipt(peer, h.publish(peer, id, 1, "x"))).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(named(Figure.NAMED_REFUSED)).as("planned in vain, and told").isEqualTo(3);
    FakePeer other = h.attach();
    for (int i = 1; i <= 4; i++) {
      h.admin("destination.delete", Map.of("name", "queue." + i));
    }
    assertThat(h.receipt(peer, h.publish(peer, id, 2, "x"))).isEqualTo(FaultCode.OK);
    assertThat(producer(other, queue(made))).isInstanceOf(Peer.Reply.ProducerAttached.class);
    assertThat(h.broker.failure()).isNotDone();
  }

  private Peer.Reply attach(FakePeer peer, UUID link, long linkEpoch) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, link, linkEpoch, 1, null));
    return h.reply(peer, c);
  }

  private FakePeer stranger() {
    FakePeer peer = h.newPeer();
    peer.user = "mallory";
    return peer;
  }

  /** Keeps refusals for links of a stranger until none is kept any more; how many were. */
  private int fillWithRefusals() {
    int kept = 0;
    for (int link = 0; link < 200; link++) {
      FakePeer peer = stranger();
      if (!(attach(peer, new UUID(66, link), 1) instanceof Peer.Reply.Attached)) {
        return kept;
      }
      for (int run = 1; run < 1_000 && peer.disconnects.isEmpty(); run++) {
        int c = h.publish(peer, 999, run, "x");
        h.loops.runUntil(() -> BrokerHarness.find(peer, c) != null || !peer.disconnects.isEmpty());
        kept += peer.disconnects.isEmpty() ? 1 : 0;
      }
      if (!peer.disconnects.isEmpty()) {
        return kept;
      }
      h.broker.submit(new Command.Detach(peer, false));
    }
    throw new AssertionError("nothing was refused");
  }

  @Test
  void whoFillsItWithRefusalsKeepsOthersRefusalsAndConnectionsOut() throws Exception {
    FakePeer peer = start(8 * MIB);
    int kept = fillWithRefusals();
    assertThat(kept).as("half an eighth").isBetween(1_500, 3_500);
    assertThat(h.receipt(peer, h.publish(peer, 999, 1, "x"))).isEqualTo(FaultCode.DESTINATION_GONE);
    assertThat(attach(h.newPeer(), new UUID(1, 1), 1)).isInstanceOf(Peer.Reply.Attached.class);
    h.crash(false);
    h.open();
    assertThat(attach(h.newPeer(), new UUID(1, 2), 1)).isInstanceOf(Peer.Reply.Attached.class);
  }

  @Test
  void whatIsFullIsDrainedByWhoComesAndManagedByWhoMay() throws Exception {
    FakePeer peer = start(MIB);
    int made = fillWithQueues(peer);
    FakePeer known = h.attach(new UUID(5, 5), 1, 1, null);
    assertThat(h.tryConsumer(known, 1, queue(0), Subscribe.QUEUE, null))
        .as("a consumer of what is there")
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
    h.broker.submit(new Command.Detach(known, false));
    Peer.Reply last = null;
    for (int i = 0; i < 200 && !(last instanceof Peer.Reply.Failed); i++) {
      last = attach(stranger(), new UUID(66, i), 1);
    }
    assertRefused(last, "a connection", "of 983040");
    assertThat(attach(h.newPeer(), new UUID(5, 5), 2))
        .as("a link that comes back")
        .isInstanceOf(Peer.Reply.Attached.class);
    FakePeer manager = h.newPeer();
    manager.manages = true;
    assertThat(attach(manager, new UUID(7, 7), 1)).isInstanceOf(Peer.Reply.Attached.class);
    for (int i = 1; i < made; i++) {
      h.admin("destination.delete", Map.of("name", "queue." + i));
    }
    assertThat(attach(h.newPeer(), new UUID(8, 8), 1)).isInstanceOf(Peer.Reply.Attached.class);
  }

  @Test
  void aStoreOfABrokerWithMoreHeapStartsAndTakesNoMore() throws Exception {
    FakePeer peer = start(4 * MIB);
    int made = fillWithQueues(peer);
    h.close();
    budget(MIB);
    h.open();
    FakePeer admin = h.newPeer();
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Admin(admin, c, "destination.list", Map.of()));
    assertThat(h.reply(admin, c)).isInstanceOf(Peer.Reply.Json.class);
    c = h.nextCorrelation();
    h.broker.submit(new Command.Admin(admin, c, "destination.create", Map.of("name", "one.more")));
    assertRefused(h.reply(admin, c), "queue one.more");
    assertThat(made).isGreaterThan(1_400);
  }

  @Test
  void durableStateIsReckonedTheSameAfterAStart() throws Exception {
    FakePeer peer = start(8 * MIB);
    for (int i = 0; i < 50; i++) {
      long id = h.producer(peer, queue(i));
      assertThat(h.receipt(peer, h.publish(peer, id, i + 1, "x"))).isEqualTo(FaultCode.OK);
      h.consumer(peer, i, TOPIC, Subscribe.DURABLE, "s" + i);
    }
    for (int i = 0; i < 20; i++) {
      assertThat(h.receipt(peer, h.publish(peer, 999, 51 + i, "x")))
          .isEqualTo(FaultCode.DESTINATION_GONE);
    }
    h.admin("destination.delete", Map.of("name", "queue.7", "force", "true"));
    h.broker.submit(new Command.Detach(peer, false));
    long before = named(Figure.NAMED_BYTES);
    assertThat(before).isGreaterThan(50L * (NamedHeap.DESTINATION + 2 * NamedHeap.SUBSCRIPTION));
    h.crash(false);
    h.open();
    assertThat(named(Figure.NAMED_BYTES)).isEqualTo(before);
    h.close();
    h.open();
    assertThat(named(Figure.NAMED_BYTES)).isEqualTo(before);
  }

  @Test
  void oneConnectionHasAQuarterForWhatEndsWithIt() throws Exception {
    FakePeer peer = start(MIB);
    long before = named(Figure.NAMED_BYTES);
    List<DestinationName> made = new ArrayList<>();
    Peer.Reply last = temporary(peer);
    while (last instanceof Peer.Reply.TemporaryCreated created) {
      made.add(created.destination());
      last = temporary(peer);
    }
    assertThat(made).hasSizeBetween(90, 115);
    assertRefused(last, "of 262144", "a quarter of memory.named-state");
    FakePeer other = h.attach();
    assertThat(temporary(other)).isInstanceOf(Peer.Reply.TemporaryCreated.class);
    h.broker.submit(new Command.Detach(other, true));
    for (DestinationName each : made) {
      int c = h.nextCorrelation();
      h.broker.submit(new Command.DeleteTemporary(peer, c, each));
      assertThat(h.reply(peer, c)).isInstanceOf(Peer.Reply.Ok.class);
    }
    assertThat(named(Figure.NAMED_BYTES)).isEqualTo(before);
    Peer.Reply consumer = h.tryConsumer(peer, 1, TOPIC, Subscribe.PLAIN, null);
    for (int id = 2; id < 200 && consumer instanceof Peer.Reply.ConsumerAttached; id++) {
      consumer = h.tryConsumer(peer, id, TOPIC, Subscribe.PLAIN, null);
    }
    assertRefused(consumer, "of 262144", "a quarter of memory.named-state");
  }

  @Test
  void whatAnAdministratorDeletesUnderItsConsumersCountsForThemNoMore() throws Exception {
    FakePeer peer = start(MIB);
    for (int i = 0; i < 300; i++) {
      assertThat(h.tryConsumer(peer, i, TOPIC, Subscribe.PLAIN, null))
          .as("consumer %d", i)
          .isInstanceOf(Peer.Reply.ConsumerAttached.class);
      h.admin("destination.delete", Map.of("name", "t", "force", "true"));
    }
  }

  @Test
  void consumersAndTheirSubscriptionsGoWithTheirConnection() throws Exception {
    FakePeer peer = start(8 * MIB);
    h.producer(peer, queue(1));
    h.producer(peer, TOPIC);
    long before = named(Figure.NAMED_BYTES);
    FakePeer other = h.attach(new UUID(8, 8), 1, 1, "other");
    for (int i = 0; i < 100; i += 4) {
      h.consumer(other, i, queue(1), Subscribe.QUEUE, null);
      h.consumer(other, i + 1, TOPIC, Subscribe.PLAIN, null);
      h.consumer(other, i + 2, TOPIC, Subscribe.SHARED, "shared " + i % 3);
      h.consumer(other, i + 3, queue(1), Subscribe.BROWSE, null);
    }
    assertThat(named(Figure.NAMED_BYTES) - before)
        .isGreaterThan(100L * NamedBudget.CONSUMER + 25L * NamedHeap.SUBSCRIPTION);
    for (int i = 0; i < 20; i++) {
      h.broker.submit(new Command.DetachConsumer(other, h.nextCorrelation(), i));
    }
    h.broker.submit(new Command.Detach(other, true));
    assertThat(named(Figure.NAMED_BYTES)).isEqualTo(before);
  }

  @Test
  void refusalsThatAreKeptForLinksStayWithinIt() throws Exception {
    start(MIB);
    int kept = 0;
    FakePeer full = null;
    for (int link = 0; link < 20 && full == null; link++) {
      FakePeer peer = h.attach(new UUID(4, link), 1, 1, null);
      for (int i = 1; i <= 1_000 && full == null; i++) {
        int c = h.publish(peer, 999, i, "x");
        h.loops.runUntil(() -> BrokerHarness.find(peer, c) != null || !peer.disconnects.isEmpty());
        kept++;
        full = peer.disconnects.isEmpty() ? null : peer;
      }
    }
    assertThat(kept).as("half an eighth, for one user").isBetween(250, 400);
    assertThat(full).isNotNull();
    assertThat(full.disconnects.get(0)).startsWith("LIMIT_REACHED").contains("of 1048576 ");
    h.close();
    h.open();
    assertThat(named(Figure.NAMED_BYTES)).isLessThanOrEqualTo(MIB);
  }

  @Test
  void temporaryQueuesOfALongConnectionLeaveNothing() throws Exception {
    FakePeer peer = start(MIB);
    long before = named(Figure.NAMED_BYTES);
    for (int i = 0; i < 2_000; i++) {
      DestinationName name = ((Peer.Reply.TemporaryCreated) temporary(peer)).destination();
      h.consumer(peer, i, name, Subscribe.QUEUE, null);
      h.broker.submit(new Command.DetachConsumer(peer, h.nextCorrelation(), i));
      int c = h.nextCorrelation();
      h.broker.submit(new Command.DeleteTemporary(peer, c, name));
      assertThat(h.reply(peer, c)).isInstanceOf(Peer.Reply.Ok.class);
    }
    assertThat(named(Figure.NAMED_BYTES)).isEqualTo(before);
  }
}
