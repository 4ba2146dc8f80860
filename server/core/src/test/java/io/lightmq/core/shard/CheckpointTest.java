package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CheckpointTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final UUID LINK = new UUID(7, 7);
  private static final String BODY = "x".repeat(700) + ".";

  private static int publish(BrokerHarness h, FakePeer peer, long id, int from, int count) {
    for (int i = from; i < from + count; i++) {
      assertThat(h.receipt(peer, h.publish(peer, id, i, BODY + i))).isEqualTo(FaultCode.OK);
    }
    return from + count;
  }

  private static List<String> drain(BrokerHarness h, FakePeer peer) {
    List<String> texts = new ArrayList<>();
    List<Received> got = h.pull(peer, 1, 50);
    while (!got.isEmpty()) {
      got.forEach(each -> texts.add(each.text().substring(BODY.length())));
      got = h.pull(peer, 1, 50);
    }
    return texts;
  }

  private static void checkpoint(BrokerHarness h) {
    long done = doneAfterTick(h);
    h.broker.wantCheckpoint();
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().checkpoints().done()).isGreaterThan(done);
  }

  private static long doneAfterTick(BrokerHarness h) {
    h.loops.advance(1_100_000_000L);
    return h.broker.metrics().checkpoints().done();
  }

  @Test
  void aDamagedNewestSnapshotIsPassedOverAndNothingIsLost() throws Exception {
    BrokerHarness h = new BrokerHarness(21).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    int next = publish(h, peer, id, 1, 20);
    checkpoint(h);
    next = publish(h, peer, id, next, 20);
    checkpoint(h);
    publish(h, peer, id, next, 20);
    h.crash(true);
    List<String> snapshots = h.disk.list("snapshots");
    String newest = "snapshots/" + snapshots.get(snapshots.size() - 1);
    h.disk.flip(newest, h.disk.contents(newest).length / 2, 3);
    h.open();
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().totals().rejectedSnapshots()).isEqualTo(1);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    List<String> got = drain(h, reader);
    assertThat(got).hasSize(60);
    assertThat(got.get(59)).isEqualTo("60");
    h.close();
  }

  @Test
  void aFullDiskGivesTheCheckpointUpAndTheNextOneSucceeds() throws Exception {
    BrokerHarness h = new BrokerHarness(22).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    int next = publish(h, peer, id, 1, 30);
    h.disk.capacity(h.disk.usedBytes() + 100);
    h.broker.wantCheckpoint();
    h.loops.advance(500_000_000L);
    next = publish(h, peer, id, next, 5);
    h.disk.capacity(Long.MAX_VALUE);
    h.loops.advance(5_000_000_000L);
    assertThat(h.broker.metrics().checkpoints().failed()).isPositive();
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(h, peer)).hasSize(next - 1);
    h.close();
  }

  @Test
  void whileASlowDestageRunsReceiptsComeUntilTheLastEighthAndAcknowledgementsGoOn()
      throws Exception {
    BrokerHarness h = new BrokerHarness(23).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.loops.delay("destage", 5_000_000_000L);
    for (int i = 1; i <= 900; i++) {
      h.publish(peer, id, i, BODY + i);
    }
    h.loops.advance(2_000_000_000L);
    int early = peer.receipts.size();
    BrokerMetrics.JournalUse journal = h.broker.metrics().journal();
    assertThat(early).isBetween(100, 899);
    assertThat(journal.usedBytes()).isGreaterThan(journal.capacityBytes() / 10 * 8);
    assertThat(h.broker.metrics().publishesPaused()).startsWith("journal");
    Received first = h.pull(peer, 1, 1).get(0);
    assertThat(h.acknowledge(peer, 1, id, first.range())).isEqualTo(new Peer.Reply.Ok());
    h.loops.delay("destage", 0);
    h.loops.advance(30_000_000_000L);
    assertThat(peer.receipts).hasSize(900);
    assertThat(drain(h, peer)).hasSize(899);
    h.close();
  }

  @Test
  void acknowledgedMessagesLeaveTheDisk() throws Exception {
    BrokerHarness h = new BrokerHarness(24).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    publish(h, peer, id, 1, 400);
    checkpoint(h);
    assertThat(h.broker.metrics().checkpoints().segmentBytes()).isGreaterThan(200_000);
    List<Received> got = h.pull(peer, 1, 100);
    int seen = 0;
    while (!got.isEmpty()) {
      List<SequenceRange> most = new ArrayList<>();
      for (Received each : got) {
        if (++seen % 100 != 0) {
          most.add(each.range());
        }
      }
      h.acknowledge(peer, 1, id, most.toArray(SequenceRange[]::new));
      got = h.pull(peer, 1, 100);
    }
    for (int i = 0; i < 3; i++) {
      checkpoint(h);
    }
    assertThat(h.broker.metrics().checkpoints().segmentBytes()).isLessThan(30_000);
    h.crash(true);
    h.open();
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(h, reader)).containsExactly("100", "200", "300", "400");
    h.close();
  }
}
