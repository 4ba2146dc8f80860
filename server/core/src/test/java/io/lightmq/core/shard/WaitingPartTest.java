package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Parts of transactions wait for room in the journal, and the transaction ends meanwhile. */
class WaitingPartTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final String TEXT = "x".repeat(4_000);
  private static final Branch LOCAL = new Branch.Local(1);
  private static final Branch XA = new Branch.Xa(new Xid(7, new byte[] {1}, new byte[] {2}));

  @RegisterExtension final BrokerHarness h = new BrokerHarness(61);

  private final AtomicBoolean jammed = new AtomicBoolean();
  private FakePeer publisher;
  private FakePeer first;
  private FakePeer second;
  private long id;
  private int last;

  private void open() throws IOException {
    h.destaging((segments, state) -> (plan, bytes) -> segments.destage(plan, bytes, jammed::get));
    h.open();
    publisher = h.attach(new UUID(61, 1), 1, 1, null);
    first = h.attach(new UUID(61, 2), 1, 1, null);
    second = h.attach(new UUID(61, 3), 1, 1, null);
    id = h.producer(first, QUEUE);
  }

  /** Publishes until the journal is full. */
  private void jam() {
    jammed.set(true);
    long own = h.producer(publisher, QUEUE);
    int number = 0;
    do {
      last = h.publish(publisher, own, ++number, TEXT);
      h.loops.runUntilIdle();
    } while (BrokerHarness.find(publisher, last) != null);
  }

  private void free() {
    jammed.set(false);
    h.loops.advance(10_000_000_000L);
    assertThat(BrokerHarness.find(publisher, last)).isNotNull();
  }

  private int stage(Branch branch) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Stage(
            first,
            c,
            1,
            0,
            List.of(new Command.StagedRun(id, true, 1, h.bytes(true, 0, TEXT))),
            List.of(),
            branch));
    h.loops.runUntilIdle();
    return c;
  }

  private Peer.Reply abandon(FakePeer by, Branch branch) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Abandon(by, c, branch, true));
    return h.reply(by, c);
  }

  private void assertRolledBack(int stage) {
    Peer.Reply reply = h.reply(first, stage);
    assertThat(reply).isInstanceOf(Peer.Reply.Failed.class);
    assertThat(((Peer.Reply.Failed) reply).code()).isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(h.admin("xa.list", Map.of())).contains("\"open\":0", "\"stagedBytes\":0");
  }

  @Test
  void whatWaitsIsDroppedByTheRollbackThatComesBehindIt() throws IOException {
    open();
    jam();
    int waits = stage(LOCAL);
    assertThat(abandon(first, LOCAL)).isEqualTo(new Peer.Reply.Ok());
    free();
    assertRolledBack(waits);
    assertThat(h.reply(first, stage(LOCAL))).isInstanceOf(Peer.Reply.Staged.class);
  }

  @Test
  void whatWaitsOfABranchIsDroppedByTheRollbackOfAnotherConnection() throws IOException {
    open();
    jam();
    int waits = stage(XA);
    assertThat(abandon(second, XA)).isEqualTo(new Peer.Reply.Ok());
    free();
    assertRolledBack(waits);
  }

  @Test
  void whatWaitsOfOtherTransactionsIsStagedOnceThereIsRoom() throws IOException {
    open();
    jam();
    int waits = stage(LOCAL);
    int another = stage(XA);
    assertThat(abandon(second, LOCAL)).isEqualTo(new Peer.Reply.Ok()); // its own, of which is none
    assertThat(abandon(first, XA)).isEqualTo(new Peer.Reply.Ok());
    free();
    assertThat(h.reply(first, waits)).isInstanceOf(Peer.Reply.Staged.class);
    assertThat(h.reply(first, another)).isInstanceOf(Peer.Reply.Failed.class);
  }
}
