package io.lightmq.core.shard;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.RecordCodec;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.LanePieces;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.core.storage.snapshot.Snapshot;
import io.lightmq.core.storage.snapshot.SnapshotStore;
import io.lightmq.spi.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of a shard on this node, with its segments, snapshots and checkpoints: it recovers,
 * applies what the journal commits and makes checkpoints, whether there is an {@link Owner} or not.
 */
@OwnedBy("shard")
final class Replica implements Checkpoints.Applied {
  private static final Logger log = LoggerFactory.getLogger(Replica.class);

  private final Member member;
  private final SegmentStore segments;
  private final Checkpoints checkpoints;
  private final Counters counters = new Counters();
  private final int rejectedSnapshots;
  private final long snapshotMillis;
  private ShardState state;
  private long applied;
  private long recoveredTo;
  private boolean replayed;
  private boolean followed;

  /** Where batches come from while a replica recovers. */
  interface Feed {
    /**
     * Replays the journal from an offset on.
     *
     * @return the offset behind the last batch
     */
    long replay(long fromOffset, Journal.Replay taker) throws IOException;
  }

  private Replica(
      Member member,
      ShardSeams seams,
      Journal journal,
      SnapshotStore snapshots,
      SnapshotStore.Loaded loaded,
      Consumer<IOException> broken)
      throws IOException {
    this.member = member;
    this.state = member.emptyState();
    this.segments =
        SegmentStore.open(
            member.disk(),
            member.memory(),
            member.identity().storeId(),
            snapshots.nextAddress(),
            loaded.segments(),
            member.settings().segments());
    this.rejectedSnapshots = loaded.rejected().size();
    this.applied = loaded.snapshot().map(Snapshot::offset).orElse(0L);
    this.snapshotMillis =
        applied == 0 ? 0 : loaded.snapshot().map(Snapshot::createdMillis).orElse(0L);
    this.checkpoints =
        new Checkpoints(
            new Checkpoints.Stores(
                segments,
                seams.destaging().make(segments, this::state),
                snapshots,
                member.ballast(),
                member.destage(),
                member.shard(),
                broken),
            member.settings(),
            this,
            journal,
            member.time());
    checkpoints.startedFrom(applied);
    if (!loaded.rejected().isEmpty()) {
      checkpoints.want();
    }
  }

  /**
   * Builds the state from the newest snapshot and the journal behind it. Blocks; on any thread that
   * hands the replica to the shard's loop then.
   *
   * @param broken ends the shard when its disk has failed
   */
  static Replica recover(
      Member member, ShardSeams seams, Journal journal, Feed feed, Consumer<IOException> broken)
      throws IOException {
    UUID storeId = member.identity().storeId();
    SnapshotStore snapshots = SnapshotStore.open(member.disk(), storeId);
    SnapshotStore.Loaded loaded = snapshots.load();
    report(loaded);
    Replica replica = new Replica(member, seams, journal, snapshots, loaded, broken);
    if (loaded.snapshot().isPresent()) {
      replica.restore(loaded.snapshot().get());
    }
    replica.applied = feed.replay(replica.applied, replica::apply);
    replica.recoveredTo = replica.applied;
    if (member.identity().used() && loaded.snapshot().isEmpty() && !replica.replayed) {
      throw new IOException(
          "this store was used and is empty now: neither a snapshot nor a record is left in"
              + " snapshots/ and journal/, they were deleted or damaged; restore the data directory"
              + " from a backup, or start with an empty one to begin anew");
    }
    replica.state.guard().handOver(member.shard());
    return replica;
  }

  private static void report(SnapshotStore.Loaded loaded) {
    for (String reason : loaded.rejected()) {
      log.error("The newest snapshot is not there or damaged, an older one is used: {}", reason);
    }
    for (String orphan : loaded.orphans()) {
      log.info("No snapshot names segment {}; moved to orphaned/", orphan);
    }
  }

  private void restore(Snapshot snapshot) throws IOException {
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

  // ---- what is there ----

  Member member() {
    return member;
  }

  /** The state; another one after {@link #shed}. */
  @Override
  public ShardState state() {
    return state;
  }

  SegmentStore segments() {
    return segments;
  }

  Checkpoints checkpoints() {
    return checkpoints;
  }

  /** What was applied and, while there is an owner, what it did; since the state was built. */
  Counters counters() {
    return counters;
  }

  /** Snapshots that were damaged when this recovered. */
  int rejectedSnapshots() {
    return rejectedSnapshots;
  }

  /** When the snapshot was made from which this recovered; what it holds is at least that old. */
  long snapshotMillis() {
    return snapshotMillis;
  }

  /** Behind the last batch that the journal has shown, and an owner has left behind. */
  @Override
  public long applied() {
    return applied;
  }

  /**
   * Behind the last batch that was shown when this recovered. The journal may tell of what is below
   * once more, which it told while there was no replica; of nothing else that was applied.
   */
  long recoveredTo() {
    return recoveredTo;
  }

  /** Whether anything was applied that was not in the snapshot. */
  boolean replayed() {
    return replayed;
  }

  /**
   * The highest time in what another owner has recorded: when its newest message came; 0 if nobody
   * has led but here.
   */
  long newestMillis() {
    long newest = 0;
    if (!followed) {
      return newest;
    }
    for (Destination destination : state.destinations().all()) {
      for (DurableLane lane : destination.durableLanes()) {
        newest = Math.max(newest, lane.newestMillis());
      }
    }
    return newest;
  }

  // ---- apply ----

  /** Applies a batch of the journal. */
  void apply(long offset, ByteBuffer records) {
    state.deliveriesKnown(false); // but a record may tell
    long first = offset + Journal.Batch.HEADER_BYTES;
    BatchBytes bytes = BatchBytes.of(first, records.slice());
    applied = first + records.remaining();
    RecordCodec.decode(
        first,
        records,
        record -> {
          state.apply(record, bytes);
          replayed = true;
        });
  }

  /** Applies a batch that another owner has appended. */
  void follow(long offset, ByteBuffer records) {
    followed = true;
    apply(offset, records);
  }

  /** Makes all visible that was applied, for an owner that begins. */
  void show() {
    state.guard().check();
    for (Destination destination : state.destinations().all()) {
      destination.durableLanes().forEach(DurableLane::show);
    }
  }

  // ---- an owner has gone ----

  /**
   * Gives up all of the state that is in no record, with its memory, as a restart would: what an
   * owner had in flight, unlogged messages, temporary destinations, plain subscriptions, groups and
   * pauses. All else is taken over, so nothing is read from files. All that the owner appended is
   * committed.
   *
   * <p>It is what a snapshot would have held: so whatever is in no snapshot is given up, also what
   * somebody adds later. Takes as long as it takes to encode and decode a state without its
   * messages.
   */
  void shed(long committed) {
    state.guard().check();
    checkpoints.stateChanges();
    ShardState before = state;
    StateSnapshot picture = new StateSnapshot(before, Set.of());
    while (!picture.step()) {
      // All of it at once: nobody is served meanwhile.
    }
    ShardState after = member.emptyState();
    try {
      StateSnapshot.decode(picture.slices(), after);
    } catch (IOException e) {
      throw new IllegalStateException("what was just encoded cannot be read", e);
    }
    picture.release(Integer.MAX_VALUE);
    for (Destination destination : List.copyOf(before.destinations().all())) {
      takeOver(destination, after.destinations().find(destination.id()));
      before.destinations().delete(destination);
    }
    before.guard().end("another node leads, and its state was taken over");
    after.guard().handOver(member.shard());
    state = after;
    applied = committed;
    replayed = true; // numbers of unlogged runs are in no record
  }

  private void takeOver(Destination before, @Nullable Destination after) {
    if (after == null) {
      counters.forget(before.id());
      return;
    }
    for (DurableLane lane : after.durableLanes()) {
      if (before.lane(lane.code()) instanceof DurableLane same) {
        lane.takePlaces(same);
      }
    }
    for (Subscription subscription : before.subscriptions()) {
      if (after.subscription(subscription.id()) == null) {
        counters.forget(before.id(), subscription.id());
      }
    }
  }

  /** The state as a snapshot has it; for tests, while no checkpoint is made. */
  List<ByteBuffer> encoded() {
    StateSnapshot picture = new StateSnapshot(state, Set.of());
    while (!picture.step()) {
      // All of it at once.
    }
    List<ByteBuffer> slices = picture.slices();
    picture.release(Integer.MAX_VALUE);
    return slices;
  }

  /** Gives all memory back; the files stay as they are. Nothing may be asked of it any more. */
  void forget() {
    state.guard().check();
    checkpoints.close();
    for (Destination destination : List.copyOf(state.destinations().all())) {
      state.destinations().delete(destination);
    }
    state.guard().end("its state was given up to be built again");
  }

  /** Closes the files of the segments. On the loop that makes checkpoints, or after its end. */
  void closeSegments() {
    try {
      segments.close();
    } catch (IOException e) {
      log.warn("The segments could not be closed", e);
    }
  }
}
