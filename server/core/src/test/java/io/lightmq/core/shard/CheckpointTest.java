package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
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
    assertThat(h.broker.metrics().of(Figure.REJECTED_SNAPSHOTS)).isEqualTo(1);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    List<String> got = drain(h, reader);
    assertThat(got).hasSize(60);
    assertThat(got.get(59)).isEqualTo("60");
    h.close();
  }

  @Test
  void withBothSnapshotsDamagedTheBrokerRefusesToStartAndNamesThem() throws Exception {
    BrokerHarness h = new BrokerHarness(25).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    int next = publish(h, peer, id, 1, 20);
    checkpoint(h);
    publish(h, peer, id, next, 20);
    checkpoint(h);
    h.crash(true);
    List<String> snapshots = h.disk.list("snapshots");
    assertThat(snapshots).hasSize(2);
    for (String each : snapshots) {
      h.disk.flip("snapshots/" + each, h.disk.contents("snapshots/" + each).length / 2, 3);
    }
    List<String> segments = h.disk.list("segments");

    assertThatThrownBy(h::open)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("none of 2 snapshots is valid; restore the data directory")
        .hasMessageContaining(snapshots.get(0))
        .hasMessageContaining(snapshots.get(1));

    assertThat(h.disk.list("segments")).as("nothing is moved or deleted").isEqualTo(segments);
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
    int all = 900;
    long millis = 1_000_000;
    BrokerHarness h = new BrokerHarness(23).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.disk.beforeForce(name -> h.loops.block(name.startsWith("journal/") ? millis : 0));
    h.loops.delay("destage", 5_000 * millis);
    List<Long> times = new ArrayList<>();
    int[] sent = new int[1];
    peer.onReceipt =
        receipt -> {
          times.add(h.loops.clock().nanos());
          if (sent[0] < all) {
            h.publish(peer, id, ++sent[0], BODY + sent[0]);
          }
        };
    long begin = h.loops.clock().nanos();
    for (int i = 0; i < 4; i++) {
      h.publish(peer, id, ++sent[0], BODY + sent[0]);
    }

    h.loops.advance(4_000 * millis);

    BrokerMetrics.JournalUse journal = h.broker.metrics().journal();
    int early = times.size();
    long eighth = journal.capacityBytes() / 8;
    assertThat(early).as("receipts before the pause").isBetween(100, all - 1);
    assertThat(longestGap(begin, times)).as("longest gap before the pause").isLessThan(20 * millis);
    assertThat(h.broker.metrics().load().publishesPaused()).startsWith("journal: its last eighth");
    assertThat(h.broker.metrics().checkpoints().done()).isZero();
    // Room is asked for with the run that wants it, so no run crosses the line.
    assertThat(journal.usedBytes()).isBetween(7 * eighth - 1_024, 7 * eighth);

    Received first = h.pull(peer, 1, 1).get(0);
    assertThat(h.acknowledge(peer, 1, id, first.range())).isEqualTo(new Peer.Reply.Ok());
    assertThat(times).as("no receipt while it is paused").hasSize(early);

    h.loops.advance(3_000 * millis);

    assertThat(h.broker.metrics().checkpoints().done()).isEqualTo(1);
    assertThat(times).as("receipts after the checkpoint").hasSizeGreaterThan(early);
    assertThat(times.get(early) - begin).isBetween(5_000 * millis, 6_000 * millis);
    h.loops.advance(30_000 * millis);
    assertThat(times).hasSize(all);
    assertThat(drain(h, peer)).hasSize(all - 1);
    h.close();
  }

  @Test
  void anAttachThatFindsNoRoomIsAnsweredAfterTheCheckpointAndItsRunsAreTaken() throws Exception {
    BrokerHarness h = new BrokerHarness(26).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    h.loops.delay("destage", 5_000_000_000L);
    int sent = 0;
    while (h.broker.metrics().load().publishesPaused().isEmpty() && sent < 2_000) {
      h.publish(peer, id, ++sent, BODY + sent);
      h.loops.advance(10_000_000);
    }
    FakePeer late = h.newPeer();
    boolean attached = true;
    for (int i = 0; attached && i < 1_000; i++) {
      late = h.newPeer();
      h.broker.submit(new Command.Attach(late, 1, new UUID(8, i), 1, 1, null));
      h.loops.runUntilIdle();
      attached = late.replies.containsKey(1);
    }
    assertThat(attached).as("the last attach is answered while the journal is full").isFalse();

    h.loops.advance(6_000_000_000L);

    assertThat(late.replies.get(1)).isInstanceOf(Peer.Reply.Attached.class);
    assertThat(h.receipt(late, h.publish(late, id, 1, BODY))).isEqualTo(FaultCode.OK);
    assertThat(h.receipt(late, h.publish(late, id, 1, BODY)))
        .as("repeated")
        .isEqualTo(FaultCode.OK);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    h.close();
  }

  private static long longestGap(long begin, List<Long> times) {
    long longest = 0;
    long last = begin;
    for (long each : times) {
      longest = Math.max(longest, each - last);
      last = each;
    }
    return longest;
  }

  /** A journal of 2 MiB and segments in the proportions of the defaults, 256 times smaller. */
  private static BrokerSettings settingsInProportion() {
    return BrokerHarness.settings(256 << 10, 1 << 19)
        .with(
            new SegmentSettings(
                1 << 20, 64 << 10, 16 << 10, 16 << 10, 1 << 20, 8, 64 << 10, 1 << 20));
  }

  @Test
  void aCheckpointOfAThousandDestinationsForcesSegmentFilesAtMostThirtyTwoTimes() throws Exception {
    BrokerHarness h = new BrokerHarness(26);
    h.settings = settingsInProportion();
    List<Integer> forces = new ArrayList<>();
    List<Integer> destinations = new ArrayList<>();
    h.destaging(
        (segments, state) ->
            (plan, bytes) -> {
              int before = h.disk.forces("segments/.*");
              Destaged destaged = segments.destage(plan, bytes, () -> false);
              forces.add(h.disk.forces("segments/.*") - before);
              destinations.add(
                  (int) destaged.pieces().stream().map(Piece::destinationId).distinct().count());
              return destaged;
            });
    h.open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long[] ids = new long[1_000];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "q" + i));
    }
    checkpoint(h);
    int begun = forces.size();
    int number = 0;
    for (int round = 1; round <= 4; round++) {
      for (long id : ids) {
        h.publish(peer, id, ++number, "small " + round);
      }
      for (int i = 0; i < 400; i++) {
        h.publish(peer, ids[i % 4], ++number, BODY + i);
      }
      h.loops.advance(10_000_000);
      checkpoint(h);
    }
    assertThat(peer.receipts).hasSize(number).allMatch(each -> each.code() == FaultCode.OK);
    assertThat(forces.subList(begun, forces.size()))
        .hasSizeGreaterThanOrEqualTo(4)
        .anyMatch(each -> each > 0)
        .allMatch(each -> each <= 32, "at most 32 forces of segment files");
    assertThat(destinations).as("destinations in one checkpoint").contains(ids.length);
    assertThat(h.disk.forces("segments/.*"))
        .as("no force of a segment file outside a destage")
        .isEqualTo(forces.stream().mapToInt(Integer::intValue).sum());

    h.crash(true);
    h.open();
    FakePeer reader = h.attach();
    DestinationName last = new DestinationName(DestinationKind.QUEUE, "q999");
    h.consumer(reader, 1, last, Subscribe.QUEUE, null);
    assertThat(h.pull(reader, 1, 50))
        .extracting(Received::text)
        .containsExactly("small 1", "small 2", "small 3", "small 4");
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
