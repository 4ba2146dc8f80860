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
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Branches of distributed transactions: prepared, recovered, decided, by hand too. */
class PreparedBranchTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName OTHER = new DestinationName(DestinationKind.QUEUE, "other");
  private static final Xid XID = new Xid(7, new byte[] {1, 2}, new byte[] {3});

  @RegisterExtension final BrokerHarness h = new BrokerHarness(37);

  private FakePeer peer;
  private long id;
  private long number;

  private void open() throws IOException {
    h.open();
    peer = h.attach();
    number = 0;
    id = h.producer(peer, QUEUE);
  }

  private FaultCode step(Step step, List<Command.StagedRun> runs, Command.Acked... acked) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Commit(peer, c, 1, ++number, runs, List.of(acked), step));
    return h.receipt(peer, c);
  }

  private FaultCode decide(BranchDecision decision) {
    return step(new Step.Decides(XID, decision), List.of());
  }

  private List<Command.StagedRun> run(long destination, String... texts) {
    return List.of(new Command.StagedRun(destination, true, texts.length, h.bytes(true, 0, texts)));
  }

  private List<Peer.RecoveredBranch> recovered() {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Recover(peer, c, 10, null));
    return ((Peer.Reply.Recovered) h.reply(peer, c)).branches();
  }

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

  private void replays() throws IOException {
    h.loops.runUntil(h::isWritten);
    assertThat(h.replayedOtherwise()).isNull();
  }

  /** Prepares the branch: it acknowledges "a" of two messages and sends "x" to another queue. */
  private void prepare() {
    assertThat(h.receipt(peer, h.publish(peer, id, ++number, "a", "b"))).isEqualTo(FaultCode.OK);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    Received first = h.pull(peer, 1, 1).get(0);
    long other = h.producer(peer, OTHER);
    assertThat(
            step(
                new Step.Prepares(XID, 0),
                run(other, "x"),
                new Command.Acked(1, id, List.of(first.range()))))
        .isEqualTo(FaultCode.OK);
  }

  @Test
  void whatIsPreparedOutlivesPowerCutsAndIsCommitted() throws IOException {
    open();
    prepare();
    for (int i = 0; i < 3; i++) {
      h.crash(true);
      open();
      assertThat(seen(QUEUE)).containsExactly("b");
      assertThat(seen(OTHER)).isEmpty();
      assertThat(recovered()).containsExactly(new Peer.RecoveredBranch(XID, BranchState.PREPARED));
      replays();
      h.broker.wantCheckpoint();
      h.loops.advance(3_000_000_000L);
    }
    assertThat(decide(BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    h.crash(true);
    open();
    assertThat(seen(QUEUE)).containsExactly("b");
    assertThat(seen(OTHER)).containsExactly("x");
    assertThat(recovered()).isEmpty();
    assertThat(decide(BranchDecision.COMMIT)).isEqualTo(FaultCode.UNKNOWN_TRANSACTION);
    replays();
  }

  @Test
  void whatIsRolledBackComesAgain() throws IOException {
    open();
    prepare();
    h.crash(true);
    open();
    assertThat(decide(BranchDecision.ROLL_BACK)).isEqualTo(FaultCode.OK);
    assertThat(seen(QUEUE)).containsExactly("a", "b");
    assertThat(seen(OTHER)).isEmpty();
    replays();
  }

  @Test
  void whatAnAdministratorHasDecidedIsToldUntilItIsForgotten() throws IOException {
    open();
    prepare();
    assertThat(h.admin("xa.list", Map.of()))
        .contains("\"branch\":\"" + XID + "\"", "\"prepared\":1");
    assertThat(h.admin("xa.commit", Map.of("branch", XID.toString()))).contains("\"messages\":1");
    assertThat(seen(OTHER)).containsExactly("x");
    h.crash(true);
    open();
    assertThat(recovered())
        .containsExactly(new Peer.RecoveredBranch(XID, BranchState.HEURISTICALLY_COMMITTED));
    assertThat(decide(BranchDecision.ROLL_BACK)).isEqualTo(FaultCode.HEURISTIC_COMMIT);
    assertThat(decide(BranchDecision.FORGET)).isEqualTo(FaultCode.OK);
    assertThat(recovered()).isEmpty();
    replays();
  }

  @Test
  void whatAnAdministratorRollsBackComesAgain() throws IOException {
    open();
    prepare();
    assertThat(h.admin("xa.rollback", Map.of("branch", XID.toString()))).contains("\"messages\":1");
    assertThat(seen(QUEUE)).containsExactly("a", "b");
    assertThat(seen(OTHER)).isEmpty();
    assertThat(decide(BranchDecision.COMMIT)).isEqualTo(FaultCode.HEURISTIC_ROLLBACK);
    assertThat(h.admin("xa.forget", Map.of("branch", XID.toString()))).contains(XID.toString());
    assertThat(recovered()).isEmpty();
    replays();
  }

  @Test
  void anotherConnectionOfTheUserJoinsABranchAndEitherOfThemIsNeeded() throws IOException {
    open();
    FakePeer second = h.attach(new UUID(5, 5), 1, 1, null);
    long transaction = stage(peer, "one");
    assertThat(stage(second, "two")).isEqualTo(transaction);
    assertThat(step(new Step.Prepares(XID, transaction), run(id, "three"))).isEqualTo(FaultCode.OK);
    h.broker.submit(new Command.Detach(second, false));
    assertThat(seen(QUEUE)).isEmpty();
    assertThat(decide(BranchDecision.COMMIT)).isEqualTo(FaultCode.OK);
    assertThat(seen(QUEUE)).containsExactly("one", "two", "three");

    FakePeer third = h.attach(new UUID(6, 6), 1, 1, null);
    long lost = stage(peer, "four");
    assertThat(stage(third, "five")).isEqualTo(lost);
    h.broker.submit(new Command.Detach(third, false));
    assertThat(step(new Step.Prepares(XID, lost), List.of()))
        .isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(seen(QUEUE)).containsExactly("one", "two", "three");
    replays();
  }

  private long stage(FakePeer by, String text) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Stage(by, c, 1, 0, run(id, text), List.of(), new Branch.Xa(XID)));
    return ((Peer.Reply.Staged) h.reply(by, c)).transaction();
  }

  /** A step whose answer was lost is sent again by its number, over a new connection. */
  private FaultCode again(FakePeer by, long sent, Step step) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Commit(by, c, 1, sent, List.of(), List.of(), step));
    return h.receipt(by, c);
  }

  @Test
  void stepsWhoseAnswersWereLostAreAnsweredTrulyAfterAReconnectAndAfterAPowerCut()
      throws IOException {
    UUID link = new UUID(8, 8);
    h.open();
    peer = h.attach(link, 1, 1, null);
    number = 0;
    id = h.producer(peer, QUEUE);
    Step.Commits one =
        new Step.Commits(new Command.Staged(new Branch.Xa(XID), stage(peer, "one phase")));
    assertThat(step(one, List.of())).isEqualTo(FaultCode.OK);
    Step.Prepares prepares = new Step.Prepares(XID, stage(peer, "two phases"));
    assertThat(step(prepares, List.of())).isEqualTo(FaultCode.OK);
    Step.Decides commits = new Step.Decides(XID, BranchDecision.COMMIT);
    assertThat(step(commits, List.of())).isEqualTo(FaultCode.OK);
    Step.Prepares lost = new Step.Prepares(XID, stage(peer, "lost"));
    for (int i = 0; i < 2; i++) {
      if (i == 0) {
        h.broker.submit(new Command.Detach(peer, false));
      } else {
        h.crash(true);
        h.open();
      }
      peer = h.attach(link, 2 + i, 1, null);
      assertThat(again(peer, 1, one)).isEqualTo(FaultCode.OK);
      assertThat(again(peer, 2, prepares)).isEqualTo(FaultCode.OK);
      assertThat(again(peer, 3, commits)).isEqualTo(FaultCode.OK);
      assertThat(again(peer, 4, lost)).isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
      assertThat(seen(QUEUE)).containsExactly("one phase", "two phases");
      assertThat(recovered()).isEmpty();
    }
    number = 4;
    assertThat(decide(BranchDecision.COMMIT)).isEqualTo(FaultCode.UNKNOWN_TRANSACTION);
    assertThat(decide(BranchDecision.ROLL_BACK)).isEqualTo(FaultCode.UNKNOWN_TRANSACTION);
    replays();
  }

  @Test
  void aPreparedNameIsTakenAndIsItsUsersAlone() throws IOException {
    open();
    prepare();
    assertThat(step(new Step.Prepares(XID, 0), List.of()))
        .isEqualTo(FaultCode.DUPLICATE_TRANSACTION);
    FakePeer ada = peer;
    peer = h.newPeer();
    peer.user = "bob";
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, new UUID(9, 9), 1, 1, null));
    h.reply(peer, c);
    number = 0;
    assertThat(recovered()).isEmpty();
    assertThat(decide(BranchDecision.COMMIT)).isEqualTo(FaultCode.UNKNOWN_TRANSACTION);
    peer = ada;
    assertThat(recovered()).hasSize(1);
  }
}
