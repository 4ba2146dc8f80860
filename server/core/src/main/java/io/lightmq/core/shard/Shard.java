package io.lightmq.core.shard;

import io.lightmq.core.delivery.Beside;
import io.lightmq.core.delivery.Fetcher;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Overflow;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.RecordCodec;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.overflow.OverflowFiles;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.snapshot.Ballast;
import io.lightmq.core.storage.snapshot.Snapshot;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of one shard: recovery, start, end. Recovery runs on the caller's thread and hands the
 * state to the shard's loop; from then on it is touched there only.
 */
final class Shard implements ShardBatch.Observer {
  private static final Logger log = LoggerFactory.getLogger(Shard.class);
  private static final long TICK_NANOS = 1_000_000_000;

  private final BrokerSettings settings;
  private final Disk disk;
  private final Loops loops;
  private final Loop loop;
  private final Loop reads;
  private final Loop destage;
  private final Loop overflow;
  private final CommandQueue queue;
  private final DirectMemory memory = new DirectMemory();
  private final ShardState state;
  private final SegmentStore segments;
  private final OverflowFiles overflowFiles;
  private final Journal journal;
  private final Window window;
  private final Fetcher fetcher;
  private final ShardParts parts;
  private final MetricsTaker metricsTaker;
  private final StoreIdentity identity;
  private final boolean clean;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private volatile BrokerMetrics metrics = BrokerMetrics.NONE;
  private volatile long startEpoch;
  private volatile boolean closing;
  private boolean ended;
  private long reclaimAtNanos;
  private boolean replayed;

  Shard(
      BrokerSettings settings,
      Disk disk,
      Loops loops,
      Loop loop,
      CommandQueue queue,
      JournalMaker journals,
      DestagingMaker maker,
      Landing.Maker landings)
      throws IOException {
    this.settings = settings;
    this.disk = disk;
    this.loops = loops;
    this.loop = loop;
    this.queue = queue;
    this.reads = loops.open("read");
    this.destage = loops.open("destage");
    this.overflow = loops.open("overflow");
    this.identity = StoreIdentity.openOrCreate(disk, loops.ids()::next);
    UUID storeId = identity.storeId();
    SnapshotStore snapshots = SnapshotStore.open(disk, storeId);
    SnapshotStore.Loaded loaded = snapshots.load();
    report(loaded);
    this.segments =
        SegmentStore.open(
            disk, memory, storeId, snapshots.nextAddress(), loaded.segments(), settings.segments());
    Ballast ballast = Ballast.open(disk, settings.disk().ballastBytes());
    this.overflowFiles =
        OverflowFiles.open(
            disk, loop, overflow, settings.disk().overflowBytes(), settings.disk().minFreeBytes());
    UnloggedStore store =
        new UnloggedStore(memory, settings.memory().unloggedBytes(), overflowFiles);
    this.state = new ShardState(new Destinations(new OffHeap(memory), store));
    long from = restore(loaded);
    this.journal = journals.make(storeId);
    Listening listener = new Listening();
    long end = journal.start(from, listener);
    if (identity.used() && loaded.snapshot().isEmpty() && !replayed) {
      throw new IOException(
          "this store was used and is empty now: neither a snapshot nor a record is left in"
              + " snapshots/ and journal/, they were deleted or damaged; restore the data directory"
              + " from a backup, or start with an empty one to begin anew");
    }
    for (Destination destination : state.destinations().all()) {
      destination.durableLanes().forEach(DurableLane::show);
    }
    this.clean = state.stopped() && !replayed;
    state.links().started(loops.clock().wallMillis(), clean);
    this.window = new Window(memory, settings.memory().windowBytes(), end);
    this.fetcher = new Fetcher(loop, reads, journal, segments, memory);
    Checkpoints.Stores stores =
        new Checkpoints.Stores(
            segments,
            maker.make(segments, state),
            snapshots,
            ballast,
            destage,
            loop,
            cause -> fail("a checkpoint", cause));
    this.parts =
        new ShardParts(
            settings,
            identity,
            journal,
            window,
            state,
            loops.clock(),
            fetcher,
            new Beside(loop, loops.open("match")),
            new Overflow(store, overflowFiles, memory, this::marksMoved),
            stores,
            landings,
            made -> new ShardRunner(made, queue, loop, this));
    parts.runner().leads(listener.epoch);
    parts.checkpoints().startedFrom(from);
    if (!loaded.rejected().isEmpty()) {
      parts.checkpoints().want();
    }
    this.metricsTaker =
        new MetricsTaker(parts, memory, queue, loaded, from == 0 ? 0 : createdMillis(loaded));
    loop.onTurnEnd(this::endTurn);
    loops.whenOneDies(this::loopDied);
  }

  /** Which journal the shard has; a seam. */
  interface JournalMaker {
    /** A journal that is not started, for the store of this identity. */
    Journal make(UUID storeId);
  }

  /** How checkpoints destage; a seam. */
  interface DestagingMaker {
    Checkpoints.Destaging make(SegmentStore segments, ShardState state);
  }

  private static long createdMillis(SnapshotStore.Loaded loaded) {
    return loaded.snapshot().map(Snapshot::createdMillis).orElse(0L);
  }

  private static void report(SnapshotStore.Loaded loaded) {
    for (String reason : loaded.rejected()) {
      log.error("The newest snapshot is not there or damaged, an older one is used: {}", reason);
    }
    for (String orphan : loaded.orphans()) {
      log.info("No snapshot names segment {}; moved to orphaned/", orphan);
    }
  }

  private long restore(SnapshotStore.Loaded loaded) throws IOException {
    if (loaded.snapshot().isEmpty()) {
      return 0;
    }
    Snapshot snapshot = loaded.snapshot().get();
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
    return snapshot.offset();
  }

  /** What the journal tells: replay on the recovering thread, the rest on any. */
  private final class Listening implements Journal.Listener {
    private long epoch;

    @Override
    public void replay(long offset, ByteBuffer records) {
      long first = offset + Journal.Batch.HEADER_BYTES;
      BatchBytes bytes = BatchBytes.of(first, records.slice());
      RecordCodec.decode(
          first,
          records,
          record -> {
            state.apply(record, bytes);
            replayed = true;
          });
    }

    @Override
    public void leader(long newEpoch) {
      epoch = newEpoch;
    }

    @Override
    public void follower() {
      throw new IllegalStateException("a journal without a cluster has no leader to follow");
    }

    @Override
    public void failed(IOException cause) {
      execute(() -> fail("its journal", cause));
    }
  }

  private void execute(Runnable task) {
    if (!closing || !stopped.isDone()) {
      loop.execute(task);
    }
  }

  // ---- start ----

  /** Begins the new shard epoch. */
  void begin() {
    startEpoch = state.epoch() + 1;
    loop.execute(
        () -> {
          parts.time().look();
          reclaimAtNanos =
              parts.time().nanos() + settings.intervals().idleReclaimMillis() * 1_000_000L;
          parts.delays().recover();
          parts.budget().started();
          parts.batch().startsEpoch();
          parts.recorder().record(new Started(startEpoch, clean));
          parts.recorder().onShardWhenDurable(this::isUsed);
          tick();
        });
  }

  /** The first record is durable: from now on this store must not be found empty. */
  private void isUsed() {
    try {
      identity.markUsed(); // once in the life of a store, and before anybody is served
      ready.complete(null);
    } catch (IOException e) {
      fail("its identity, file \"store\",", e);
    }
  }

  CompletableFuture<Void> ready() {
    return ready;
  }

  CompletableFuture<Throwable> failure() {
    return failure;
  }

  long startEpoch() {
    return startEpoch;
  }

  /** What records have made; a look for tests. */
  ShardState state() {
    return state;
  }

  /** Whether the journal has written all of them; a look for tests. */
  boolean isWritten() {
    return parts.batch().isEmpty() && journal.written() >= journal.appended();
  }

  /** The most steps that selectors took in one turn so far; a look for tests. */
  long mostSelectorSteps() {
    return parts.work().mostOfTurn();
  }

  BrokerMetrics metrics() {
    return metrics;
  }

  // ---- on the loop ----

  /** Carries out what is in the mailbox. */
  void drain() {
    parts.runner().drain();
  }

  private void endTurn() {
    parts.runner().endTurn();
  }

  @Override
  public void marksMoved() {
    if (queue.wake()) {
      execute(this::drain);
    }
  }

  @Override
  public void ended(Journal.Outcome outcome) {
    // The journal's failure, which comes on its own, is what ends the shard.
  }

  private void tick() {
    if (ended) {
      return;
    }
    parts.time().look();
    if (metricsTaker.begin()) {
      takeMetrics();
    }
    if (!closing) { // nothing is recorded behind the record of an orderly stop
      parts.sessions().closeIdleLinks(64);
      parts.sessions().deleteOverdueTemporaries();
      parts.delays().tick();
      parts.janitor().tick();
      parts.retries().tick();
    }
    if (parts.publishing().isHolding()) {
      marksMoved();
    }
    if (settings.intervals().idleReclaimMillis() > 0
        && parts.time().nanos() - reclaimAtNanos >= 0) {
      reclaimAtNanos = parts.time().nanos() + settings.intervals().idleReclaimMillis() * 1_000_000L;
      reclaimIfWorthIt();
    }
    destage.execute(this::lookAtDisk);
    loop.schedule(TICK_NANOS, this::tick);
  }

  /** Takes a slice of the metrics; another turn goes on, behind whatever waits. */
  private void takeMetrics() {
    if (ended) {
      return;
    }
    parts.time().look();
    BrokerMetrics complete = metricsTaker.step();
    if (complete == null) {
      execute(this::takeMetrics);
    } else {
      metrics = complete;
    }
  }

  /** Sets how many destinations the metrics show one by one. */
  void showDestinations(int most) {
    loop.execute(() -> metricsTaker.show(most));
  }

  /** Asks for a checkpoint. */
  void wantCheckpoint() {
    loop.execute(parts.checkpoints()::want);
  }

  private void reclaimIfWorthIt() {
    parts
        .checkpoints()
        .lookForDeadBytes(
            dead -> {
              long all = 0;
              for (var segment : segments.segments()) {
                all += segment.entryBytes();
              }
              if (dead > 0 && dead >= all / 2) {
                parts.checkpoints().want();
              }
            });
  }

  private void lookAtDisk() {
    try {
      long usable = disk.usableBytes();
      long total = disk.totalBytes();
      loop.execute(
          () -> {
            boolean full =
                usable < settings.disk().minFreeBytes() || parts.checkpoints().outOfRoom();
            if (full != parts.placing().diskFull()) {
              log.warn(
                  "{} bytes are free, the limit is {}{}: persistent messages are {}",
                  usable,
                  settings.disk().minFreeBytes(),
                  parts.checkpoints().outOfRoom() ? ", and a checkpoint found no room" : "",
                  full ? "refused" : "taken again");
            }
            if (full) {
              parts.checkpoints().lookForDeadBytes(this::reclaimForRoom);
            }
            parts.placing().diskFull(full);
            metricsTaker.disk(usable, total);
          });
    } catch (IOException e) {
      log.warn("The room on the disk cannot be read", e);
    }
  }

  private void reclaimForRoom(long deadBytes) {
    if (deadBytes > settings.disk().minFreeBytes() / 8) {
      parts.checkpoints().want();
    }
  }

  // ---- end ----

  private void fail(String what, IOException cause) {
    if (ended) {
      return;
    }
    ended = true;
    log.error("The shard ends, nothing is tried again: {} has failed", what, cause);
    String text = "the broker has ended: " + what + " failed with " + FileFaults.text(cause);
    parts.runner().end();
    parts.checkpoints().close();
    parts.commands().end(FaultCode.BROKER_FAILED, text);
    tellAll(FaultCode.BROKER_FAILED, text);
    ready.completeExceptionally(cause);
    stopped.complete(null);
    failure.complete(cause);
  }

  /** Nobody waits any longer for a loop that is dead; the shard, if it lives, ends. */
  private void loopDied(IOException cause) {
    ready.completeExceptionally(cause);
    stopped.completeExceptionally(cause);
    failure.complete(cause);
    try {
      loop.execute(() -> fail("one of its loops", cause));
    } catch (RejectedExecutionException shardIsDead) {
      log.debug("The shard's own loop is dead; its connections are ended without it");
    }
  }

  private void tellAll(FaultCode code, String text) {
    for (PeerSession session : List.copyOf(parts.sessions().all())) {
      session.peer().disconnect(code, text);
    }
  }

  /** Commands that came after the loop was closed. */
  void refuseWaiting() {
    @Nullable Command next = queue.pollOther();
    while (next != null) {
      refuse(next);
      next = queue.pollOther();
    }
    next = queue.pollPublish(Long.MAX_VALUE);
    while (next != null) {
      refuse(next);
      next = queue.pollPublish(Long.MAX_VALUE);
    }
  }

  private static void refuse(Command command) {
    command.release();
    command.peer().disconnect(FaultCode.CLOSING, "the broker is closed");
  }

  /** Ends all connections, records a clean end and makes the last checkpoint. */
  CompletableFuture<Void> stop() {
    if (closing) {
      return stopped;
    }
    closing = true;
    try {
      loop.execute(this::stopNow);
    } catch (RejectedExecutionException loopIsDead) {
      stopped.completeExceptionally(new IOException("the shard's loop has died", loopIsDead));
    }
    return stopped;
  }

  private void stopNow() {
    if (ended) {
      return;
    }
    String text = "the broker is shutting down";
    parts.runner().endSlices();
    parts.withheld().releaseAll();
    parts.mover().end();
    for (PeerSession session : List.copyOf(parts.sessions().all())) {
      parts.sessions().dismiss(session, FaultCode.CLOSING, text);
    }
    parts.commands().end(FaultCode.CLOSING, text);
    parts.runner().recordStop();
    parts
        .checkpoints()
        .last(
            () -> {
              ended = true;
              parts.runner().end();
              stopped.complete(null);
            });
  }

  /** Closes files and gives memory back, also when loops have died. */
  void finish() throws IOException {
    try {
      onLoop(
          loop,
          () -> {
            ended = true;
            parts.runner().end();
            parts.checkpoints().close();
            refuseWaiting();
          });
    } finally {
      try {
        closeJournal();
      } finally {
        onLoop(reads, fetcher::close);
        onLoop(destage, this::closeSegments);
        onLoop(overflow, overflowFiles::close);
        window.close();
      }
    }
  }

  private void closeJournal() throws IOException {
    try {
      journal.close();
    } catch (RejectedExecutionException loopIsDead) {
      throw new IOException("a loop of the journal had died before it was closed", loopIsDead);
    }
  }

  private void closeSegments() {
    try {
      segments.close();
    } catch (IOException e) {
      log.warn("The segments could not be closed", e);
    }
  }

  /** Runs a task on a loop and waits; on this thread if the loop is dead. */
  private void onLoop(Loop owner, Runnable task) {
    try {
      loops.run(owner, task);
    } catch (RejectedExecutionException loopIsDead) {
      log.warn("Loop {} is dead; what it owned is closed without it", owner.name());
      task.run();
    }
  }
}
