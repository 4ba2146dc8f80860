package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Step;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Destinations and subscriptions that a branch touches cannot go before it is decided, unless an
 * administrator insists; what goes all the same leaves nothing behind that can never end.
 */
class TouchedBranchTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName OTHER = new DestinationName(DestinationKind.QUEUE, "other");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final UUID LINK = new UUID(3, 3);

  @RegisterExtension final BrokerHarness h = new BrokerHarness(53);

  private FakePeer peer;
  private long epoch;
  private long number;

  private void open() throws IOException {
    h.open();
    peer = h.attach(LINK, ++epoch, 1, "client");
  }

  private static Xid xid(int of) {
    return new Xid(9, new byte[] {(byte) of, (byte) (of >> 8)}, new byte[] {1});
  }

  private FaultCode step(Step step, List<Command.StagedRun> runs, Command.Acked... acked) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Commit(peer, c, 1, ++number, runs, List.of(acked), step));
    return h.receipt(peer, c);
  }

  private FaultCode prepare(int of, List<Command.StagedRun> runs, Command.Acked... acked) {
    return step(new Step.Prepares(xid(of), 0), runs, acked);
  }

  private FaultCode decide(int of, BranchDecision decision) {
    return step(new Step.Decides(xid(of), decision), List.of());
  }

  private List<Command.StagedRun> run(long destination, String... texts) {
    return List.of(new Command.StagedRun(destination, true, texts.length, h.bytes(true, 0, texts)));
  }

  private long send(DestinationName to, String... texts) {
    long id = h.producer(peer, to);
    assertThat(h.receipt(peer, h.publish(peer, id, ++number, texts))).isEqualTo(FaultCode.OK);
    return id;
  }

  /** What a new consumer of a queue gets. */
  private List<String> seen(DestinationName name) {
    FakePeer reader = h.attach();
    h.consumer(reader, 1, name, Subscribe.QUEUE, null);
    List<String> texts = new ArrayList<>();
    for (List<Received> got = h.pull(reader, 1, 50); !got.isEmpty(); got = h.pull(reader, 1, 50)) {
      got.forEach(each -> texts.add(each.text()));
    }
    int c = h.nextCorrelation();
    h.broker.submit(new Command.DetachConsumer(reader, c, 1));
    h.reply(reader, c);
    return texts;
  }

  private List<Peer.RecoveredBranch> recovered() {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Recover(peer, c, 100, null));
    return ((Peer.Reply.Recovered) h.reply(peer, c)).branches();
  }

  private void replays() throws IOException {
    h.loops.runUntil(h::isWritten);
    assertThat(h.replayedOtherwise()).isNull();
  }

  private void detach(int consumer) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.DetachConsumer(peer, c, consumer));
    assertThat(h.reply(peer, c)).isEqualTo(new Peer.Reply.Ok());
  }

  private void subscribe(String selector) {
    lastReply = h.tryConsumer(peer, 1, TOPIC, Subscribe.DURABLE, "s", selector, false);
  }

  private Peer.Reply lastReply;

  /** Prepares a branch that acknowledges "a" of a queue and sends "x" to another. */
  private void prepareBoth() {
    long id = send(QUEUE, "a", "b");
    long other = h.producer(peer, OTHER);
    h.consumer(peer, 7, QUEUE, Subscribe.QUEUE, null);
    Received first = h.pull(peer, 7, 1).get(0);
    assertThat(prepare(1, run(other, "x"), new Command.Acked(7, id, List.of(first.range()))))
        .isEqualTo(FaultCode.OK);
    detach(7);
  }

  @Test
  void aQueueThatAPreparedBranchTouchesIsNotDeletedBeforeItsDecision() throws IOException {
    open();
    prepareBoth();
    for (String name : List.of("q", "other")) {
      assertThat(h.admin("destination.delete", Map.of("name", name)))
          .contains("IN_USE", xid(1).toString(), "xa list", "force");
    }
    h.crash(true);
    open();
    assertThat(h.admin("destination.delete", Map.of("name", "other"))).contains("IN_USE");
    assertThat(decide(1, BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(seen(OTHER)).containsExactly("x");
    assertThat(h.admin("destination.delete", Map.of("name", "other"))).contains("deleted");
    replays();
  }

  @Test
  void forceRollsTheBranchBackAndIsToldUntilItIsForgotten() throws IOException {
    open();
    prepareBoth();
    assertThat(h.admin("destination.delete", Map.of("name", "other", "force", "true")))
        .contains("\"deleted\":\"other\"", "\"rolledBack\":1");
    assertThat(seen(QUEUE)).containsExactly("a", "b");
    assertThat(recovered())
        .containsExactly(new Peer.RecoveredBranch(xid(1), BranchState.HEURISTICALLY_ROLLED_BACK));
    h.crash(true);
    open();
    assertThat(decide(1, BranchDecision.COMMIT)).isEqualTo(FaultCode.HEURISTIC_ROLLBACK);
    assertThat(decide(1, BranchDecision.FORGET)).isEqualTo(FaultCode.OK);
    assertThat(recovered()).isEmpty();
    replays();
  }

  @Test
  void forceTakesManyBranchesInSeveralTurns() throws IOException {
    open();
    long other = h.producer(peer, OTHER);
    for (int i = 0; i < 100; i++) {
      assertThat(prepare(i, run(other, "x" + i))).isEqualTo(FaultCode.OK);
    }
    assertThat(h.admin("destination.delete", Map.of("name", "other")))
        .contains("100 prepared branches");
    assertThat(h.admin("destination.delete", Map.of("name", "other", "force", "true")))
        .contains("\"rolledBack\":100");
    assertThat(recovered())
        .hasSize(100)
        .allMatch(each -> each.state() == BranchState.HEURISTICALLY_ROLLED_BACK);
    replays();
  }

  /** Prepares a branch that acknowledges the first of two messages of the subscription. */
  private void prepareInSubscription() {
    subscribe(null);
    long topic = send(TOPIC, "a", "b");
    Received first = h.pull(peer, 1, 1).get(0);
    assertThat(prepare(2, List.of(), new Command.Acked(1, topic, List.of(first.range()))))
        .isEqualTo(FaultCode.OK);
    detach(1);
  }

  private Peer.Reply unsubscribe() {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Unsubscribe(peer, c, "s"));
    return h.reply(peer, c);
  }

  @Test
  void aSubscriptionInWhichAPreparedBranchAcknowledgesStays() throws IOException {
    open();
    prepareInSubscription();
    assertThat(unsubscribe().toString()).contains("IN_USE", xid(2).toString());
    subscribe("x = 1");
    assertThat(lastReply.toString()).contains("IN_USE", xid(2).toString());
    Map<String, String> named = Map.of("subscription", "s", "client-id", "client");
    assertThat(h.admin("subscription.delete", named)).contains("IN_USE", xid(2).toString());
    assertThat(h.admin("destination.delete", Map.of("name", "t", "kind", "topic")))
        .contains("IN_USE", xid(2).toString());
    assertThat(decide(2, BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(unsubscribe()).isEqualTo(new Peer.Reply.Ok());
    replays();
  }

  @Test
  void aSubscriptionThatIsDeletedByForceRollsItsBranchBack() throws IOException {
    open();
    prepareInSubscription();
    assertThat(
            h.admin(
                "subscription.delete",
                Map.of("subscription", "s", "client-id", "client", "force", "true")))
        .contains("\"deleted\":\"s\"", "\"rolledBack\":1");
    assertThat(decide(2, BranchDecision.COMMIT)).isEqualTo(FaultCode.HEURISTIC_ROLLBACK);
    replays();
  }

  @Test
  void whatOnlyMemoryKnewOfABranchDoesNotKeepItFromBeingCommitted() throws IOException {
    open();
    long other = h.producer(peer, OTHER);
    h.consumer(peer, 4, TOPIC, Subscribe.PLAIN, null);
    long topic = send(TOPIC, "a", "b");
    Received first = h.pull(peer, 4, 1).get(0);
    assertThat(prepare(3, run(other, "x"), new Command.Acked(4, topic, List.of(first.range()))))
        .isEqualTo(FaultCode.OK);
    detach(4); // the subscription is gone with its consumer
    assertThat(decide(3, BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(seen(OTHER)).containsExactly("x");
    replays();
  }

  @Test
  void whatEndsWithItsConsumerDoesNotKeepAnyTransactionFromBeingCommitted() throws IOException {
    open();
    long other = h.producer(peer, OTHER);
    h.consumer(peer, 4, TOPIC, Subscribe.PLAIN, null);
    long topic = send(TOPIC, "a", "b");
    Received first = h.pull(peer, 4, 1).get(0);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(peer, c, DestinationKind.TEMPORARY_QUEUE));
    DestinationName mine = ((Peer.Reply.TemporaryCreated) h.reply(peer, c)).destination();
    long temporary = send(mine, "t");
    h.consumer(peer, 6, mine, Subscribe.QUEUE, null);
    Received own = h.pull(peer, 6, 1).get(0);
    long staged =
        stage(
            run(other, "x"),
            new Command.Acked(4, topic, List.of(first.range())),
            new Command.Acked(6, temporary, List.of(own.range())));
    detach(4); // the subscription is gone with its consumer
    detach(6);
    int deleted = h.nextCorrelation();
    h.broker.submit(new Command.DeleteTemporary(peer, deleted, mine));
    assertThat(h.reply(peer, deleted)).isEqualTo(new Peer.Reply.Ok());
    Command.Staged all = new Command.Staged(new Branch.Xa(xid(5)), staged);
    assertThat(step(new Step.Commits(all), List.of())).isEqualTo(FaultCode.OK);
    assertThat(seen(OTHER)).containsExactly("x");
    replays();
  }

  /** A temporary queue of another connection, and the consumer of it. */
  private FakePeer replies(DestinationName[] name) {
    FakePeer owner = h.attach();
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(owner, c, DestinationKind.TEMPORARY_QUEUE));
    name[0] = ((Peer.Reply.TemporaryCreated) h.reply(owner, c)).destination();
    h.consumer(owner, 1, name[0], Subscribe.QUEUE, null);
    return owner;
  }

  private List<Command.StagedRun> both(long to, long other) {
    return List.of(run(to, "r1", "r2").get(0), run(other, "x").get(0));
  }

  @Test
  void messagesForTemporaryQueuesComeWithTheDecision() throws IOException {
    open();
    DestinationName[] reply = new DestinationName[1];
    FakePeer owner = replies(reply);
    long to = h.producer(peer, reply[0]);
    long other = h.producer(peer, OTHER);
    assertThat(prepare(1, both(to, other))).isEqualTo(FaultCode.OK);
    assertThat(h.pull(owner, 1, 5)).isEmpty();
    replays();
    assertThat(decide(1, BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(h.pull(owner, 1, 5)).extracting(Received::text).containsExactly("r1", "r2");
    assertThat(seen(OTHER)).containsExactly("x");

    assertThat(prepare(2, both(to, other))).isEqualTo(FaultCode.OK);
    assertThat(decide(2, BranchDecision.ROLL_BACK)).isEqualTo(FaultCode.OK);
    assertThat(prepare(3, both(to, other))).isEqualTo(FaultCode.OK);
    assertThat(h.admin("xa.commit", Map.of("branch", xid(3).toString()))).contains("branch");
    assertThat(h.pull(owner, 1, 5)).extracting(Received::text).containsExactly("r1", "r2");
    replays();
  }

  @Test
  void messagesForATemporaryQueueThatHasGoneAreDroppedAndTheRestIsCommitted() throws IOException {
    h.settings = h.settings.with(h.settings.intervals().withTemporaryGraceMillis(0));
    open();
    DestinationName[] reply = new DestinationName[1];
    FakePeer owner = replies(reply);
    long to = h.producer(peer, reply[0]);
    long other = h.producer(peer, OTHER);
    assertThat(prepare(1, both(to, other))).isEqualTo(FaultCode.OK);
    assertThat(prepare(2, both(to, other))).isEqualTo(FaultCode.OK);
    h.broker.submit(new Command.Detach(owner, false));
    assertThat(decide(1, BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(seen(OTHER)).containsExactly("x");
    h.crash(true);
    open();
    assertThat(decide(2, BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(seen(OTHER)).hasSize(2);
    replays();
  }

  @Test
  void whatBranchesKeepInMemoryIsBounded() throws IOException {
    open();
    DestinationName[] reply = new DestinationName[1];
    FakePeer owner = replies(reply);
    long to = h.producer(peer, reply[0]);
    String[] texts = new String[7];
    Arrays.fill(texts, "x".repeat(1_000));
    int prepared = 0;
    FaultCode code = FaultCode.OK;
    while (code == FaultCode.OK && prepared < 100) {
      code = prepare(prepared, run(to, texts));
      prepared += code == FaultCode.OK ? 1 : 0;
    }
    assertThat(code).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(prepared).isBetween(10, 20); // an eighth of 1 MiB is one user's
    assertThat(recovered()).hasSize(prepared);
    assertThat(decide(0, BranchDecision.ROLL_BACK)).isEqualTo(FaultCode.OK);
    assertThat(prepare(0, run(to, texts))).isEqualTo(FaultCode.OK);
    assertThat(h.pull(owner, 1, 5)).isEmpty();
  }

  @Test
  void whatItsManagerDecidesWhileAnAdministratorsCommitWaitsIsDecided() throws IOException {
    open();
    long topic = h.producer(peer, TOPIC);
    assertThat(prepare(4, run(topic, "x", "y"))).isEqualTo(FaultCode.OK);
    subscribe("a = 1"); // it is asked for what was staged before it came
    int byHand = h.nextCorrelation();
    FakePeer administrator = h.newPeer();
    h.broker.submit(
        new Command.Admin(administrator, byHand, "xa.commit", Map.of("branch", xid(4).toString())));
    assertThat(decide(4, BranchDecision.ROLL_BACK)).isEqualTo(FaultCode.OK);
    assertThat(h.reply(administrator, byHand).toString()).contains("UNKNOWN_TRANSACTION");
    assertThat(recovered()).isEmpty();
    replays();
  }

  @Test
  void whatIsNotPreparedIsRolledBackWithWhatItTouches() throws IOException {
    open();
    subscribe(null);
    long topic = send(TOPIC, "a", "b");
    Received first = h.pull(peer, 1, 1).get(0);
    long id = h.producer(peer, QUEUE);
    long staged = stage(run(id, "x"), new Command.Acked(1, topic, List.of(first.range())));
    detach(1);
    assertThat(unsubscribe()).isEqualTo(new Peer.Reply.Ok());
    assertThat(step(new Step.Prepares(xid(5), staged), List.of()))
        .isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(recovered()).isEmpty();
    assertThat(h.admin("xa.list", Map.of())).contains("\"open\":0", "\"stagedBytes\":0");

    long again = stage(run(id, "y"));
    assertThat(h.admin("destination.delete", Map.of("name", "q"))).contains("deleted");
    long made = h.producer(peer, QUEUE);
    assertThat(made).isNotEqualTo(id);
    assertThat(step(new Step.Prepares(xid(5), again), run(made, "z")))
        .isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(h.admin("xa.list", Map.of())).contains("\"open\":0", "\"stagedBytes\":0");
    assertThat(seen(QUEUE)).isEmpty();
    replays();
  }

  private long stage(List<Command.StagedRun> runs, Command.Acked... acked) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Stage(peer, c, 1, 0, runs, List.of(acked), new Branch.Xa(xid(5))));
    return ((Peer.Reply.Staged) h.reply(peer, c)).transaction();
  }
}
