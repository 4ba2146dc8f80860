package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.RecordCodec;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.state.LanePieces;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.journal.LocalJournal;
import io.lightmq.core.storage.snapshot.Snapshot;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import io.lightmq.spi.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A state that is made of what lies on a disk alone, the newest snapshot and the journal behind it,
 * by nothing but {@link ShardState#apply}. Recovery may write to the disk, so it is given a copy.
 *
 * @param fromOffset the snapshot's, 0 for none
 */
record ReplayedState(ShardState state, long fromOffset) {
  /** What is done with a record. */
  interface Replay {
    void apply(ShardState state, ShardRecord record, BatchBytes bytes);
  }

  static ReplayedState of(Disk copy, BrokerSettings settings, Replay replay) throws IOException {
    SimulatedLoops loops = new SimulatedLoops(1);
    StoreIdentity identity = StoreIdentity.openOrCreate(copy, loops.ids()::next);
    ShardState state = emptyState();
    SnapshotStore snapshots = SnapshotStore.open(copy, identity.storeId());
    Snapshot snapshot = snapshots.load().snapshot().orElse(null);
    if (snapshot != null) {
      restore(snapshot, state);
    }
    long from = snapshot == null ? 0 : snapshot.offset();
    LocalJournal journal = new LocalJournal(copy, loops, settings.journal(), identity.storeId());
    journal.start(from, Runnable::run, new Replaying(state, replay));
    loops.crash();
    return new ReplayedState(state, from);
  }

  /** What all records of a log make, without any snapshot. */
  static ReplayedState of(PairedLog log) {
    ShardState state = emptyState();
    log.replay(0, new Replaying(state, ShardState::apply));
    return new ReplayedState(state, 0);
  }

  private static ShardState emptyState() {
    DirectMemory memory = new DirectMemory();
    return new ShardState(
        new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 16)));
  }

  private static void restore(Snapshot snapshot, ShardState state) throws IOException {
    StateSnapshot.decode(snapshot.state(), state);
    LanePieces.byDestination(snapshot.pieces())
        .forEach(
            (id, pieces) -> {
              Destination destination = state.destinations().find(id);
              if (destination != null) {
                for (DurableLane lane : destination.durableLanes()) {
                  lane.install(pieces.of(lane.code()), snapshot.offset());
                }
              }
            });
  }

  private record Replaying(ShardState state, Replay replay) implements Journal.Listener {
    @Override
    public void replay(long offset, ByteBuffer records) {
      long first = offset + Journal.Batch.HEADER_BYTES;
      BatchBytes bytes = BatchBytes.of(first, records.slice());
      RecordCodec.decode(first, records, record -> replay.apply(state, record, bytes));
    }

    @Override
    public void leader(long epoch, long from) {}

    @Override
    public void follower() {}

    @Override
    public void lost(int pending) {}

    @Override
    public void committed(long offset, ByteBuffer records) {
      throw new AssertionError("nobody else appends");
    }

    @Override
    public void failed(IOException cause) {
      throw new AssertionError(cause);
    }
  }
}
