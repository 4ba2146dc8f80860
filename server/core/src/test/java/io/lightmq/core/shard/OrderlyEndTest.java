package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.record.ShardRecord.Delivered;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.state.OrderlyEnd;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is flagged behind an orderly end, whether a last checkpoint was made or not. */
class OrderlyEndTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(83);
  private boolean snapshotsFindNoRoom;

  private final class FullDisk extends FaultyDisk {
    FullDisk(Disk disk) {
      super(disk);
    }

    @Override
    public DiskFile create(String name) throws IOException {
      if (snapshotsFindNoRoom && name.startsWith("snapshots/")) {
        throw new DiskFullException(name + ": no space left", new IOException("ENOSPC"));
      }
      return super.create(name);
    }
  }

  /** Message 1 is seen twice, 2 once, 3 was in flight and given back unseen, 4 and 5 never were. */
  private void live() throws IOException {
    h.wrap = FullDisk::new;
    h.open();
    FakePeer peer = h.attach(new UUID(1, 1), 1, 1, null);
    long queue = h.producer(peer, QUEUE);
    int last = 0;
    for (int number = 1; number <= 5; number++) {
      last = h.publish(peer, queue, number, "m" + number);
    }
    assertThat(h.receipt(peer, last)).isEqualTo(FaultCode.OK);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    giveBack(peer, queue, h.pull(peer, 1, 2), true);
    h.checkpoint();
    giveBack(peer, queue, h.pull(peer, 1, 1), true);
    List<Received> flying = h.pull(peer, 1, 3);
    h.checkpoint(); // its snapshot takes these as seen
    h.loops.advance(100_000_000);
    giveBack(peer, queue, flying, false);
  }

  private void giveBack(FakePeer peer, long queue, List<Received> some, boolean seen) {
    for (Received each : some) {
      int c = h.nextCorrelation();
      List<Command.Acked> back = List.of(new Command.Acked(1, queue, List.of(each.range())));
      h.broker.submit(new Command.Return(peer, c, back, seen));
      h.reply(peer, c);
    }
  }

  private List<Integer> deliveriesAfterAStart() throws IOException {
    snapshotsFindNoRoom = false;
    h.open();
    FakePeer peer = h.attach();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    return h.pull(peer, 1, 10).stream().map(Received::deliveries).toList();
  }

  @Test
  void withTheLastCheckpointAllCountsStay() throws IOException {
    live();
    h.close();
    assertThat(deliveriesAfterAStart()).containsExactly(2, 1, 0, 0, 0);
  }

  @Test
  void withoutTheLastCheckpointAllCountsStayToo() throws IOException {
    live();
    snapshotsFindNoRoom = true;
    h.close();
    assertThat(deliveriesAfterAStart()).containsExactly(2, 1, 0, 0, 0);
  }

  @Test
  void behindACrashAllThatMayHaveBeenSeenIsFlagged() throws IOException {
    live();
    h.crash(false);
    assertThat(deliveriesAfterAStart()).doesNotContain(0).hasSize(5);
  }

  @Test
  void anEndThatHasTooMuchToTellTellsNothing() throws IOException {
    live();
    List<Stopped> ends = new ArrayList<>();
    h.loops.within(
        "shard",
        () -> {
          ends.add(OrderlyEnd.of(h.broker.state(), OrderlyEnd.MAX_BYTES));
          ends.add(OrderlyEnd.of(h.broker.state(), 20));
        });
    Stopped counted =
        new Stopped(
            true, List.of(new Delivered(1, 1, 1, ranges(1)), new Delivered(1, 1, 2, ranges(0))));
    assertThat(ends).containsExactly(counted, Stopped.UNCOUNTED);
  }

  private static List<SequenceRange> ranges(int place) {
    return List.of(new SequenceRange(4, (1L << 32) + place, 1));
  }
}
