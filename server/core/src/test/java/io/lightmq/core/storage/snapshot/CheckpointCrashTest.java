package io.lightmq.core.storage.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedDisk.Operation;
import io.lightmq.core.simulation.Seeds;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.core.storage.segment.SegmentReader;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.segment.TestLane;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Checkpoints with the power cut, or a failing operation, at every single change of the disk.
 * Invariant: start finds the newest published snapshot or a newer one, and every entry that its
 * state names.
 */
final class CheckpointCrashTest {
  private static final UUID STORE = new UUID(1, 2);
  private static final SegmentSettings SETTINGS =
      new SegmentSettings(8 << 10, 6 << 10, 1024, 1024, 1 << 20, 2, 4096, 1 << 20);

  /** A publish failed in a way that leaves open whether it counts. */
  private static final class ShardEnded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ShardEnded(IOException cause) {
      super(cause);
    }
  }

  /** One store, its lanes, and what has been published. */
  private static final class Store {
    final Random random;
    final TestJournal journal = new TestJournal();
    final List<TestLane> lanes = new ArrayList<>();
    final List<TreeMap<Long, byte[]>> everything = new ArrayList<>();
    final long[] next = new long[3];
    Runnable beforeRetry = () -> {};
    long published = -1;
    long reached;

    Store(long seed) {
      random = new Random(seed);
      for (int i = 0; i < next.length; i++) {
        lanes.add(new TestLane(i + 1, 4, journal));
        everything.add(new TreeMap<>());
      }
    }

    void run(Disk disk, boolean retry) throws IOException {
      SnapshotStore snapshots = SnapshotStore.open(disk, STORE);
      SegmentStore segments =
          SegmentStore.open(
              disk, new DirectMemory(), STORE, snapshots.nextAddress(), List.of(), SETTINGS);
      for (long offset = 1; offset <= 4; offset++) {
        for (int i = 0; i < next.length; i++) {
          lanes.get(i).publishMany(next[i], 12, 100 + random.nextInt(300));
          everything.get(i).putAll(lanes.get(i).model());
          next[i] += 12;
          long dead = (long) (random.nextDouble() * next[i]);
          lanes.get(i).acknowledge(dead, dead + 6);
        }
        try {
          checkpoint(offset, snapshots, segments);
        } catch (IOException e) {
          if (!retry) {
            throw e;
          }
          beforeRetry.run();
          checkpoint(offset, snapshots, segments);
        }
      }
    }

    private void checkpoint(long offset, SnapshotStore snapshots, SegmentStore segments)
        throws IOException {
      Set<Long> rewrite = new HashSet<>();
      for (SegmentInfo segment : segments.segments()) {
        if (random.nextInt(3) == 0) {
          rewrite.add(segment.address());
        }
      }
      Destaged destaged =
          segments.destage(
              new DestagePlan(offset, lanes.stream().map(TestLane::plan).toList(), rewrite),
              journal,
              () -> false);
      List<Piece> pieces = new ArrayList<>(destaged.pieces());
      for (TestLane lane : lanes) {
        pieces.addAll(lane.pieces());
      }
      pieces.removeAll(destaged.replaced());
      Set<Long> needed = new HashSet<>();
      pieces.forEach(piece -> needed.add(piece.segmentAddress()));
      SnapshotStore.Published done;
      try {
        done = publish(offset, snapshots, segments, destaged, pieces, needed);
      } catch (DiskFullException e) {
        segments.abandon(destaged);
        throw e;
      } catch (IOException e) {
        throw new ShardEnded(e);
      }
      published = offset;
      reached = destaged.nextAddress();
      lanes.forEach(lane -> lane.switchTo(destaged));
      try {
        segments.delete(done.unneededSegments());
      } catch (IOException e) {
        // The file stays; the next start moves it to orphaned/.
        assertThat(e).hasMessageContaining("injected");
      }
    }

    private SnapshotStore.Published publish(
        long offset,
        SnapshotStore snapshots,
        SegmentStore segments,
        Destaged destaged,
        List<Piece> pieces,
        Set<Long> needed)
        throws IOException {
      return snapshots.publish(
          new Snapshot(
              offset,
              0,
              destaged.nextAddress(),
              state(),
              segments.segments().stream()
                  .filter(segment -> needed.contains(segment.address()))
                  .toList(),
              pieces));
    }

    private List<ByteBuffer> state() {
      List<ByteBuffer> state = new ArrayList<>();
      for (TestLane lane : lanes) {
        ByteBuffer slice = ByteBuffer.allocate(lane.model().size() * 8);
        lane.model().keySet().forEach(slice::putLong);
        state.add(slice.flip());
      }
      return state;
    }

    /** The invariant. */
    void check(Disk disk) throws IOException {
      SnapshotStore snapshots = SnapshotStore.open(disk, STORE);
      SnapshotStore.Loaded loaded = snapshots.load();
      if (loaded.snapshot().isEmpty()) {
        assertThat(published).as("published, found none").isEqualTo(-1);
        return;
      }
      Snapshot snapshot = loaded.snapshot().get();
      assertThat(snapshot.offset()).as("newest published").isGreaterThanOrEqualTo(published);
      assertThat(snapshots.nextAddress()).as("next address").isGreaterThanOrEqualTo(reached);
      SegmentStore segments =
          SegmentStore.open(
              disk,
              new DirectMemory(),
              STORE,
              snapshots.nextAddress(),
              loaded.segments(),
              SETTINGS);
      for (SegmentInfo segment : snapshot.segments()) {
        segments.verify(segment.address());
      }
      try (SegmentReader reader = segments.newReader()) {
        for (int i = 0; i < lanes.size(); i++) {
          TreeMap<Long, byte[]> found = lanes.get(i).readAll(reader, snapshot.pieces());
          ByteBuffer slice = snapshot.state().get(i).duplicate();
          while (slice.hasRemaining()) {
            long sequence = slice.getLong();
            assertThat(found.get(sequence))
                .as("lane %d sequence %d", i, sequence)
                .isEqualTo(everything.get(i).get(sequence));
          }
        }
      }
      // A start goes on from here: a new root with what it found.
      snapshots.publish(
          new Snapshot(
              snapshot.offset() + 1,
              0,
              snapshot.nextAddress(),
              snapshot.state(),
              snapshot.segments(),
              snapshot.pieces()));
      segments.close();
    }
  }

  private static long changesOfOneRun(long seed) throws IOException {
    SimulatedDisk disk = new SimulatedDisk(seed);
    new Store(seed).run(disk, false);
    return disk.changes();
  }

  /** Cuts the power once at every change, with as many outcomes of the cut as told. */
  private static void cutEverywhere(int seeds, UnaryOperator<Disk> plant) throws IOException {
    for (long seed = 0; seed < seeds; seed++) {
      long changes = changesOfOneRun(seed);
      for (long at = 1; at <= changes + 1; at++) {
        SimulatedDisk disk = new SimulatedDisk(seed * 1_000 + at);
        Store store = new Store(seed);
        disk.cutPowerAt(at);
        try {
          store.run(plant.apply(disk), false);
        } catch (PowerCut e) {
          assertThat(at).isLessThanOrEqualTo(changes);
        }
        disk.crash();
        try {
          store.check(disk);
          disk.crash();
          store.check(disk);
        } catch (AssertionError | IOException | RuntimeException e) {
          throw new AssertionError("seed " + seed + ", power cut at change " + at, e);
        }
      }
    }
  }

  @Test
  void aPowerCutAtAnyChangeLosesNothingPublished() throws IOException {
    cutEverywhere(Seeds.count(4), disk -> disk);
  }

  @Test
  void anyFailingOperationLeavesAStoreThatGoesOn() throws IOException {
    for (Operation operation :
        List.of(
            Operation.CREATE,
            Operation.WRITE,
            Operation.FORCE,
            Operation.RENAME,
            Operation.DELETE,
            Operation.FORCE_DIRECTORY)) {
      SimulatedDisk whole = new SimulatedDisk(3);
      new Store(3).run(whole, false);
      int count = whole.count(operation);
      assertThat(count).as("%s in a run", operation).isPositive();
      for (int nth = 1; nth <= count; nth++) {
        SimulatedDisk disk = new SimulatedDisk(nth);
        Store store = new Store(3);
        disk.fail(operation, nth);
        try {
          store.run(disk, true);
          assertThat(store.published).as("%s %d", operation, nth).isEqualTo(4);
        } catch (ShardEnded e) {
          assertThat(e).hasMessageContaining("injected").hasMessageContaining("snapshots");
        }
        disk.crash();
        store.check(disk);
        assertThat(store.published > 0 ? disk.list("orphaned") : List.of()).isEmpty();
      }
    }
  }

  @Test
  void anyLackOfRoomIsAbandonedAndMadeUpForLater() throws IOException {
    SimulatedDisk whole = new SimulatedDisk(3);
    new Store(3).run(whole, false);
    for (long room = 500; room < whole.usedBytes() * 2; room += 797) {
      SimulatedDisk disk = new SimulatedDisk(room);
      Store store = new Store(3);
      disk.capacity(room);
      store.beforeRetry = () -> disk.capacity(Long.MAX_VALUE);
      store.run(disk, true);
      assertThat(store.published).isEqualTo(4);
      disk.capacity(Long.MAX_VALUE);
      disk.crash();
      store.check(disk);
    }
  }

  @Test
  void plantedBugOfSegmentsThatAreNotForcedIsFound() {
    assertThatThrownBy(
            () ->
                cutEverywhere(
                    6,
                    disk ->
                        FaultyDisk.skippedForces(
                            disk, name -> name.startsWith("segments/"), folder -> false)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("power cut at change");
  }

  @Test
  void plantedBugOfSnapshotsThatAreNotForcedIsFound() {
    assertThatThrownBy(
            () ->
                cutEverywhere(
                    6,
                    disk ->
                        FaultyDisk.skippedForces(
                            disk, name -> name.startsWith("snapshots/"), folder -> false)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("power cut at change");
  }

  @Test
  void plantedBugOfSegmentsWhoseFolderIsNotForcedIsFound() {
    assertThatThrownBy(
            () ->
                cutEverywhere(
                    6, disk -> FaultyDisk.skippedForces(disk, name -> false, "segments"::equals)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("power cut at change");
  }

  @Test
  void plantedBugOfSnapshotsWhoseFolderIsNotForcedIsFound() {
    assertThatThrownBy(
            () ->
                cutEverywhere(
                    6, disk -> FaultyDisk.skippedForces(disk, name -> false, "snapshots"::equals)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("power cut at change");
  }
}
