package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class BrokerTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final UUID LINK = new UUID(7, 7);

  @Test
  void whatIsSentIsReceivedInOrderAndAcknowledgedForGood() throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    assertThat(h.receipt(peer, h.publish(peer, id, 1, "a", "b"))).isEqualTo(FaultCode.OK);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> got = h.pull(peer, 1, 10);
    assertThat(got).extracting(Received::text).containsExactly("a", "b");
    assertThat(got).extracting(Received::deliveries).containsOnly(0);
    assertThat(h.acknowledge(peer, 1, id, got.get(0).range(), got.get(1).range()))
        .isEqualTo(new Peer.Reply.Ok());
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    h.close();
  }

  @Test
  void confirmedMessagesSurviveAPowerCutAndUnacknowledgedOnesComeFlagged() throws Exception {
    BrokerHarness h = new BrokerHarness(2).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    h.receipt(peer, h.publish(peer, id, 1, "a", "b", "c"));
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> got = h.pull(peer, 1, 2);
    h.acknowledge(peer, 1, id, got.get(0).range());
    h.crash(true);
    h.open();
    FakePeer again = h.attach();
    h.consumer(again, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> after = h.pull(again, 1, 10);
    assertThat(after).extracting(Received::text).containsExactly("b", "c");
    assertThat(after.get(0).deliveries()).isPositive();
    h.close();
  }

  @Test
  void aCleanStopFlagsOnlyWhatWasInFlight() throws Exception {
    BrokerHarness h = new BrokerHarness(3).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    h.receipt(peer, h.publish(peer, id, 1, "a", "b", "c"));
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.pull(peer, 1, 1);
    h.close();
    h.open();
    FakePeer again = h.attach();
    h.consumer(again, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(again, 1, 10)).extracting(Received::deliveries).containsExactly(1, 0, 0);
    h.close();
  }

  @Test
  void aRepeatedNumberIsStoredOnce() throws Exception {
    BrokerHarness h = new BrokerHarness(4).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.receipt(peer, h.publish(peer, id, 1, "a"));
    h.crash(false);
    h.open();
    FakePeer again = h.attach(LINK, 2, 1, null);
    assertThat(h.receipt(again, h.publish(again, id, 1, "a"))).isEqualTo(FaultCode.OK);
    assertThat(h.receipt(again, h.publish(again, id, 2, "b"))).isEqualTo(FaultCode.OK);
    h.consumer(again, 1, QUEUE, Subscribe.QUEUE, null);
    h.pull(again, 1, 10);
    h.pull(again, 1, 10);
    assertThat(again.received).extracting(Received::text).containsExactly("a", "b");
    h.close();
  }

  @Test
  void aRefusalSpendsItsNumberAndIsToldAgainAfterACrash() throws Exception {
    BrokerHarness h = new BrokerHarness(5).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    assertThat(h.receipt(peer, h.publish(peer, 999, 1, "a"))).isEqualTo(FaultCode.DESTINATION_GONE);
    h.crash(false);
    h.open();
    FakePeer again = h.newPeer();
    h.broker.submit(new Command.Attach(again, 1, LINK, 2, 1, null));
    Peer.Reply.Attached attached = (Peer.Reply.Attached) h.reply(again, 1);
    assertThat(attached.last()).isEqualTo(1);
    assertThat(attached.outcomes())
        .extracting(Peer.Outcome::code)
        .containsExactly(FaultCode.DESTINATION_GONE);
    h.close();
  }

  @Test
  void aCommitWaitsForTheRunsBeforeIt() throws Exception {
    BrokerHarness h = new BrokerHarness(6).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.publish(peer, id, 1, "first"); // what is no publish overtakes it in the mailbox
    int commit = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            commit,
            1,
            2,
            List.of(new Command.StagedRun(id, true, 1, h.bytes(true, 0, "second"))),
            List.of()));
    assertThat(h.receipt(peer, commit)).isEqualTo(FaultCode.OK);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("first", "second");
    h.close();
  }

  @Test
  void aTransactionOfSendsAndAcknowledgementsCountsWhole() throws Exception {
    BrokerHarness h = new BrokerHarness(7).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.receipt(peer, h.publish(peer, id, 1, "in"));
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    SequenceRange in = h.pull(peer, 1, 1).get(0).range();
    int commit = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            commit,
            1,
            2,
            List.of(new Command.StagedRun(id, true, 1, h.bytes(true, 0, "out"))),
            List.of(new Command.Acked(1, id, List.of(in)))));
    assertThat(h.receipt(peer, commit)).isEqualTo(FaultCode.OK);
    h.crash(true);
    h.open();
    FakePeer again = h.attach();
    h.consumer(again, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(again, 1, 10)).extracting(Received::text).containsExactly("out");
    h.close();
  }

  @Test
  void aCommitWhoseMessagesWentToAnotherConsumerIsRolledBack() throws Exception {
    BrokerHarness h = new BrokerHarness(8).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.receipt(peer, h.publish(peer, id, 1, "in"));
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.consumer(peer, 2, QUEUE, Subscribe.QUEUE, null);
    SequenceRange in = h.pull(peer, 1, 1).get(0).range();
    int commit = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            commit,
            1,
            2,
            List.of(new Command.StagedRun(id, true, 1, h.bytes(true, 0, "out"))),
            List.of(new Command.Acked(2, id, List.of(in)))));
    assertThat(h.receipt(peer, commit)).isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    h.acknowledge(peer, 1, id, in);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    h.close();
  }

  @Test
  void durableSubscriptionsGetWhatWasPublishedWhileTheyWereAway() throws Exception {
    BrokerHarness h = new BrokerHarness(9).open();
    FakePeer reader = h.attach(new UUID(9, 1), 1, 1, "client");
    long id = h.consumer(reader, 1, TOPIC, Subscribe.DURABLE, "sub");
    h.broker.submit(new Command.Detach(reader, true));
    FakePeer writer = h.attach(LINK, 1, 1, null);
    assertThat(h.producer(writer, TOPIC)).isEqualTo(id);
    h.receipt(writer, h.publish(writer, id, 1, "a"));
    h.crash(true);
    h.open();
    FakePeer again = h.attach(new UUID(9, 2), 1, 1, "client");
    h.consumer(again, 1, TOPIC, Subscribe.DURABLE, "sub");
    assertThat(h.pull(again, 1, 10)).extracting(Received::text).containsExactly("a");
    h.close();
  }

  @Test
  void plainSubscribersGetPersistentAndOtherMessagesFromMemory() throws Exception {
    BrokerHarness h = new BrokerHarness(10).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.consumer(peer, 1, TOPIC, Subscribe.PLAIN, null);
    h.receipt(peer, h.publish(peer, id, 1, "kept"));
    h.receipt(peer, h.publish(peer, id, 0, "light"));
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("kept", "light");
    h.close();
  }

  @Test
  void checkpointsTrimTheJournalAndKeepWhatIsNeeded() throws Exception {
    BrokerHarness h = new BrokerHarness(11).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    String body = "x".repeat(1000);
    for (int i = 1; i <= 900; i++) {
      assertThat(h.receipt(peer, h.publish(peer, id, i, body + i))).isEqualTo(FaultCode.OK);
    }
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    drainAll(h, peer, id, body, 1, 450);
    h.crash(true);
    h.open();
    FakePeer again = h.attach();
    h.consumer(again, 1, QUEUE, Subscribe.QUEUE, null);
    drainAll(h, again, id, body, 451, 900);
    assertThat(h.pull(again, 1, 10)).isEmpty();
    h.close();
  }

  private static void drainAll(
      BrokerHarness h, FakePeer peer, long id, String body, int from, int to) {
    int next = from;
    while (next <= to) {
      List<Received> got = h.pull(peer, 1, Math.min(50, to - next + 1));
      assertThat(got).isNotEmpty();
      for (Received each : got) {
        assertThat(each.text()).isEqualTo(body + next);
        next++;
      }
      h.acknowledge(peer, 1, id, got.stream().map(Received::range).toArray(SequenceRange[]::new));
    }
  }

  @Test
  void aFailedForceEndsTheShardAndTellsEveryPeer() throws Exception {
    BrokerHarness h = new BrokerHarness(12).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.disk.fail(io.lightmq.core.sim.SimulatedDisk.Operation.FORCE, 1);
    h.publish(peer, id, 1, "a");
    h.loops.runUntil(() -> h.broker.failure().isDone());
    assertThat(peer.receipts).isEmpty();
    assertThat(peer.disconnects).anyMatch(text -> text.startsWith("BROKER_FAILED"));
  }

  @Test
  void adminVerbsCreateShowSetPurgeAndDelete() throws Exception {
    BrokerHarness h = new BrokerHarness(13).open();
    assertThat(h.admin("destination.create", Map.of("name", "q", "tier", "balanced")))
        .contains("\"tier\":\"balanced\"");
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.receipt(peer, h.publish(peer, id, 1, "a", "b"));
    assertThat(h.admin("destination.show", Map.of("name", "q"))).contains("\"backlog\":2");
    assertThat(h.admin("destination.set", Map.of("name", "q", "tier", "high")))
        .contains("\"tier\":\"high\"");
    assertThat(h.admin("destination.purge", Map.of("name", "q"))).contains("\"messages\":2");
    assertThat(h.admin("destination.list", Map.of())).contains("\"backlog\":0");
    assertThat(h.admin("destination.delete", Map.of("name", "q"))).contains("\"deleted\":\"q\"");
    assertThat(h.admin("destination.show", Map.of("name", "q"))).contains("INVALID_DESTINATION");
    assertThat(h.receipt(peer, h.publish(peer, id, 2, "c"))).isEqualTo(FaultCode.DESTINATION_GONE);
    h.close();
  }

  @Test
  void temporaryDestinationsAreTheirConnectionsAlone() throws Exception {
    BrokerHarness h = new BrokerHarness(14).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    h.broker.submit(new Command.CreateTemporary(owner, 500, DestinationKind.TEMPORARY_QUEUE));
    DestinationName name = ((Peer.Reply.TemporaryCreated) h.reply(owner, 500)).destination();
    FakePeer other = h.attach();
    assertThat(h.tryConsumer(other, 1, name, Subscribe.QUEUE, null))
        .isInstanceOfSatisfying(
            Peer.Reply.Failed.class, f -> assertThat(f.code()).isEqualTo(FaultCode.NOT_OWNER));
    long id = h.producer(other, name);
    h.receipt(other, h.publish(other, id, 1, "answer"));
    h.consumer(owner, 1, name, Subscribe.QUEUE, null);
    assertThat(h.pull(owner, 1, 1)).extracting(Received::text).containsExactly("answer");
    h.broker.submit(new Command.Detach(owner, true));
    h.loops.runUntilIdle();
    assertThat(h.receipt(other, h.publish(other, id, 2, "late")))
        .isEqualTo(FaultCode.DESTINATION_GONE);
    h.close();
  }

  @Test
  void expiredMessagesAreNotGivenOut() throws Exception {
    BrokerHarness h = new BrokerHarness(15).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 1, h.bytes(true, 1000, "short")));
    h.receipt(peer, c);
    h.loops.advance(2_000_000_000L);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "q"))).contains("\"expired\":1");
    h.close();
  }
}
