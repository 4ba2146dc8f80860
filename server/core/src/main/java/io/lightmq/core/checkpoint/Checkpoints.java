package io.lightmq.core.checkpoint;

import io.lightmq.core.destination.LaneCheckpoint;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.NoFileHandleException;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.core.storage.segment.Reclaim;
import io.lightmq.core.storage.segment.SegmentException;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.snapshot.Ballast;
import io.lightmq.core.storage.snapshot.Snapshot;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.spi.Journal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checkpoints beside ingest: first it is added up what is needed of the segments; at an offset P
 * the state begins to be encoded; once P is durable, what somebody still needed at P is destaged
 * into segments and a snapshot names them; then the lanes are switched to them, and when all are,
 * the journal is trimmed to the older of the two kept snapshots. All of it is done in slices of a
 * millisecond a turn, however many destinations there are.
 *
 * <p>The plan is the state at P, never a newer one: what was acknowledged since may be lost with
 * the journal's tail, and the message would then be needed again.
 */
@OwnedBy("shard")
public final class Checkpoints {
  /** What checkpoints are made of. */
  public interface Applied {
    /** The state, another one after it was built again. */
    ShardState state();

    /** What is in it: all records below this offset of the journal. */
    long applied();
  }

  private static final Logger log = LoggerFactory.getLogger(Checkpoints.class);
  private static final long SLICE_NANOS = 1_000_000;
  private static final long RETRY_NANOS = 1_000_000_000;
  private static final long TELL_NANOS = 60_000_000_000L;
  private static final int LANES_PER_STEP = 64;

  /**
   * So many checkpoints in a row, with no other outcome between, are given up for bytes of the
   * journal that the device does not give; the next one takes what it gives, and what lies in the
   * other sectors is damaged.
   */
  public static final int MOST_UNREAD = 10;

  /**
   * What checkpoints work with besides the state.
   *
   * @param broken ends the shard, on its loop: the disk has failed otherwise than for want of room
   */
  public record Stores(
      SegmentStore segments,
      Destaging destaging,
      SnapshotStore snapshots,
      Ballast ballast,
      Loop destage,
      Loop shard,
      Consumer<IOException> broken) {}

  /** Writes what a plan keeps into segments; on the destage loop. */
  public interface Destaging {
    /** See {@link SegmentStore#destage}. */
    Destaged destage(DestagePlan plan, DestagePlan.JournalBytes bytes) throws IOException;
  }

  /** So many ranges that a follower found damaged are kept for an owner, who finds the rest. */
  static final int MOST_UNTOLD = 4_096;

  private enum Phase {
    IDLE,
    /** Somebody wants to know what is needed of the segments; no checkpoint follows. */
    LOOKING,
    /** The same, before a checkpoint. */
    PREPARING,
    ENCODING,
    /** All up to its offset is to become durable and readable. */
    WAITING,
    DESTAGING,
    /** The lanes are switched, unless it is given up, and the picture's memory is given back. */
    ENDING
  }

  private final Stores stores;
  private final Applied replica;
  private final Journal journal;
  private final TurnTime time;
  private @Nullable Leader leader;
  private final Rewriting rewriting;

  /** What was found damaged while nobody led. */
  private final List<Destaged.Damage> untold = new ArrayList<>();

  private Phase phase = Phase.IDLE;
  private @Nullable NeedScan scan;
  private @Nullable LongConsumer deadTaker;
  private @Nullable StateSnapshot picture;
  private @Nullable SwitchOver switchOver;
  private Runnable ended = () -> {};
  private Reclaim reclaim = new Reclaim(Set.of(), Set.of(), 0);
  private long offset;
  private long newestOffset;
  private long neededFrom;
  private long beganNanos;
  private long retryAtNanos = Long.MIN_VALUE;
  private long toldNanos = Long.MIN_VALUE;
  private boolean wanted;
  private boolean closed;
  private boolean outOfRoom;
  private int unread;
  private @Nullable Runnable whenDone;
  private long done;
  private long failed;
  private long lastNanos;

  /** Checkpoints, of which none is under way. */
  public Checkpoints(
      Stores stores, BrokerSettings settings, Applied replica, Journal journal, TurnTime time) {
    this.stores = stores;
    this.rewriting = new Rewriting(stores.segments(), settings.segments());
    this.replica = replica;
    this.journal = journal;
    this.time = time;
  }

  /** What only an owner can do for a checkpoint. */
  public interface Leader {
    /** Sees to it that the turn appends a batch, if need be an empty one. */
    void appendSomething();

    /** Takes what was damaged in the journal and lies in segments now. */
    void damaged(List<Destaged.Damage> damages);
  }

  /** An owner leads from now on; null for nobody, and then nothing may be appended. */
  public void led(@Nullable Leader by) {
    leader = by;
    if (by == null) {
      deadTaker = null;
    } else if (!untold.isEmpty()) {
      by.damaged(List.copyOf(untold));
      untold.clear();
    }
  }

  /** An owner sets it aside, this one or the next; a follower records nothing. */
  private void tellOf(List<Destaged.Damage> damages) {
    Leader owner = leader;
    if (owner != null) {
      owner.damaged(damages);
      return;
    }
    for (Destaged.Damage each : damages) {
      if (untold.size() < MOST_UNTOLD) {
        untold.add(each);
      }
    }
    if (!damages.isEmpty()) {
      log.error(
          "Damage: in the journal {} ranges of messages cannot be read, the first of which: {};"
              + " they are set aside when this node leads",
          damages.size(),
          damages.get(0).cause().getMessage());
    }
  }

  /** Behind all that is applied, at the end of a turn. */
  private long appliedEnd() {
    return leader == null ? replica.applied() : journal.appended();
  }

  /** Sets the offset of the snapshot that start used. */
  public void startedFrom(long snapshotOffset) {
    newestOffset = snapshotOffset;
    neededFrom = snapshotOffset;
  }

  /** Whether the last checkpoint was given up because the disk is full. */
  public boolean outOfRoom() {
    return outOfRoom;
  }

  /** Whether it cannot go on before the journal has. */
  public boolean isWaiting() {
    return phase == Phase.WAITING;
  }

  /** Asks for a checkpoint soon, whether the journal needs it or not. */
  public void want() {
    replica.state().guard().check();
    wanted = true;
  }

  /** Runs an effect when a checkpoint that begins from now on has ended, well or not. */
  public void last(Runnable effect) {
    want();
    retryAtNanos = Long.MIN_VALUE;
    whenDone = effect;
  }

  /** Gives up what is under way; nothing begins any more. */
  public void close() {
    if (!closed) {
      replica.state().guard().check(); // later it may be nobody's
    }
    closed = true;
    drop();
  }

  /**
   * The state is about to be another object that says the same. What is encoded of the old one is
   * encoded again; what is encoded is written and switched to.
   */
  public void stateChanges() {
    SwitchOver switching = switchOver;
    while (switching != null && !switching.step()) {
      // The new one takes over the places.
    }
    switchOver = null;
    if (phase == Phase.LOOKING) {
      phase = Phase.IDLE;
      scan = null;
    } else if (phase == Phase.PREPARING || phase == Phase.ENCODING) {
      drop();
      phase = Phase.IDLE;
      scan = null;
      wanted = true;
    }
  }

  private void drop() {
    if (picture != null && phase != Phase.DESTAGING) {
      picture.release(Integer.MAX_VALUE);
      picture = null;
      phase = Phase.IDLE;
    }
  }

  public long done() {
    return done;
  }

  public long failed() {
    return failed;
  }

  public long lastNanos() {
    return lastNanos;
  }

  public long newestOffset() {
    return newestOffset;
  }

  /** The segments that there are. */
  public List<SegmentInfo> segments() {
    return stores.segments().segments();
  }

  // ---- a turn's share ----

  /** Begins a checkpoint if one is due, and does the next slice. Nothing is unappended. */
  public void turn() {
    if (closed) {
      return;
    }
    replica.state().guard().check();
    if (phase == Phase.IDLE && isDue()) {
      scan = new NeedScan(replica.state());
      phase = Phase.PREPARING;
    }
    if (phase == Phase.IDLE || phase == Phase.DESTAGING) {
      return;
    }
    if (phase == Phase.WAITING) {
      step(); // a mark that moves makes a turn
      return;
    }
    long until = time.nowNanos() + SLICE_NANOS;
    Phase before = phase;
    boolean complete = step();
    while (!complete && time.nowNanos() - until < 0) {
      complete = step();
    }
    if (!closed && (!complete || phase != before)) {
      // Another turn goes on with it; whatever waits in the mailbox comes first.
      stores.shard().execute(() -> {});
    }
  }

  /** Does a little more; whether that was all there is to do in this turn. */
  private boolean step() {
    NeedScan looking = scan;
    StateSnapshot encoding = picture;
    switch (phase) {
      case LOOKING -> {
        if (looking == null || !looking.step()) {
          return false;
        }
        phase = Phase.IDLE;
        scan = null;
        tellDead(looking);
      }
      case PREPARING -> {
        if (looking == null || !looking.step()) {
          return false;
        }
        Leader owner = leader;
        if (appliedEnd() != newestOffset) {
          begin(looking);
        } else if (owner != null) {
          // Each snapshot has an offset of its own: an empty batch makes one.
          owner.appendSomething();
          stores.shard().execute(() -> {});
        } else {
          // A follower has no offset of its own to make one at, and nothing new to say.
          wanted = false;
          scan = null;
          phase = Phase.IDLE;
          finished();
        }
      }
      case ENCODING -> {
        if (encoding == null || !encoding.step()) {
          return false;
        }
        phase = Phase.WAITING;
        journal.force();
      }
      case WAITING -> {
        if (encoding != null && Math.min(journal.durable(), journal.readable()) >= offset) {
          phase = Phase.DESTAGING;
          destage(encoding);
        }
      }
      case ENDING -> {
        if (switchOver != null && !switchOver.step()) {
          return false;
        }
        switchOver = null;
        if (encoding != null && !encoding.release(LANES_PER_STEP)) {
          return false;
        }
        picture = null;
        phase = Phase.IDLE;
        ended.run();
      }
      case IDLE, DESTAGING -> {}
    }
    return true;
  }

  private boolean isDue() {
    if (retryAtNanos != Long.MIN_VALUE && time.nowNanos() - retryAtNanos < 0) {
      return false;
    }
    long past = appliedEnd() - newestOffset;
    return wanted
        || past > journal.capacityBytes() / 3
        || ((past > 0 || isTrimmable()) && journal.usedBytes() > journal.capacityBytes() / 3 * 2);
  }

  /**
   * Whether one more snapshot would let the journal go that the older of the two kept still needs.
   * All may wait for that room, so that nothing is appended that would ask for a checkpoint.
   */
  private boolean isTrimmable() {
    return newestOffset - neededFrom > Journal.Batch.HEADER_BYTES;
  }

  private void begin(NeedScan looked) {
    wanted = false;
    scan = null;
    offset = appliedEnd();
    beganNanos = time.nowNanos();
    reclaim = rewriting.choose(looked.liveBytes());
    picture = new StateSnapshot(replica.state(), reclaim.rewrite());
    phase = Phase.ENCODING;
  }

  /**
   * Tells, in a later turn, how many bytes in segments nobody needs. Not while a checkpoint is
   * under way, which takes care of them, or somebody else asks.
   */
  public void lookForDeadBytes(LongConsumer taker) {
    replica.state().guard().check();
    if (!closed && phase == Phase.IDLE) {
      scan = new NeedScan(replica.state());
      deadTaker = taker;
      phase = Phase.LOOKING;
      stores.shard().execute(() -> {});
    }
  }

  private void tellDead(NeedScan looked) {
    LongConsumer taker = deadTaker;
    deadTaker = null;
    if (taker != null) {
      taker.accept(rewriting.deadBytes(looked.liveBytes()));
    }
  }

  // ---- destage ----

  private void destage(StateSnapshot encoded) {
    if (closed) {
      encoded.release(Integer.MAX_VALUE);
      return;
    }
    long planOffset = offset;
    Reclaim chosen = reclaim;
    boolean takeWhatComes = unread >= MOST_UNREAD;
    long nowMillis = time.millis();
    List<SegmentInfo> before = stores.segments().segments();
    stores
        .destage()
        .execute(
            () -> {
              DestagePlan plan =
                  new DestagePlan(
                      planOffset,
                      encoded.lanes().stream().map(LaneCheckpoint::plan).toList(),
                      chosen.rewrite(),
                      takeWhatComes);
              try {
                Destaged destaged = stores.destaging().destage(plan, journal::read);
                publish(encoded, plan, chosen, before, destaged, nowMillis);
              } catch (IOException e) {
                stores.shard().execute(() -> abandoned(encoded, plan, e));
              }
            });
  }

  /** On the destage loop: the journal is durable up to the plan's offset. */
  private void publish(
      StateSnapshot encoded,
      DestagePlan plan,
      Reclaim chosen,
      List<SegmentInfo> before,
      Destaged destaged,
      long nowMillis)
      throws IOException {
    Snapshot snapshot = Contents.of(encoded, plan, chosen, before, destaged, nowMillis);
    SnapshotStore.Published published;
    try {
      published = stores.snapshots().publish(snapshot);
    } catch (DiskFullException | NoFileHandleException e) {
      stores.segments().abandon(destaged);
      throw e;
    }
    // After any other failure the snapshot may have its name; start then needs these segments.
    SwitchOver.Places places = SwitchOver.Places.of(snapshot.pieces(), plan);
    stores.shard().execute(() -> switchOver(encoded, places, published, destaged.damages()));
    try {
      stores.ballast().refill();
    } catch (IOException e) {
      log.warn("The ballast could not be filled again; the next checkpoint tries it", e);
    }
  }

  // ---- back on the shard ----

  private void switchOver(
      StateSnapshot encoded,
      SwitchOver.Places places,
      SnapshotStore.Published published,
      List<Destaged.Damage> damages) {
    if (closed) {
      encoded.release(Integer.MAX_VALUE);
      return;
    }
    tellOf(damages);
    switchOver = new SwitchOver(replica.state(), places);
    end(() -> switchedOver(places.offset(), published));
  }

  /** The picture is needed no more; then an effect runs, in this turn or a later one. */
  private void end(Runnable effect) {
    phase = Phase.ENDING;
    ended = effect;
  }

  /** No lane names what lies before the older of the kept snapshots any more. */
  private void switchedOver(long snapshotOffset, SnapshotStore.Published published) {
    newestOffset = snapshotOffset;
    retryAtNanos = Long.MIN_VALUE;
    rewriting.done();
    outOfRoom = false;
    unread = 0;
    toldNanos = Long.MIN_VALUE;
    done++;
    lastNanos = time.nowNanos() - beganNanos;
    neededFrom = published.journalNeededFrom();
    journal.trim(neededFrom);
    Set<Long> unneeded = published.unneededSegments();
    stores
        .destage()
        .execute(
            () -> {
              try {
                stores.segments().delete(unneeded);
              } catch (IOException e) {
                log.warn(
                    "Segments {} could not be deleted; start will move them away", unneeded, e);
              }
            });
    for (String leftover : published.leftovers()) {
      log.warn("An old file stays until the next snapshot: {}", leftover);
    }
    finished();
  }

  private void abandoned(StateSnapshot encoded, DestagePlan plan, IOException cause) {
    failed++;
    boolean passes = cause instanceof NoFileHandleException || cause instanceof SegmentException;
    if (closed || !(DiskFullException.isFull(cause) || passes)) {
      encoded.release(Integer.MAX_VALUE);
      picture = null;
      phase = Phase.IDLE;
      if (!closed) {
        // What a failed write or force has left on the disk is not known: nothing is tried again.
        stores.broken().accept(cause);
      }
      return;
    }
    if (!(cause instanceof NoFileHandleException)) {
      rewriting.notNow(plan.rewrite());
    }
    if (cause instanceof SegmentException.NotRewritable damaged) {
      rewriting.damaged(damaged.segmentAddress());
    }
    boolean notGiven = cause instanceof SegmentException.Unread not && not.isOfJournalBytes();
    unread = notGiven ? unread + 1 : 0;
    boolean full = DiskFullException.isFull(cause);
    if (!(full && outOfRoom) && isToBeTold()) {
      log.warn(
          "Checkpoint at offset {} is given up{}; tried again each {} ms, the next such line comes"
              + " in 60 s at the earliest",
          plan.offset(),
          full ? " for want of room, the ballast is released and persistent messages refused" : "",
          RETRY_NANOS / 1_000_000,
          cause);
    }
    outOfRoom = full;
    if (full) {
      stores.destage().execute(this::releaseBallast);
    }
    end(
        () -> {
          retryAtNanos = time.nowNanos() + RETRY_NANOS;
          wanted |= whenDone == null;
          stores.shard().schedule(RETRY_NANOS, () -> {});
          finished();
        });
  }

  private boolean isToBeTold() {
    long now = time.nowNanos();
    if (toldNanos != Long.MIN_VALUE && now - toldNanos < TELL_NANOS) {
      return false;
    }
    toldNanos = now;
    return true;
  }

  private void releaseBallast() {
    try {
      stores.ballast().release();
    } catch (IOException e) {
      log.warn("The ballast could not be released", e);
    }
  }

  private void finished() {
    Runnable effect = whenDone;
    if (effect != null && !wanted) {
      whenDone = null;
      effect.run();
    }
  }
}
