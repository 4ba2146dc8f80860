package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a lost connection, and a refused commit, count of messages: what happened, no more. */
class LostLinkTest {
  private static final DestinationName QUEUE =
      new DestinationName(DestinationKind.QUEUE, "poison.a");
  private static final UUID LINK = new UUID(55, 5);

  /** What has to stay free on the disk. */
  private static final long ROOM = 1 << 20;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(5);
  private FakePeer peer;
  private long id;
  private long epoch;

  @BeforeEach
  void open() throws IOException {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, 1 << 20, 1 << 30, ROOM);
    h.open();
    FakePeer sender = h.attach();
    id = h.producer(sender, QUEUE);
    String[] texts = new String[30];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = "m" + i;
    }
    assertThat(h.receipt(sender, h.publish(sender, id, 1, texts))).isEqualTo(FaultCode.OK);
  }

  private List<Received> connectAndPull(UUID link, int messages) {
    peer = h.attach(link, ++epoch, 1, null);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    return h.pull(peer, 1, messages);
  }

  /** The session has handed a message to its application. */
  private void begin(Received message) {
    h.broker.submit(
        new Command.Begun(
            peer, 1, true, List.of(new Command.Acked(1, id, List.of(message.range())))));
    h.loops.runUntilIdle();
  }

  private void lose() {
    h.broker.submit(new Command.Detach(peer, false));
    h.loops.runUntilIdle();
  }

  private void setAttempts(int most) {
    h.admin("destination.set", Map.of("name", "poison.a", "max-attempts", "" + most));
  }

  @Test
  void whatLayBesideAMessageThatKilledItsConsumerCountsAsSeenOnceAtMost() {
    setAttempts(0);
    for (int death = 1; death <= 20; death++) {
      List<Received> got = connectAndPull(new UUID(6, death), 10);
      assertThat(got).hasSize(10);
      assertThat(got.get(0).deliveries()).isEqualTo(death - 1);
      int flag = death == 1 ? 0 : 1;
      assertThat(got.subList(1, 10)).allMatch(each -> each.deliveries() == flag);
      begin(got.get(0));
      lose();
    }
  }

  @Test
  void aShortFailureOfTheNetworkIsNoFailedAttempt() throws Exception {
    for (int blip = 0; blip < 10; blip++) {
      List<Received> got = connectAndPull(LINK, 5);
      assertThat(got.get(0).text()).as("after %d losses", blip).isEqualTo("m0");
      begin(got.get(0));
      lose();
    }
    assertThat(connectAndPull(LINK, 5).get(0).text()).isEqualTo("m0");
    assertThat(h.broker.metrics().of(Figure.DEAD_LETTERS)).isZero();
    h.crash(true);
    h.open();
    assertThat(connectAndPull(LINK, 5).get(0).text()).isEqualTo("m0");
  }

  @Test
  void aProcessThatDiesCountsAndItsLastMessageWaitsOnlyForAMinute() {
    for (int death = 1; death <= 3; death++) {
      List<Received> got = connectAndPull(new UUID(6, death), 5);
      assertThat(got.get(0).text()).isEqualTo("m0");
      begin(got.get(0));
      lose();
    }
    assertThat(connectAndPull(LINK, 5).get(0).text()).isEqualTo("m1");
    lose();
    h.loops.advance(61_000_000_000L);
    connectAndPull(LINK, 5);
    h.loops.advance(2_000_000_000L);
    assertThat(h.admin("destination.show", Map.of("name", "DLQ"))).contains("\"backlog\":1,");
  }

  @Test
  void aLastMessageIsADeadLetterWhenItsWaitIsOverThoughNobodyPulls() {
    setAttempts(1);
    begin(connectAndPull(LINK, 1).get(0));
    lose();
    h.loops.advance(55_000_000_000L);
    assertThat(h.broker.metrics().of(Figure.DEAD_LETTERS)).isZero();
    h.loops.advance(10_000_000_000L);
    assertThat(h.admin("destination.show", Map.of("name", "DLQ"))).contains("\"backlog\":1,");
  }

  @Test
  void aMessageWithOneAttemptWaitsForTheLinkThatHadIt() {
    setAttempts(1);
    List<Received> got = connectAndPull(LINK, 1);
    begin(got.get(0));
    lose();
    assertThat(connectAndPull(new UUID(6, 6), 1).get(0).text()).isEqualTo("m1");
    assertThat(connectAndPull(LINK, 1).get(0).text()).isEqualTo("m0");
    assertThat(h.broker.metrics().of(Figure.DEAD_LETTERS)).isZero();
  }

  @Test
  void whatAnotherHasFailedWithMeanwhileStaysCounted() {
    setAttempts(2);
    List<Received> got = connectAndPull(LINK, 1);
    begin(got.get(0));
    lose();
    FakePeer other = peer;
    got = connectAndPull(new UUID(6, 6), 1);
    assertThat(got.get(0).text()).isEqualTo("m0");
    fail(got.get(0));
    h.loops.advance(2_000_000_000L);
    assertThat(other.disconnects).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "DLQ"))).contains("\"backlog\":1,");
    assertThat(connectAndPull(LINK, 1).get(0).text()).isEqualTo("m1");
  }

  private void fail(Received message) {
    h.broker.submit(
        new Command.Return(
            peer, 0, List.of(new Command.Acked(1, id, List.of(message.range()))), true));
    h.loops.runUntilIdle();
  }

  @Test
  void whatTheApplicationWasHandedIsFlaggedAlsoIfItComesBackUncounted() {
    List<Received> got = connectAndPull(LINK, 3);
    begin(got.get(0));
    h.broker.submit(
        new Command.Return(
            peer,
            0,
            List.of(new Command.Acked(1, id, got.stream().map(Received::range).toList())),
            false));
    h.loops.runUntilIdle();
    assertThat(h.pull(peer, 1, 3)).extracting(Received::deliveries).containsExactly(1, 0, 0);
    h.loops.runUntilIdle();
  }

  @Test
  void aCommitThatFindsNoRoomIsNoFailedAttempt() throws Exception {
    long full = h.producer(h.attach(), new DestinationName(DestinationKind.QUEUE, "out"));
    peer = h.attach(LINK, ++epoch, 1, null);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    long number = 0;
    for (int refusal = 1; refusal <= 12; refusal++) {
      Received got = h.pull(peer, 1, 1).get(0);
      assertThat(got.text()).as("after %d refusals", refusal - 1).isEqualTo("m0");
      assertThat(got.deliveries()).isEqualTo(refusal - 1);
      assertThat(commit(++number, full, got.range(), true)).isEqualTo(FaultCode.DISK_FULL);
    }
    Received got = h.pull(peer, 1, 1).get(0);
    assertThat(commit(++number, full, got.range(), false)).isEqualTo(FaultCode.OK);
    assertThat(h.pull(peer, 1, 1).get(0).text()).isEqualTo("m1");
  }

  private long used() {
    h.disk.capacity(1L << 40);
    return (1L << 40) - h.disk.usableBytes();
  }

  private FaultCode commit(long number, long to, SequenceRange range, boolean diskFull) {
    h.disk.capacity(used() + (diskFull ? ROOM / 2 : 8 * ROOM));
    h.loops.advance(1_100_000_000L);
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            number,
            List.of(new Command.StagedRun(to, true, 1, h.bytes(true, 0, "copy"))),
            List.of(new Command.Acked(1, id, List.of(range)))));
    return h.receipt(peer, c);
  }
}
