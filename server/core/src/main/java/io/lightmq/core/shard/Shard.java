package io.lightmq.core.shard;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of one shard on this node: a {@link Replica} that recovers and follows, and an {@link
 * Owner} as long as the journal says that this node leads. Recovery runs on a thread that may
 * block, and hands the state to the shard's loop; from then on it is touched there only.
 *
 * <pre>
 * RECOVERING ──► FOLLOWING ──► LEADING ──► FOLLOWING   the owner is dropped, what is in a record
 *      ▲                          │                    is kept
 *      └──────────────────────────┘  something was applied that is not committed: the state is
 *                                    thrown away and built again from snapshot and journal
 * any ──► CLOSING ──► ENDED, and ENDED at once when something fails; what the journal tells then
 *                     is not applied any more, and a leader that closes may still lose its lead
 * </pre>
 */
final class Shard implements ShardRunner.Home {
  private static final Logger log = LoggerFactory.getLogger(Shard.class);
  private static final long TICK_NANOS = 1_000_000_000;
  private static final String NOT_LEADING =
      "this broker does not lead now, it follows another one; connect again";

  private final Member member;
  private final Loop loop;
  private final CommandQueue queue;
  private final ShardSeams seams;
  private final Journal journal;
  private final KeptBack told;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private volatile BrokerMetrics metrics = BrokerMetrics.NONE;
  private volatile long leadEpoch;

  /** Batches of all owners that are committed; the journal counts before it tells anything else. */
  private final AtomicLong doneBatches = new AtomicLong();

  /** How many were before the owner of now. */
  private long doneBefore;

  private volatile Life life = Life.RECOVERING;
  private @Nullable Replica replica;
  private @Nullable Owner owner;
  private int shownDestinations = Shown.DEFAULT;
  private long reclaimAtNanos;
  private BrokerMetrics.DiskUse disk = new BrokerMetrics.DiskUse(0, 0);
  private final StandstillWatch standstill = new StandstillWatch();

  private Shard(Member member, CommandQueue queue, ShardSeams seams, Journal journal) {
    this.member = member;
    this.loop = member.shard();
    this.queue = queue;
    this.seams = seams;
    this.journal = journal;
    this.told = new KeptBack(this::execute);
  }

  /** Recovers the shard of a data directory, which follows from {@link #begin} on. Blocks. */
  static Shard recover(
      BrokerSettings wanted,
      Disk disk,
      Loops loops,
      Loop loop,
      CommandQueue queue,
      ShardSeams seams)
      throws IOException {
    Member member = Member.open(wanted, disk, loops, loop, seams.touchedAhead());
    Journal journal =
        seams.journals().make(disk, loops, wanted.journal(), member.identity().storeId());
    Shard shard = new Shard(member.within(journal.maxBatchBytes()), queue, seams, journal);
    shard.replica =
        shard.recover((from, taker) -> journal.start(from, shard.told, shard.new Listening(taker)));
    loop.onTurnEnd(shard::endTurn);
    loops.whenOneDies(shard::loopDied);
    return shard;
  }

  private Replica recover(Replica.Feed feed) throws IOException {
    return Replica.recover(member, seams, journal, feed, cause -> fail("a checkpoint", cause));
  }

  /** The state and what is around it; others look at it in tests only. */
  Replica replica() {
    Replica there = replica;
    if (there == null) {
      throw new IllegalStateException("the shard has no state yet");
    }
    return there;
  }

  private void execute(Runnable task) {
    if (life != Life.ENDED) {
      loop.execute(task);
    }
  }

  // ---- what the journal tells ----

  /** Told at start on the recovering thread, then on the shard's loop. */
  private final class Listening implements Journal.Listener {
    private final Journal.Replay found;

    Listening(Journal.Replay found) {
      this.found = found;
    }

    @Override
    public void replay(long offset, ByteBuffer records) {
      found.replay(offset, records);
    }

    @Override
    public void leader(long epoch, long from) {
      lead(epoch, from);
    }

    @Override
    public void follower() {
      resign(0);
    }

    @Override
    public void lost(int pending) {
      resign(pending);
    }

    @Override
    public void committed(long offset, ByteBuffer records) {
      follow(offset, records);
    }

    @Override
    public void failed(IOException cause) {
      fail("its journal", cause);
    }
  }

  /** Begins: what the journal has told meanwhile is heard. */
  void begin() {
    loop.execute(
        () -> {
          if (life != Life.RECOVERING) {
            return; // one of its loops has died meanwhile
          }
          life = Life.FOLLOWING;
          member.time().look();
          reclaimLater();
          told.open();
          tick();
        });
  }

  private void follow(long offset, ByteBuffer records) {
    if (life == Life.CLOSING || life == Life.ENDED) {
      return; // the next start reads it
    }
    if (life != Life.FOLLOWING) {
      throw new IllegalStateException(
          "the journal tells of a batch at " + offset + " while the shard is " + life);
    }
    Replica there = replica();
    if (offset < there.recoveredTo()) {
      return; // it was shown when the state was built again
    }
    if (offset != there.applied()) {
      throw new IllegalStateException(
          "the journal goes on at " + offset + ", and the state ends at " + there.applied());
    }
    there.follow(offset, records);
  }

  private void lead(long epoch, long from) {
    if (life != Life.FOLLOWING) {
      return; // it closes, or has failed
    }
    Replica there = replica();
    if (from < there.recoveredTo()) {
      return; // another one has led while the state was built again, which is told next
    }
    if (from != there.applied()) {
      throw new IllegalStateException(
          "the journal leads from " + from + ", and the state ends at " + there.applied());
    }
    life = Life.LEADING;
    doneBefore = doneBatches.get();
    member.time().begin(there.newestMillis());
    Owner made = new Owner(there, queue, journal, seams.landings(), this, epoch, from);
    made.metrics().show(shownDestinations);
    made.metrics().disk(disk);
    owner = made;
    long began = there.state().epoch() + 1;
    made.start(() -> hasBegun(began));
  }

  /**
   * The first record of an owner is durable: from now on this store must not be found empty, and
   * nobody else begins the same shard epoch, as the next one does if the record is lost.
   */
  private void hasBegun(long shardEpoch) {
    leadEpoch = shardEpoch;
    try {
      member.identity().markUsed(); // once in the life of a store, and before anybody is served
      ready.complete(null);
    } catch (IOException e) {
      fail("its identity, file \"store\",", e);
    }
  }

  /** This node leads no more: what the owner had is given up, and if need be the state too. */
  private void resign(int pending) {
    Owner leaving = owner;
    boolean closing = life == Life.CLOSING;
    if (leaving == null || !(closing || life == Life.LEADING)) {
      return;
    }
    long applied = leaving.appliedEnd();
    // What it went on to append while this was on its way was refused, though nothing was pending.
    boolean committed =
        pending == 0
            && leaving.hasAppendedAll()
            && leaving.appendedBatches() == doneBatches.get() - doneBefore;
    leaving.drop(FaultCode.CLOSING, NOT_LEADING);
    owner = null;
    metrics = BrokerMetrics.NONE;
    Replica there = replica();
    if (committed) {
      there.shed(applied);
      life = closing ? Life.CLOSING : Life.FOLLOWING; // a last checkpoint is of what is committed
      return;
    }
    log.warn(
        "This broker does not lead any more. Of what it had applied up to offset {}, {} batches"
            + " were under way; {}",
        applied,
        pending,
        closing
            ? "it closes without a last checkpoint, and the next start reads the journal"
            : "its state is built again from snapshot and journal");
    if (closing) {
      there.forget(); // nothing of what may not be committed gets into a snapshot
      stoppedInOrder();
      return;
    }
    life = Life.RECOVERING;
    told.close();
    there.forget();
    // Behind a checkpoint that is being written: what that leaves is what is read.
    member.destage().execute(() -> buildAgain(there));
  }

  private void buildAgain(Replica before) {
    before.closeSegments();
    try {
      Replica built = recover(journal::replay);
      loop.execute(() -> built(built));
    } catch (IOException e) {
      loop.execute(() -> fail("building the state again", e));
    }
  }

  private void built(Replica built) {
    replica = built;
    if (life == Life.RECOVERING) {
      life = Life.FOLLOWING;
      told.open();
    }
  }

  // ---- what others ask ----

  CompletableFuture<Void> ready() {
    return ready;
  }

  CompletableFuture<Throwable> failure() {
    return failure;
  }

  /** Which store this is: the same as long as there is its data. */
  UUID storeId() {
    return member.identity().storeId();
  }

  /** The newest shard epoch that durably began here; 0 before the first. */
  long epoch() {
    return leadEpoch;
  }

  Life life() {
    return life;
  }

  /** What is taken outside the heap; a look for tests. */
  Map<String, Long> memory() {
    return member.memory().usedByPurpose();
  }

  /** Whether the journal has written all of them; a look for tests. */
  boolean isWritten() {
    Owner leading = owner;
    return (leading == null || leading.hasAppendedAll()) && journal.written() >= journal.appended();
  }

  /** Who decides here; null if this node does not lead. A look for tests. */
  @Nullable Owner owner() {
    return owner;
  }

  BrokerMetrics metrics() {
    return metrics;
  }

  // ---- on the loop ----

  @Override
  public void drain() {
    Owner leading = owner;
    if (leading != null) {
      leading.runner().drain();
    } else {
      queue.draining();
      queue.dismissAll(NOT_LEADING);
    }
  }

  private void endTurn() {
    Owner leading = owner;
    if (leading != null) {
      leading.runner().endTurn();
    } else if (life == Life.FOLLOWING || life == Life.CLOSING) {
      replica().checkpoints().turn();
    }
  }

  @Override
  public void marksMoved() {
    if (queue.wake()) {
      execute(this::drain);
    }
  }

  @Override
  public void ended(Journal.Outcome outcome) {
    if (outcome == Journal.Outcome.DONE) {
      doneBatches.incrementAndGet();
      marksMoved();
    }
    // Else the journal tells on its own why: it has failed, or this node leads no more.
  }

  private void tick() {
    if (life == Life.ENDED) {
      return;
    }
    member.time().look();
    Owner leading = owner;
    if (leading != null) {
      if (leading.metrics().begin()) {
        takeMetrics(leading);
      }
      leading.tick();
      if (leading.isHolding()) {
        marksMoved();
      }
    }
    int idle = member.settings().intervals().idleReclaimMillis();
    if (leading != null && idle > 0 && member.time().nanos() - reclaimAtNanos >= 0) {
      reclaimLater();
      leading.reclaimIfWorthIt();
    }
    if (life == Life.CLOSING) {
      lookWhetherItGetsOn();
    }
    member.destage().execute(this::lookAtDisk);
    loop.schedule(TICK_NANOS, this::tick);
  }

  private void reclaimLater() {
    reclaimAtNanos =
        member.time().nanos() + member.settings().intervals().idleReclaimMillis() * 1_000_000L;
  }

  /** Takes a slice of the metrics; another turn goes on, behind whatever waits. */
  private void takeMetrics(Owner of) {
    if (owner != of || life == Life.ENDED) {
      return;
    }
    member.time().look();
    BrokerMetrics complete = of.metrics().step();
    if (complete == null) {
      execute(() -> takeMetrics(of));
    } else {
      metrics = complete;
    }
  }

  /** Sets how many destinations the metrics show one by one. */
  void showDestinations(int most) {
    loop.execute(
        () -> {
          shownDestinations = most;
          Owner leading = owner;
          if (leading != null) {
            leading.metrics().show(most);
          }
        });
  }

  /** Asks for a checkpoint. */
  void wantCheckpoint() {
    told.execute(() -> replica().checkpoints().want()); // kept for a state that is being built
  }

  private void lookAtDisk() {
    try {
      BrokerMetrics.DiskUse use =
          new BrokerMetrics.DiskUse(member.disk().usableBytes(), member.disk().totalBytes());
      loop.execute(() -> sawDisk(use));
    } catch (IOException e) {
      log.warn("The room on the disk cannot be read", e);
    }
  }

  private void sawDisk(BrokerMetrics.DiskUse use) {
    disk = use;
    Owner leading = owner;
    if (leading != null) {
      leading.sawDisk(use);
    }
  }

  // ---- end ----

  private void fail(String what, IOException cause) {
    if (life == Life.ENDED) {
      return;
    }
    life = Life.ENDED;
    log.error("The shard ends, nothing is tried again: {} has failed", what, cause);
    String text = "the broker has ended: " + what + " failed with " + FileFaults.text(cause);
    replica().checkpoints().close();
    Owner leading = owner;
    if (leading != null) {
      leading.end();
      leading.disconnectAll(FaultCode.BROKER_FAILED, text);
    }
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

  /** Commands that came after the loop was closed. */
  void refuseWaiting() {
    queue.dismissAll("the broker is closed");
  }

  /** Ends all connections, records a clean end and makes the last checkpoint. */
  CompletableFuture<Void> stop() {
    try {
      loop.execute(this::stopNow);
    } catch (RejectedExecutionException loopIsDead) {
      stopped.completeExceptionally(new IOException("the shard's loop has died", loopIsDead));
    }
    return stopped;
  }

  private void stopNow() {
    if (life == Life.ENDED || life == Life.CLOSING) {
      return;
    }
    boolean recovering = life == Life.RECOVERING;
    life = Life.CLOSING;
    Owner leading = owner;
    if (leading != null) {
      leading.stop(FaultCode.CLOSING, "the broker is shutting down");
    }
    ready.completeExceptionally(new IOException("the broker was closed before it led"));
    if (recovering) {
      stoppedInOrder(); // what is built again is in the files already
    } else {
      replica().checkpoints().last(this::stoppedInOrder);
    }
  }

  /**
   * A leader without the others of its cluster would wait for ever for its last batches. Whoever
   * leads alone waits for its own disk only, however slow, and so ends in order.
   */
  private void lookWhetherItGetsOn() {
    if (journal.mayGiveUntil() == Long.MAX_VALUE) {
      return;
    }
    Checkpoints checkpoints = replica().checkpoints();
    long reached = Math.min(journal.durable(), journal.readable());
    if (standstill.isOver(checkpoints.isWaiting(), reached, member.time().nanos())) {
      log.warn(
          "The broker closes without a last checkpoint: the journal is durable up to offset {} of"
              + " {} and has not got on for {} ms. Whether the rest and the record of an orderly"
              + " end stay is not known; the next start reads the journal from offset {} on",
          reached,
          journal.appended(),
          StandstillWatch.MOST_NANOS / 1_000_000,
          checkpoints.newestOffset());
      checkpoints.close();
      stoppedInOrder();
    }
  }

  private void stoppedInOrder() {
    life = Life.ENDED;
    Owner leading = owner;
    if (leading != null) {
      leading.end();
    }
    stopped.complete(null);
  }

  /** Closes files and gives memory back, also when loops have died. */
  void finish() throws IOException {
    try {
      onLoop(member.destage(), () -> {}); // a state that is being built is there, and closed below
      onLoop(
          loop,
          () -> {
            life = Life.ENDED;
            Owner leading = owner;
            if (leading != null) {
              leading.end();
            }
            replica().checkpoints().close();
            refuseWaiting();
          });
    } finally {
      try {
        closeJournal();
      } finally {
        Owner leading = owner;
        if (leading != null) {
          onLoop(member.reads(), leading::closeReads);
        }
        onLoop(member.destage(), () -> replica().closeSegments());
        onLoop(member.overflow(), member.overflowFiles()::close);
        member.window().close();
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

  /** Runs a task on a loop and waits; on this thread if the loop is dead. */
  private void onLoop(Loop where, Runnable task) {
    try {
      member.loops().run(where, task);
    } catch (RejectedExecutionException loopIsDead) {
      log.warn("Loop {} is dead; what it owned is closed without it", where.name());
      if (where == loop) {
        replica().state().guard().takeOver();
      }
      task.run();
    }
  }
}
