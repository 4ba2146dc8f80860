package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Step;
import io.lightmq.core.door.Figure;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is kept of transactions shows in the metrics and in what administrators ask. */
class PreparedAlarmTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Xid XID = new Xid(7, new byte[] {1, 2}, new byte[] {3});

  @RegisterExtension final BrokerHarness h = new BrokerHarness(41);

  private FakePeer peer;
  private long number;

  private void open() throws IOException {
    h.open();
    peer = h.attach();
    number = 0;
  }

  private void step(Step step, List<Command.StagedRun> runs, Command.Acked... acked) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Commit(peer, c, 1, ++number, runs, List.of(acked), step));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  /** A figure as the metrics show it a little later. */
  private long shown(Figure figure) {
    h.loops.advance(2 * SECOND);
    return h.broker.metrics().of(figure);
  }

  @Test
  void whatIsPreparedForLongIsCountedAlsoAfterAStart() throws IOException {
    open();
    long id = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "q"));
    assertThat(h.receipt(peer, h.publish(peer, id, ++number, "a", "b"))).isEqualTo(FaultCode.OK);
    h.consumer(
        peer, 1, new DestinationName(DestinationKind.QUEUE, "q"), Command.Subscribe.QUEUE, null);
    FakePeer.Received first = h.pull(peer, 1, 2).get(0);
    step(
        new Step.Prepares(XID, 0),
        List.of(new Command.StagedRun(id, true, 1, h.bytes(true, 0, "x"))),
        new Command.Acked(1, id, List.of(first.range())));
    assertThat(h.admin("destination.show", Map.of("name", "q")))
        .contains("\"staged\":1,", "\"held\":1,", "\"inFlight\":1,");
    assertThat(shown(Figure.PREPARED_BRANCHES)).isOne();
    long bytes = shown(Figure.STAGED_BYTES);
    assertThat(bytes).isPositive();
    assertThat(shown(Figure.PREPARED_OVERDUE)).isZero();

    h.keepTime = true;
    h.crash(true);
    h.loops.simulatedClock().advance(3_700 * SECOND);
    open();
    assertThat(shown(Figure.PREPARED_BRANCHES)).isOne();
    assertThat(shown(Figure.STAGED_BYTES)).isEqualTo(bytes);
    assertThat(shown(Figure.PREPARED_OVERDUE)).isOne();
    assertThat(shown(Figure.PREPARED_OLDEST)).isGreaterThan(3_600);

    h.admin("xa.commit", Map.of("branch", XID.toString()));
    assertThat(shown(Figure.PREPARED_BRANCHES)).isZero();
    assertThat(shown(Figure.STAGED_BYTES)).isZero();
    assertThat(shown(Figure.HEURISTIC_BRANCHES)).isOne();
    step(new Step.Decides(XID, BranchDecision.FORGET), List.of());
    assertThat(shown(Figure.HEURISTIC_BRANCHES)).isZero();
  }
}
