package io.lightmq.core.shard;

import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.overflow.OverflowFiles;
import io.lightmq.core.storage.snapshot.Ballast;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import java.io.IOException;

/**
 * What a shard has on this node as long as the process lives, whoever leads: its directory, its
 * loops and its memory. Owners come and go and use them one after the other.
 *
 * @param shard the loop of the state
 * @param reads where entries are read from files
 * @param match where selectors are evaluated that take too long for a turn
 * @param destage where checkpoints are written and the state is built again
 * @param window where owners, one after the other, build what they append; taken at once, since an
 *     owner that begins cannot do without
 * @param places memory for where messages are and who has them
 * @param unlogged memory for messages that are in no record
 */
record Member(
    BrokerSettings settings,
    Disk disk,
    Loops loops,
    Loop shard,
    Loop reads,
    Loop match,
    Loop destage,
    Loop overflow,
    StoreIdentity identity,
    Ballast ballast,
    DirectMemory memory,
    Window window,
    OffHeap places,
    UnloggedStore unlogged,
    OverflowFiles overflowFiles,
    TurnTime time) {

  /** Opens a data directory, or begins one. Blocks. */
  static Member open(BrokerSettings settings, Disk disk, Loops loops, Loop shard, int touchedAhead)
      throws IOException {
    DirectMemory memory = new DirectMemory();
    // First, so that a machine that cannot have it leaves the directory as it is.
    Window window = Window.reserve(memory, settings.memory().windowBytes());
    StoreIdentity identity = StoreIdentity.openOrCreate(disk, loops.ids()::next);
    Loop overflow = loops.open("overflow");
    OverflowFiles files =
        OverflowFiles.open(
            disk, shard, overflow, settings.disk().overflowBytes(), settings.disk().minFreeBytes());
    return new Member(
        settings,
        disk,
        loops,
        shard,
        loops.open("read"),
        loops.open("match"),
        loops.open("destage"),
        overflow,
        identity,
        Ballast.open(disk, settings.disk().ballastBytes()),
        memory,
        window,
        new OffHeap(memory, touchedAhead),
        new UnloggedStore(memory, settings.memory().unloggedBytes(), files),
        files,
        new TurnTime(loops.clock()));
  }

  /** The same with what fits into batches of so many bytes. */
  Member within(int batchBytes) {
    return new Member(
        settings.within(batchBytes),
        disk,
        loops,
        shard,
        reads,
        match,
        destage,
        overflow,
        identity,
        ballast,
        memory,
        window,
        places,
        unlogged,
        overflowFiles,
        time);
  }

  /** A state without anything, in this memory. */
  ShardState emptyState() {
    return new ShardState(new Destinations(places, unlogged));
  }
}
