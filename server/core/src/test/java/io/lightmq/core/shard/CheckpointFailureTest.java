package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckpointFailureTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(31);
  private String folderThatFails = "none";
  private boolean ballastFails;
  private boolean segmentsFindNoRoom;

  private final class FailingDisk extends FaultyDisk {
    FailingDisk(Disk disk) {
      super(disk);
    }

    @Override
    protected void force(DiskFile file) throws IOException {
      if (file.name().startsWith(folderThatFails)) {
        throw new IOException("Input/output error");
      }
      super.force(file);
    }

    @Override
    public DiskFile create(String name) throws IOException {
      if (segmentsFindNoRoom && name.startsWith("segments/")) {
        throw new DiskFullException(name + ": no space left", new IOException("ENOSPC"));
      }
      if (ballastFails && name.equals("ballast")) {
        throw new DiskFullException("ballast: no space left", new IOException("ENOSPC"));
      }
      return super.create(name);
    }
  }

  private FakePeer publishTen() throws IOException {
    h.wrap = FailingDisk::new;
    h.open();
    FakePeer peer = h.attach(new UUID(7, 7), 1, 1, null);
    long id = h.producer(peer, QUEUE);
    for (int i = 1; i <= 10; i++) {
      assertThat(h.receipt(peer, h.publish(peer, id, i, "text " + i))).isEqualTo(FaultCode.OK);
    }
    return peer;
  }

  @ParameterizedTest
  @ValueSource(strings = {"segments/", "snapshots/"})
  void aCheckpointWhoseForceFailsEndsTheShard(String folder) throws IOException {
    FakePeer peer = publishTen();
    folderThatFails = folder;
    h.broker.wantCheckpoint();
    h.loops.advance(5_000_000_000L);
    assertThat(h.broker.failure()).isDone();
    assertThat(h.broker.failure().join()).hasMessageContaining("Input/output error");
    assertThat(peer.disconnects)
        .containsExactly(
            "BROKER_FAILED: the broker has ended: a checkpoint failed with Input/output error");
  }

  @Test
  void aBallastThatCannotBeFilledDoesNotUndoTheSnapshot() throws IOException {
    publishTen();
    h.disk.delete("ballast");
    ballastFails = true;
    h.broker.wantCheckpoint();
    h.loops.advance(5_000_000_000L);
    assertThat(h.broker.metrics().checkpoints().failed()).isZero();
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    h.crash(true);
    ballastFails = false;
    h.open();
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(reader, 1, 50)).hasSize(10);
  }

  @Test
  void aCheckpointWithoutRoomRefusesSendsUntilThereIsRoom() throws IOException {
    FakePeer peer = publishTen();
    long id = h.producer(peer, QUEUE);
    segmentsFindNoRoom = true;
    h.broker.wantCheckpoint();
    h.loops.advance(3_000_000_000L);
    assertThat(h.receipt(peer, h.publish(peer, id, 11, "refused"))).isEqualTo(FaultCode.DISK_FULL);
    segmentsFindNoRoom = false;
    h.loops.advance(5_000_000_000L);
    assertThat(h.receipt(peer, h.publish(peer, id, 12, "taken"))).isEqualTo(FaultCode.OK);
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(reader, 1, 50)).as("from segments").hasSize(10);
    assertThat(h.pull(reader, 1, 50)).as("from the window").hasSize(1);
  }
}
