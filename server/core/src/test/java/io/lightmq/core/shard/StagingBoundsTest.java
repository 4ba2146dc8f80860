package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Step;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.StagingBounds;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Each bound of what is kept of transactions is there, says its figures, and leaves others room.
 */
class StagingBoundsTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final String TEXT = "x".repeat(1_000);

  @RegisterExtension final BrokerHarness h = new BrokerHarness(61);

  private final Map<FakePeer, Long> numbers = new HashMap<>();
  private int links;

  private FakePeer attach(String user) {
    FakePeer peer = h.newPeer();
    peer.user = user;
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, new UUID(1, ++links), 1, 1, null));
    assertThat(h.reply(peer, c)).isInstanceOf(Peer.Reply.Attached.class);
    return peer;
  }

  private List<Command.StagedRun> run(long destination, int count) {
    String[] texts = new String[count];
    Arrays.fill(texts, TEXT);
    return List.of(new Command.StagedRun(destination, true, count, h.bytes(true, 0, texts)));
  }

  private Command.StagedRun alone(long destination, String text) {
    return new Command.StagedRun(destination, true, 1, h.bytes(true, 0, text));
  }

  private Peer.Reply stage(FakePeer peer, Branch branch, List<Command.StagedRun> runs) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Stage(peer, c, 1, 0, runs, List.of(), branch));
    return h.reply(peer, c);
  }

  private static Branch local(long number) {
    return new Branch.Local(number);
  }

  private static Xid xid(int of) {
    return new Xid(1, new byte[] {(byte) of, (byte) (of >> 8)}, new byte[] {7});
  }

  private FakePeer.Receipt step(FakePeer peer, Step step) {
    int c = h.nextCorrelation();
    long number = numbers.merge(peer, 1L, Long::sum);
    h.broker.submit(new Command.Commit(peer, c, 1, number, List.of(), List.of(), step));
    h.receipt(peer, c);
    return BrokerHarness.find(peer, c);
  }

  private static void assertStaged(Peer.Reply reply) {
    assertThat(reply).isInstanceOf(Peer.Reply.Staged.class);
  }

  private static void assertRefused(Peer.Reply reply, FaultCode code, String... figures) {
    assertThat(reply).isInstanceOf(Peer.Reply.Failed.class);
    assertThat(((Peer.Reply.Failed) reply).code()).isEqualTo(code);
    assertThat(((Peer.Reply.Failed) reply).text()).contains(figures);
  }

  private void open() throws IOException {
    h.open();
  }

  @Test
  void bytesOfOneTransaction() throws IOException {
    h.settings = h.settings.with(h.settings.limits().withMaxStagedBytes(10_000));
    open();
    FakePeer peer = attach("ada");
    long id = h.producer(peer, QUEUE);
    assertStaged(stage(peer, local(1), run(id, 5)));
    assertRefused(
        stage(peer, local(1), run(id, 5)),
        FaultCode.TRANSACTION_TOO_LARGE,
        "10000",
        "limits.staged-transaction");
    assertStaged(stage(peer, local(2), run(id, 5))); // another one has its own
    // What was staged is still there, to be committed or rolled back.
    assertThat(step(peer, new Step.Commits(new Command.Staged(local(1), 1))).code())
        .isEqualTo(FaultCode.OK);
    assertThat(h.admin("destination.show", Map.of("name", "q")))
        .contains("\"backlog\":5", "\"staged\":5");
  }

  @Test
  void bytesOfOnePart() throws IOException {
    h.settings = h.settings.with(h.settings.limits().withMaxTransactionBytes(4 << 10));
    open();
    FakePeer peer = attach("ada");
    long id = h.producer(peer, QUEUE);
    assertRefused(stage(peer, local(1), run(id, 9)), FaultCode.TRANSACTION_TOO_LARGE, "4096");
    assertThat(h.admin("xa.list", Map.of())).contains("\"open\":0");
    // One message alone may be as long as any.
    String longest = "x".repeat(h.settings.limits().maxMessageBytes() - 100);
    assertThat(longest.length()).isGreaterThan(h.settings.limits().maxTransactionBytes());
    assertStaged(stage(peer, local(1), List.of(alone(id, longest))));
    assertRefused(
        stage(peer, local(1), List.of(alone(id, longest), alone(id, TEXT))),
        FaultCode.TRANSACTION_TOO_LARGE,
        "4096");
    assertThat(step(peer, new Step.Commits(new Command.Staged(local(1), 1))).code())
        .isEqualTo(FaultCode.OK);
    FakePeer reader = attach("bob");
    h.consumer(reader, 1, QUEUE, Command.Subscribe.QUEUE, null);
    assertThat(h.pull(reader, 1, 9)).extracting(FakePeer.Received::text).containsExactly(longest);
  }

  @Test
  void openOnesOfAConnectionAndOfAll() throws IOException {
    open();
    FakePeer peer = null;
    for (int i = 0; i < StagingBounds.MAX_OPEN; i++) {
      if (i % StagingBounds.MAX_OF_CONNECTION == 0) {
        peer = attach("user" + i);
      }
      assertStaged(stage(peer, local(i + 1), List.of()));
      if (i == StagingBounds.MAX_OF_CONNECTION - 1) {
        assertRefused(stage(peer, local(1 << 20), List.of()), FaultCode.LIMIT_REACHED, "1000");
        assertStaged(stage(peer, local(1), List.of())); // who has begun goes on
      }
    }
    FakePeer another = attach("another");
    assertRefused(stage(another, local(1), List.of()), FaultCode.LIMIT_REACHED, "10000");
    h.broker.submit(new Command.Detach(peer, false));
    assertStaged(stage(another, local(1), List.of()));
  }

  @Test
  void openOnesOfAUser() throws IOException {
    open();
    FakePeer peer = attach("ada");
    for (int i = 0; i < StagingBounds.MAX_OPEN_OF_USER; i++) {
      if (i > 0 && i % StagingBounds.MAX_OF_CONNECTION == 0) {
        peer = attach("ada");
      }
      assertStaged(stage(peer, local(i + 1), List.of()));
    }
    FakePeer again = attach("ada");
    assertRefused(
        stage(again, local(1), List.of()), FaultCode.LIMIT_REACHED, "its user has 5000", "10000");
    assertStaged(stage(attach("bob"), local(1), List.of()));
    // Whatever ends one makes room: a rollback, a commit, a preparation, a lost connection.
    long last = StagingBounds.MAX_OPEN_OF_USER;
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Abandon(peer, c, local(last), false));
    assertThat(h.reply(peer, c)).isEqualTo(new Peer.Reply.Ok());
    assertStaged(stage(again, local(1), List.of()));
    assertThat(step(again, new Step.Commits(new Command.Staged(local(1), last + 2))).code())
        .isEqualTo(FaultCode.OK);
    assertStaged(stage(again, new Branch.Xa(xid(1)), List.of()));
    assertThat(step(again, new Step.Prepares(xid(1), 0)).code()).isEqualTo(FaultCode.OK);
    assertStaged(stage(again, local(2), List.of()));
    assertRefused(stage(again, local(3), List.of()), FaultCode.LIMIT_REACHED, "5000");
    h.broker.submit(new Command.Detach(peer, false));
    assertStaged(stage(again, local(3), List.of()));
  }

  @Test
  void preparedOnesOfAUserAndOfAll() throws IOException {
    open();
    for (String user : List.of("ada", "bob")) {
      FakePeer peer = attach(user);
      for (int i = 0; i < StagingBounds.MAX_PREPARED_OF_USER; i++) {
        assertThat(step(peer, new Step.Prepares(xid(i), 0)).code()).isEqualTo(FaultCode.OK);
      }
      FakePeer.Receipt refused = step(peer, new Step.Prepares(xid(60_000), 0));
      assertThat(refused.code()).isEqualTo(FaultCode.LIMIT_REACHED);
      assertThat(refused.text()).contains("5000", "10000", "xa");
    }
    FakePeer third = attach("cay");
    assertThat(step(third, new Step.Prepares(xid(1), 0)).code()).isEqualTo(FaultCode.LIMIT_REACHED);
    FakePeer ada = attach("ada");
    assertThat(h.admin("xa.rollback", Map.of("branch", xid(7).toString(), "owner", "ada")))
        .contains("branch");
    // Its name counts until it is forgotten.
    assertThat(step(third, new Step.Prepares(xid(1), 0)).code()).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(step(ada, new Step.Decides(xid(7), BranchDecision.FORGET)).code())
        .isEqualTo(FaultCode.OK);
    assertThat(step(third, new Step.Prepares(xid(1), 0)).code()).isEqualTo(FaultCode.OK);
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().of(Figure.PREPARED_BRANCHES))
        .isEqualTo(StagingBounds.MAX_PREPARED);
  }

  @Test
  void bytesOfAllAreHalfOfTheDisksRoomAndThoseOfAUserHalfOfThat() throws IOException {
    open();
    FakePeer ada = attach("ada");
    FakePeer second = attach("ada");
    FakePeer bob = attach("bob");
    long id = h.producer(ada, QUEUE);
    long ids = h.producer(second, QUEUE);
    long own = h.producer(bob, QUEUE);
    h.disk.capacity(h.disk.totalBytes() - h.disk.usableBytes() + (200 << 10));
    h.loops.advance(15_000_000_000L);
    Peer.Reply reply = stage(ada, local(1), run(id, 7));
    int parts = 0;
    while (reply instanceof Peer.Reply.Staged && parts < 100) {
      parts++;
      FakePeer by = parts % 2 == 0 ? ada : second;
      reply = stage(by, local(1 + parts), run(by == ada ? id : ids, 7));
    }
    assertRefused(reply, FaultCode.LIMIT_REACHED, "this user", "half");
    assertThat(parts).isBetween(5, 8);
    assertStaged(stage(bob, local(1), run(own, 7)));
    assertThat(h.receipt(bob, h.publish(bob, own, numbers.merge(bob, 1L, Long::sum), TEXT)))
        .isEqualTo(FaultCode.OK);
    h.broker.submit(new Command.Detach(second, false));
    assertStaged(stage(ada, local(1), run(id, 7)));
  }

  @Test
  void hiddenQueuesAreHalfOfWhatNamesMayTake() throws IOException {
    h.settings = h.settings.with(h.settings.memory().withNamedBytes(1 << 20));
    open();
    FakePeer peer = attach("ada");
    long id = h.producer(peer, QUEUE);
    Peer.Reply reply = stage(peer, local(1), run(id, 1));
    for (int i = 2; i < 500 && reply instanceof Peer.Reply.Staged; i++) {
      reply = stage(peer, local(i), run(id, 1));
    }
    assertRefused(reply, FaultCode.LIMIT_REACHED, "bytes");
    assertThat(h.admin("destination.create", Map.of("name", "another"))).contains("another");
  }

  @Test
  void partsThatWait() throws IOException {
    AtomicBoolean cancelled = new AtomicBoolean(true);
    h.destaging(
        (segments, state) -> (plan, bytes) -> segments.destage(plan, bytes, cancelled::get));
    open();
    FakePeer peer = attach("ada");
    FakePeer other = attach("bob");
    long id = h.producer(peer, QUEUE);
    long own = h.producer(other, QUEUE);
    long number = 0;
    int last;
    do { // until the journal is full
      last = h.publish(other, own, ++number, TEXT.repeat(4));
      h.loops.runUntilIdle();
    } while (BrokerHarness.find(other, last) != null);
    for (int i = 0; i <= StagingBounds.MAX_WAITING; i++) {
      assertThat(peer.disconnects).isEmpty();
      h.broker.submit(
          new Command.Stage(peer, h.nextCorrelation(), 1, 0, run(id, 1), List.of(), local(1)));
      h.loops.runUntilIdle();
    }
    assertThat(peer.disconnects.toString()).contains("LIMIT_REACHED", "1000");
    cancelled.set(false);
    h.loops.advance(10_000_000_000L);
    assertThat(BrokerHarness.find(other, last)).isNotNull();
    assertThat(h.admin("xa.list", Map.of())).contains("\"open\":0", "\"stagedBytes\":0");
    assertStaged(stage(other, local(1), run(own, 1)));
  }
}
