package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Local transactions that are staged because they outgrow one commit. */
class StagedTransactionTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName OTHER = new DestinationName(DestinationKind.QUEUE, "other");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final UUID LINK = new UUID(7, 7);
  private static final String PAD = "x".repeat(400) + ".";

  @RegisterExtension final BrokerHarness h = new BrokerHarness(31);

  private FakePeer peer;
  private long epoch;
  private long number;
  private long id;
  private long transaction;

  private void open() throws IOException {
    h.open();
    peer = h.attach(LINK, ++epoch, 1, null);
    id = h.producer(peer, QUEUE);
  }

  private static String[] texts(int from, int count) {
    return IntStream.range(from, from + count).mapToObj(i -> PAD + i).toArray(String[]::new);
  }

  private Command.StagedRun run(long destination, boolean persistent, String... texts) {
    return new Command.StagedRun(
        destination, persistent, texts.length, h.bytes(persistent, 0, texts));
  }

  private Peer.Reply tryStage(long local, List<Command.StagedRun> runs, Command.Acked... acked) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Stage(peer, c, 1, transaction, runs, List.of(acked), new Branch.Local(local)));
    return h.reply(peer, c);
  }

  private void stage(long local, List<Command.StagedRun> runs, Command.Acked... acked) {
    Peer.Reply reply = tryStage(local, runs, acked);
    assertThat(reply).isInstanceOf(Peer.Reply.Staged.class);
    transaction = ((Peer.Reply.Staged) reply).transaction();
  }

  private FakePeer.Receipt commit(
      long local, List<Command.StagedRun> runs, Command.Acked... acked) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            ++number,
            runs,
            List.of(acked),
            new Command.Step.Commits(new Command.Staged(new Branch.Local(local), transaction))));
    h.receipt(peer, c);
    transaction = 0;
    return BrokerHarness.find(peer, c);
  }

  private void rollBack(long local) {
    rollBack(local, true);
  }

  private void rollBack(long local, boolean attempted) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Abandon(peer, c, new Branch.Local(local), attempted));
    assertThat(h.reply(peer, c)).isEqualTo(new Peer.Reply.Ok());
    transaction = 0;
  }

  private void plain(String... texts) {
    assertThat(h.receipt(peer, h.publish(peer, id, ++number, texts))).isEqualTo(FaultCode.OK);
  }

  private void checkpoint() {
    h.loops.advance(1_100_000_000L);
    long done = h.broker.metrics().checkpoints().done();
    h.broker.wantCheckpoint();
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().checkpoints().done()).isGreaterThan(done);
  }

  /** All that a new consumer of a destination gets, without acknowledging it. */
  private List<String> seen(DestinationName name) {
    FakePeer reader = h.attach();
    h.consumer(reader, 1, name, Subscribe.QUEUE, null);
    List<String> texts = new ArrayList<>();
    List<Received> got = h.pull(reader, 1, 50);
    while (!got.isEmpty()) {
      got.forEach(each -> texts.add(each.text().substring(each.text().indexOf('.') + 1)));
      got = h.pull(reader, 1, 50);
    }
    int c = h.nextCorrelation();
    h.broker.submit(new Command.DetachConsumer(reader, c, 1));
    h.reply(reader, c);
    return texts;
  }

  private List<String> drain(FakePeer reader, int consumer) {
    List<String> texts = new ArrayList<>();
    List<Received> got = h.pull(reader, consumer, 9);
    while (!got.isEmpty()) {
      got.forEach(each -> texts.add(each.text()));
      got = h.pull(reader, consumer, 9);
    }
    return texts;
  }

  private static List<String> numbers(int from, int count) {
    return IntStream.range(from, from + count).mapToObj(String::valueOf).toList();
  }

  private void replays() throws IOException {
    h.loops.runUntil(h::isWritten);
    assertThat(h.replayedOtherwise()).isNull();
  }

  @Test
  void nothingIsSeenBeforeTheCommitAndAllOfItBehind() throws IOException {
    open();
    plain(PAD + "before");
    stage(1, List.of(run(id, true, texts(0, 10))));
    stage(1, List.of(run(id, true, texts(10, 10))));
    plain(PAD + "between");

    assertThat(seen(QUEUE)).containsExactly("before", "between");
    assertThat(commit(1, List.of(run(id, true, texts(20, 5)))).code()).isEqualTo(FaultCode.OK);
    plain(PAD + "behind");

    List<String> expected = new ArrayList<>(List.of("before", "between"));
    expected.addAll(numbers(0, 25));
    expected.add("behind");
    assertThat(seen(QUEUE)).isEqualTo(expected);
    replays();
  }

  @Test
  void whatIsCommittedIsThereAfterAKillAndAfterCheckpoints() throws IOException {
    open();
    plain(PAD + "before");
    stage(1, List.of(run(id, true, texts(0, 10))));
    checkpoint();
    stage(1, List.of(run(id, true, texts(10, 10))));
    assertThat(commit(1, List.of()).code()).isEqualTo(FaultCode.OK);
    plain(PAD + "behind");
    List<String> expected = new ArrayList<>(List.of("before"));
    expected.addAll(numbers(0, 20));
    expected.add("behind");
    assertThat(seen(QUEUE)).isEqualTo(expected);
    replays();
    for (int round = 0; round < 3; round++) {
      h.crash(true);
      open();
      assertThat(seen(QUEUE)).as("round %d", round).isEqualTo(expected);
      replays();
      checkpoint();
      assertThat(seen(QUEUE)).as("behind the checkpoint of round %d", round).isEqualTo(expected);
      replays();
    }
  }

  @Test
  void aKillBeforeTheCommitLeavesNothing() throws IOException {
    open();
    plain(PAD + "before");
    stage(1, List.of(run(id, true, texts(0, 10))));
    checkpoint();
    stage(1, List.of(run(id, true, texts(10, 10))));
    h.crash(false);
    open();
    assertThat(seen(QUEUE)).containsExactly("before");
    assertThat(h.broker.state().transactions().all()).isEmpty();
    assertThat(h.broker.state().destinations().all())
        .extracting(each -> each.name().name())
        .containsExactly("q");
    replays();
  }

  @Test
  void aRollbackLeavesNothingAndGivesBackWhatItHad() throws IOException {
    open();
    plain(PAD + "a", PAD + "b");
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> got = h.pull(peer, 1, 2);
    stage(
        1,
        List.of(run(h.producer(peer, OTHER), true, texts(0, 10))),
        new Command.Acked(1, id, got.stream().map(Received::range).toList()));
    assertThat(h.pull(peer, 1, 2)).isEmpty();
    rollBack(1);
    assertThat(seen(OTHER)).isEmpty();
    List<Received> again = h.pull(peer, 1, 2);
    assertThat(again).extracting(Received::text).containsExactly(PAD + "a", PAD + "b");
    assertThat(again).extracting(Received::deliveries).containsOnly(1);
    replays();
  }

  @Test
  void whatATransactionAcknowledgesIsGoneWithItsCommitAndStaysUntilThen() throws IOException {
    open();
    plain(PAD + "a", PAD + "b", PAD + "c");
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> got = h.pull(peer, 1, 2);
    stage(1, List.of(), new Command.Acked(1, id, List.of(got.get(0).range())));
    checkpoint();
    assertThat(seen(QUEUE)).containsExactly("c");
    assertThat(
            commit(
                    1,
                    List.of(run(h.producer(peer, OTHER), true, texts(0, 3))),
                    new Command.Acked(1, id, List.of(got.get(1).range())))
                .code())
        .isEqualTo(FaultCode.OK);
    h.crash(true);
    open();
    assertThat(seen(QUEUE)).containsExactly("c");
    assertThat(seen(OTHER)).isEqualTo(numbers(0, 3));
    replays();
  }

  @Test
  void whatATransactionHadComesBackWhenItsConnectionIsLost() throws IOException {
    open();
    plain(PAD + "a", PAD + "b");
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> got = h.pull(peer, 1, 2);
    stage(
        1,
        List.of(run(id, true, texts(0, 3))),
        new Command.Acked(1, id, got.stream().map(Received::range).toList()));
    h.broker.submit(new Command.Detach(peer, false));
    assertThat(seen(QUEUE)).containsExactly("a", "b");
    peer = h.attach(LINK, ++epoch, 1, null);
    assertThat(tryStage(1, List.of(run(id, true, texts(3, 3)))))
        .isInstanceOf(Peer.Reply.Failed.class)
        .extracting(reply -> ((Peer.Reply.Failed) reply).code())
        .isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(commit(1, List.of()).code()).isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    replays();
  }

  @Test
  void ofADeletedQueueTheTransactionIsRolledBack() throws IOException {
    open();
    long other = h.producer(peer, OTHER);
    stage(1, List.of(run(id, true, texts(0, 3)), run(other, true, texts(0, 3))));
    h.admin("destination.delete", java.util.Map.of("kind", "queue", "name", "other"));
    FakePeer.Receipt receipt = commit(1, List.of());
    assertThat(receipt.code()).isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(receipt.text()).contains("was deleted");
    assertThat(seen(QUEUE)).isEmpty();
    assertThat(h.broker.state().transactions().all()).isEmpty();
    replays();
  }

  @Test
  void aRollbackOfWhatNobodyTriedCountsNoAttempt() throws IOException {
    open();
    DestinationName poison = new DestinationName(DestinationKind.QUEUE, "poison.q");
    id = h.producer(peer, poison);
    plain("a");
    h.consumer(peer, 1, poison, Subscribe.QUEUE, null);
    for (int i = 1; i <= 8; i++) {
      Received got = h.pull(peer, 1, 1).get(0);
      stage(i, List.of(), new Command.Acked(1, id, List.of(got.range())));
      rollBack(i, i > 5);
    }
    assertThat(h.pull(peer, 1, 1)).as("after the third attempt").isEmpty();
    replays();
  }

  @Test
  void nonPersistentAndDelayedMessagesAndThoseOfAllPrioritiesComeToo() throws IOException {
    open();
    h.keepTime = true;
    List<BrokerHarness.Sample> samples =
        IntStream.range(0, 10).mapToObj(i -> new BrokerHarness.Sample(i, PAD + i)).toList();
    stage(
        1,
        List.of(
            new Command.StagedRun(id, true, 10, h.bytes(true, 0, samples)),
            run(id, false, PAD + "swift"),
            new Command.StagedRun(id, true, 1, h.bytes(true, 0, 60_000, PAD + "late"))));
    assertThat(commit(1, List.of()).code()).isEqualTo(FaultCode.OK);
    assertThat(seen(QUEUE))
        .containsExactly("9", "8", "7", "6", "5", "4", "swift", "3", "2", "1", "0");
    h.loops.advance(61_000_000_000L);
    assertThat(seen(QUEUE)).contains("late");
    replays();
  }

  @Test
  void aTopicsSubscriptionsGetWhatTheyWantOfIt() throws IOException {
    open();
    long topic = h.producer(peer, TOPIC);
    FakePeer reader = h.attach(new UUID(3, 3), 1, 1, "reader");
    h.consumer(reader, 1, TOPIC, Subscribe.DURABLE, "all");
    assertThat(h.tryConsumer(reader, 2, TOPIC, Subscribe.DURABLE, "some", "n = 0", false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
    h.consumer(reader, 3, TOPIC, Subscribe.PLAIN, null);
    assertThat(h.tryConsumer(reader, 4, TOPIC, Subscribe.PLAIN, null, "n = 1", false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
    String zero = "x".repeat(7);
    String one = "x".repeat(8);
    stage(1, List.of(run(topic, true, zero, one)));
    checkpoint();
    stage(1, List.of(run(topic, false, one, zero)));
    h.consumer(reader, 5, TOPIC, Subscribe.DURABLE, "later");
    assertThat(commit(1, List.of()).code()).isEqualTo(FaultCode.OK);
    assertThat(drain(reader, 1)).containsExactly(zero, one, one, zero);
    assertThat(drain(reader, 2)).containsExactly(zero, zero);
    assertThat(drain(reader, 3)).containsExactly(zero, one, one, zero);
    assertThat(drain(reader, 4)).containsExactly(one, one);
    assertThat(drain(reader, 5)).containsExactly(zero, one, one, zero);
    replays();
  }
}
