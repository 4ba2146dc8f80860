package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commits whose messages are in memory only. A client sends a commit again for which it has no
 * answer, also to the process that comes after a crash, and nobody may see its messages twice.
 */
class UnloggedCommitTest {
  private static final long FORCE = 300_000_000;
  private static final UUID LINK = new UUID(5, 6);
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName FAST =
      new DestinationName(DestinationKind.QUEUE, "fast.orders");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(71);

  private FakePeer sender;
  private int linkEpoch;

  /** Attaches a client that has no answer to anything yet. */
  private FakePeer attachSender() {
    sender = h.attach(LINK, ++linkEpoch, 1, null);
    return sender;
  }

  private int commit(long number, List<Command.StagedRun> runs, List<Command.Acked> acked) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Commit(sender, c, 1, number, runs, acked));
    return c;
  }

  private Command.StagedRun run(long destination, boolean persistent, String text) {
    return new Command.StagedRun(destination, persistent, 1, h.bytes(persistent, 0, text));
  }

  private FakePeer reader(DestinationName of) {
    FakePeer reader = h.attach();
    h.consumer(reader, 1, of, of.kind().isQueue() ? Subscribe.QUEUE : Subscribe.PLAIN, null);
    return reader;
  }

  private static List<String> texts(List<Received> received) {
    return received.stream().map(Received::text).toList();
  }

  /** What comes to a consumer that asks for it once. */
  private List<String> pulled(FakePeer reader) {
    int before = reader.received.size();
    h.broker.submit(new Command.Pull(reader, 1, h.nextCorrelation(), 10, 1 << 20, 0));
    h.loops.runUntilIdle();
    return texts(reader.received.subList(before, reader.received.size()));
  }

  @ParameterizedTest
  @CsvSource({"QUEUE, q, false", "QUEUE, q, true", "QUEUE, fast.orders, false", "TOPIC, t, false"})
  void whatWasSeenBeforeACrashDoesNotComeAgainWithItsCommit(
      DestinationKind kind, String name, boolean power) throws IOException {
    h.open();
    attachSender();
    DestinationName to = new DestinationName(kind, name);
    long id = h.producer(sender, to);
    FakePeer reader = reader(to);
    int c = commit(1, List.of(run(id, false, "once")), List.of());
    // Its answer comes, and does not reach the client.
    assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("once");

    h.crash(power);
    h.open();
    attachSender();
    FakePeer again = reader(to);
    int repeated = commit(1, List.of(run(h.producer(sender, to), false, "once")), List.of());
    assertThat(h.receipt(sender, repeated)).isEqualTo(FaultCode.OK);

    assertThat(pulled(again)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"q", "fast.orders"})
  void nobodySeesItBeforeItsRecordIsAsSafeAsItsQueueAsks(String name) throws IOException {
    h.open();
    attachSender();
    DestinationName to = new DestinationName(DestinationKind.QUEUE, name);
    long id = h.producer(sender, to);
    FakePeer reader = reader(to);
    h.disk.beforeForce(file -> h.loops.block(file.startsWith("journal/") ? FORCE : 0));
    long begin = h.loops.clock().nanos();

    h.broker.submit(new Command.Pull(reader, 1, h.nextCorrelation(), 1, 1 << 20, 10_000));
    int c = commit(1, List.of(run(id, false, "once")), List.of());

    h.loops.runUntil(() -> !reader.received.isEmpty());
    assertThat(texts(reader.received)).containsExactly("once");
    boolean forced = to.equals(QUEUE);
    assertThat(h.loops.clock().nanos() - begin >= FORCE).as("waited for a force").isEqualTo(forced);
    assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    h.disk.beforeForce(file -> {});
  }

  @Test
  void theStrongestOfItsDestinationsCounts() throws IOException {
    h.open();
    attachSender();
    long fast = h.producer(sender, FAST);
    long queue = h.producer(sender, QUEUE);
    FakePeer reader = reader(FAST);
    reader(QUEUE);
    int c =
        commit(1, List.of(run(fast, true, "recorded"), run(queue, false, "unlogged")), List.of());
    assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("recorded");

    h.crash(true);
    h.open();

    assertThat(attachedWith(1)).isEqualTo(1);
  }

  /** Attaches the client again; what the broker says is the last number that it has. */
  private long attachedWith(long answersFrom) {
    FakePeer peer = h.newPeer();
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, LINK, ++linkEpoch, answersFrom, null));
    sender = peer;
    return ((Peer.Reply.Attached) h.reply(peer, c)).last();
  }

  /** What it has acknowledged is in flight to nobody any more. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCommitThatIsRepeatedIsNotToldToBeRolledBack(boolean persistent) throws IOException {
    h.open();
    attachSender();
    long queue = h.producer(sender, QUEUE);
    long replies = h.producer(sender, TOPIC);
    FakePeer reader = reader(TOPIC);
    h.publish(sender, queue, 0, "request");
    h.consumer(sender, 1, QUEUE, Subscribe.QUEUE, null);
    Received request = h.pull(sender, 1, 1).get(0);
    List<Command.Acked> acked = List.of(new Command.Acked(1, queue, List.of(request.range())));
    int c = commit(1, List.of(run(replies, persistent, "reply")), acked);
    assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(texts(h.pull(reader, 1, 1))).containsExactly("reply");

    h.crash(false);
    h.open();
    attachSender();
    reader(TOPIC);

    int repeated = commit(1, List.of(run(replies, persistent, "reply")), acked);
    assertThat(h.receipt(sender, repeated)).isEqualTo(FaultCode.OK);
  }

  @Test
  void whatComesBehindItInItsLaneKeepsItsOrder() throws IOException {
    h.open();
    attachSender();
    long queue = h.producer(sender, QUEUE);
    FakePeer reader = reader(QUEUE);
    h.disk.beforeForce(file -> h.loops.block(file.startsWith("journal/") ? FORCE : 0));
    commit(1, List.of(run(queue, false, "first")), List.of());
    int behind = h.publish(sender, queue, 0, "second");
    assertThat(h.receipt(sender, behind)).isEqualTo(FaultCode.OK);
    assertThat(pulled(reader)).containsExactly("first", "second");
    h.disk.beforeForce(file -> {});
  }

  private long journalBytes() {
    h.loops.advance(2_000_000_000L); // the figures are taken once a second
    return h.broker.metrics().journal().usedBytes();
  }

  @Test
  void aCommitOfWhichNobodyWantsAnythingIsInNoRecord() throws IOException {
    h.open();
    attachSender();
    long topic = h.producer(sender, TOPIC);
    long before = journalBytes();
    int c =
        commit(1, List.of(run(topic, false, "nobody's"), run(topic, true, "nor that")), List.of());
    assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(journalBytes()).isEqualTo(before);
  }

  @Test
  void aCommitOfPersistentMessagesForPlainSubscribersAloneIsInNoRecord() throws IOException {
    h.open();
    attachSender();
    long topic = h.producer(sender, TOPIC);
    FakePeer reader = reader(TOPIC);
    long before = journalBytes();
    int c = commit(1, List.of(run(topic, true, "from memory")), List.of());
    assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(journalBytes()).isEqualTo(before);
    assertThat(pulled(reader)).containsExactly("from memory");
  }

  @Test
  void aRunAloneThatIsInMemoryOnlyIsInNoRecord() throws IOException {
    h.open();
    attachSender();
    long topic = h.producer(sender, TOPIC);
    FakePeer reader = reader(TOPIC);
    long before = journalBytes();
    assertThat(h.receipt(sender, h.publish(sender, topic, 0, "a"))).isEqualTo(FaultCode.OK);
    assertThat(h.receipt(sender, h.publish(sender, topic, 1, "b"))).isEqualTo(FaultCode.OK);
    assertThat(journalBytes()).isEqualTo(before);
    assertThat(pulled(reader)).containsExactly("a", "b");
  }
}
