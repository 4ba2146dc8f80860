package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A journal without room, in which nothing more is appended that would ask for a checkpoint. */
class FullJournalTest {
  private static final long MILLI = 1_000_000;
  private static final String TEXT = "x".repeat(4_000);

  @Test
  void aSendGoesOnThoughOnlyTheOlderSnapshotHeldTheJournal() throws IOException {
    BrokerHarness h = new BrokerHarness(61);
    AtomicBoolean cancelled = new AtomicBoolean();
    h.destaging(
        (segments, state) -> (plan, bytes) -> segments.destage(plan, bytes, cancelled::get));
    h.open();
    FakePeer peer = h.attach(new UUID(61, 1), 1, 1, null);
    long id = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "q"));
    int number = 1;
    assertThat(h.receipt(peer, h.publish(peer, id, number, TEXT))).isEqualTo(FaultCode.OK);
    h.broker.wantCheckpoint();
    h.loops.advance(2_000 * MILLI);
    assertThat(h.broker.metrics().checkpoints().done()).as("the older snapshot").isOne();

    cancelled.set(true);
    int last = h.publish(peer, id, ++number, TEXT);
    h.loops.runUntilIdle();
    while (BrokerHarness.find(peer, last) != null) {
      last = h.publish(peer, id, ++number, TEXT);
      h.loops.runUntilIdle();
    }
    assertThat(h.broker.failure()).isNotDone();

    cancelled.set(false);
    h.loops.advance(10_000 * MILLI);
    assertThat(h.broker.metrics().checkpoints().failed()).isPositive();
    assertThat(h.broker.metrics().checkpoints().done()).isGreaterThanOrEqualTo(3);
    assertThat(BrokerHarness.find(peer, last))
        .as("the receipt of run %d, which found no room", number)
        .extracting(FakePeer.Receipt::code)
        .isEqualTo(FaultCode.OK);
    h.close();
  }
}
