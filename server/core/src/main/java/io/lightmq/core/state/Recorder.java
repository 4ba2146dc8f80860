package io.lightmq.core.state;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.RecordWriter;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Committed;
import io.lightmq.core.record.ShardRecord.Epoch;
import io.lightmq.core.record.ShardRecord.Part;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Released;
import io.lightmq.core.record.ShardRecord.ReleasedLane;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.spi.Durability;
import io.lightmq.spi.Journal;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.EntryStamp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Turns what was decided into state: each record is put into the turn's batch and applied before
 * anything else is looked at. Only effects and visibility wait for the journal.
 *
 * <p>What happens later says where: {@link #onJournal} on a thread of the journal's, which may
 * touch nothing of the shard, {@link #onShard} and {@link #atTurnEnd} on the shard, and {@code
 * anywhere} on either.
 */
@OwnedBy("shard")
public final class Recorder {
  private final Guard guard;
  private final ShardState state;
  private final BatchBuilder batch;
  private final RecordWriter writer;
  private final Journal journal;
  private final Unrecorded unrecorded;
  private final OffsetEffects offsetEffects = new OffsetEffects();

  /** What the shard itself does once the journal is written up to an offset. */
  private final OffsetEffects written = new OffsetEffects();

  private List<Runnable> turnEffects = new ArrayList<>();
  private long createdOffset;
  private boolean lazyForce;
  private boolean forcedBeside;
  private long changes;
  private Subscription.Touches touches = (subscription, lane, from, count) -> {};

  public Recorder(ShardState state, BatchBuilder batch, Journal journal) {
    this.guard = state.guard();
    this.state = state;
    this.batch = batch;
    this.writer = new RecordWriter(batch);
    this.journal = journal;
    this.unrecorded = new Unrecorded(guard);
  }

  /** Who may touch this and what works with it. */
  public Guard guard() {
    return guard;
  }

  /** What the records are applied to, and so what is to be looked at before one is made. */
  public ShardState state() {
    return state;
  }

  /** What stands in no record of a run. */
  public Unrecorded unrecorded() {
    return unrecorded;
  }

  /** Who is told of what has to be touched with the run that brings it. */
  public void touches(Subscription.Touches taker) {
    guard.check();
    touches = taker;
  }

  /** A producer may send to the destination: in a tier that waits for no force, none delays it. */
  public void mayBeSentTo(Destination destination) {
    guard.check();
    if (!forcedBeside && destination.settings().tier().mark() == Mark.WRITTEN) {
      forcedBeside = true;
      journal.forceBeside();
    }
  }

  /** Rises before anything is recorded, or changed without a record. */
  public long changes() {
    return changes;
  }

  /** Something is about to change that is in no record. */
  public void changing() {
    guard.check();
    changes++;
  }

  /** Records and applies a fact that holds no entries. */
  public void record(ShardRecord record) {
    guard.check();
    changes++;
    writer.write(record);
    state.apply(record, batch);
  }

  /** Runs an effect once the turn's batch has reached a mark, on the journal's threads. */
  public void onJournal(Mark mark, Runnable effect) {
    guard.check();
    batch.effect(mark, effect);
  }

  /** Runs an effect on the shard at the end of the turn. */
  public void atTurnEnd(Runnable effect) {
    guard.check();
    turnEffects.add(effect);
  }

  /**
   * Runs an effect once all that was recorded so far is durable, on the journal's threads or on the
   * shard.
   */
  public void anywhereOnceDurable(Runnable effect) {
    guard.check();
    if (!batch.isEmpty()) {
      onJournal(Mark.DURABLE, effect);
    } else if (journal.durable() >= journal.appended()) {
      atTurnEnd(effect);
    } else {
      offsetEffects.add(journal.appended(), effect);
      journal.force();
    }
  }

  /** Runs an effect on the shard once the turn's batch has reached a mark. */
  public void onShard(Mark mark, Runnable effect) {
    guard.check();
    if (mark == Mark.WRITTEN) {
      written.add(batchOffset(), effect);
      batch.shardWaitsForWritten();
    } else {
      offsetEffects.add(batchOffset(), effect);
      batch.wantsForce();
    }
  }

  /** Records that a destination exists from now on. */
  public void create(ShardRecord.DestinationCreated created) {
    guard.check();
    record(created);
    createdOffset = batchOffset();
  }

  /**
   * Runs an effect that tells a destination's id, once no crash can give that id to another; on the
   * journal's threads or on the shard.
   */
  public void anywhereOnceIdsAreDurable(Runnable effect) {
    if (journal.durable() >= createdOffset) {
      atTurnEnd(effect);
    } else {
      anywhereOnceDurable(effect);
    }
  }

  /** The journal is written and durable up to offsets: runs what the shard itself waited for. */
  public void reached(long writtenOffset, long durableOffset) {
    guard.check();
    written.reached(writtenOffset);
    offsetEffects.reached(durableOffset);
  }

  /** Runs the effects that waited for the end of the turn. */
  public void runTurnEffects() {
    guard.check();
    while (!turnEffects.isEmpty()) {
      List<Runnable> effects = turnEffects;
      turnEffects = new ArrayList<>();
      effects.forEach(Runnable::run);
    }
  }

  /** Somebody waits until the turn's batch is durable. */
  public void wantsForce() {
    guard.check();
    batch.wantsForce();
  }

  /** An offset that is durable exactly when the turn's batch is. */
  public long batchOffset() {
    guard.check();
    batch.position();
    return batch.begin() + 1;
  }

  /** Whether a batch that nobody forces was begun since the last call. */
  public boolean takeLazyForce() {
    guard.check();
    boolean taken = lazyForce;
    lazyForce = false;
    return taken;
  }

  /** Records a run of one lane, whose messages become visible with their destination's mark. */
  public void publish(
      UUID link,
      long number,
      DurableLane lane,
      EntryStamp stamp,
      RecordWriter.Expiry times,
      LaneRun run) {
    guard.check();
    changes++;
    long first = firstSequence(lane, run.count());
    state.apply(write(link, number, first, stamp, times, run), batch);
    unrecorded.landed(lane, first, run);
    touch(lane, first, run.count());
    show(lane, lane.destination().settings().tier().mark());
  }

  private Published write(
      @Nullable UUID link,
      long number,
      long first,
      EntryStamp stamp,
      RecordWriter.Expiry expiry,
      LaneRun run) {
    return writer.writeRun(
        link, number, first, stamp, run.count(), run.messages(), unwanted(run), expiry);
  }

  private static List<Unwanted> unwanted(LaneRun run) {
    if (run.skips().isEmpty()) {
      return List.of();
    }
    List<Unwanted> unwanted = new ArrayList<>(run.skips().size());
    for (Skip skip : run.skips()) {
      if (skip.subscription().kind().isDurable()) {
        unwanted.add(new Unwanted(skip.subscription().id(), skip.messages()));
      }
    }
    return unwanted;
  }

  private void landed(DurableLane lane, long first, LaneRun run) {
    StagedQueue staged = StagedQueue.of(lane.destination());
    if (staged == null) {
      unrecorded.landed(lane, first, run);
      return;
    }
    // Nobody sees it before it is released; who does not want it then is known now.
    StagedTransaction transaction = state.transactions().get(staged.transaction());
    for (Skip skip : run.skips()) {
      if (!skip.subscription().kind().isDurable()) {
        transaction.unwanted(
            lane.destination().id(), skip.subscription().id(), lane.code(), first, skip.messages());
      }
    }
  }

  private void touch(DurableLane lane, long first, long count) {
    for (Subscription subscription : lane.destination().subscriptions()) {
      subscription.seen().touchForRun(lane, first, (int) count, touches);
    }
  }

  /** Makes what was appended to a lane visible with the turn's batch. */
  public void show(Lane lane, Mark mark) {
    guard.check();
    lane.await(batchOffset(), mark);
    if (mark == Mark.WRITTEN) {
      batch.shardWaitsForWritten();
    }
    lazyForce |=
        mark == Mark.WRITTEN && lane.destination().settings().tier() == Durability.BALANCED;
  }

  /** The sequence of the next message of a lane; begins another epoch if the counter is used up. */
  public long firstSequence(Lane lane, int count) {
    guard.check();
    if (!lane.hasRoom(state.epoch(), count)) {
      record(new Epoch(state.epoch() + 1));
    }
    return lane.tail(state.epoch());
  }

  /**
   * A record of several parts that is being written: of a transaction, of a run with several
   * priorities, or of a move. Nothing else may be recorded before {@link #end}.
   */
  public final class Compound {
    private final @Nullable UUID link;
    private final long number;
    private final Mark mark;
    private final List<Part> parts = new ArrayList<>();
    private final Map<DurableLane, Long> next = new LinkedHashMap<>();
    private final Map<DurableLane, Long> firsts = new HashMap<>();
    private final List<Runnable> runs = new ArrayList<>();

    private Compound(@Nullable UUID link, long number, int parts, Mark mark) {
      guard.check();
      changes++;
      this.link = link;
      this.number = number;
      this.mark = mark;
      writer.beginCommitted(link, number, parts);
    }

    /** Adds a run. */
    public void publish(
        DurableLane lane, EntryStamp stamp, RecordWriter.Expiry times, LaneRun run) {
      guard.check();
      Long known = next.get(lane);
      long first = known == null ? lane.tail(state.epoch()) : known;
      next.put(lane, first + run.count());
      firsts.putIfAbsent(lane, first);
      parts.add(write(null, 0, first, stamp, times, run));
      runs.add(() -> landed(lane, first, run));
    }

    /** Adds what brings no messages. */
    public void add(Part part) {
      guard.check();
      writer.write(part);
      parts.add(part);
    }

    /**
     * Adds that what was staged of a transaction is where it belongs; an epoch in which these lanes
     * have room has begun before.
     */
    public void release(Released released) {
      add(released);
      for (ReleasedLane each : released.lanes()) {
        Destination to = state.destinations().find(each.destinationId());
        if (to == null) {
          throw new IllegalStateException("a plan releases into " + each.destinationId());
        }
        DurableLane lane = to.durable(LaneCode.priority(each.lane()));
        next.put(lane, each.firstSequence() + each.count());
        firsts.putIfAbsent(lane, each.firstSequence());
      }
    }

    /** Ends the record and applies it. */
    public void end() {
      guard.check();
      writer.endCommitted();
      state.apply(new Committed(link, number, parts), batch);
      runs.forEach(Runnable::run);
      next.forEach(
          (lane, end) -> {
            long first = firsts.getOrDefault(lane, end);
            touch(lane, first, Math.min(ShardRecord.MAX_RUN, end - first));
            show(lane, mark);
          });
    }
  }

  /**
   * Begins a record of several parts.
   *
   * @param link whose it is; null for a move of the broker's own
   * @param parts how many runs and acknowledgements it has
   * @param mark the strongest mark of its destinations
   */
  public Compound begin(@Nullable UUID link, long number, int parts, Mark mark) {
    guard.check();
    return new Compound(link, number, parts, mark);
  }
}
