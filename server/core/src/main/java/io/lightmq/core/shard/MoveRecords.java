package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes moves down: one record publishes the message where it goes and acknowledges it where it
 * was, so that a crash finds it in one of the two places and never in both or none.
 */
@OwnedBy("shard")
class MoveRecords {
  private static final int RECORD_BYTES = 512;

  /** Knows the client ids of connections. */
  interface ClientIds {
    /** The client id of a connection, or null if it has none or has ended. */
    @Nullable String clientId(long connectionId);
  }

  /** Makes what writes moves down; a seam. */
  interface Maker {
    MoveRecords make(
        Recorder recorder,
        Placing placing,
        Admission admission,
        Ready ready,
        Counters counters,
        TurnTime time,
        ClientIds clientIds,
        Matchings matchings);
  }

  private final Recorder recorder;
  private final Placing placing;
  private final Admission admission;
  private final Ready ready;
  private final Counters counters;
  private final TurnTime time;
  private final ClientIds clientIds;
  private final Matchings matchings;

  MoveRecords(
      Recorder recorder,
      Placing placing,
      Admission admission,
      Ready ready,
      Counters counters,
      TurnTime time,
      ClientIds clientIds,
      Matchings matchings) {
    this.recorder = recorder;
    this.placing = placing;
    this.admission = admission;
    this.ready = ready;
    this.counters = counters;
    this.time = time;
    this.clientIds = clientIds;
    this.matchings = matchings;
  }

  /**
   * Records a move; false if there is no room for it now.
   *
   * @throws Refusal if the target does not take it
   */
  boolean record(Move move, ByteBuffer entry, Mover.Goal goal) {
    Destination to = goal.to();
    boolean persistent = Entry.isPersistent(entry, 0);
    Runs.Checked sent = to == null ? null : run(entry, goal);
    if (to != null && sent != null && !matchings.isReady(move, new Matchings.Part(to, sent))) {
      return false;
    }
    Runs.Checked wanted = to == null || sent == null ? null : wanted(move, to, sent, entry, goal);
    Placement placement =
        to == null || wanted == null
            ? Placement.NOWHERE
            : Placing.placement(to, persistent, wanted);
    boolean recorded = Settlements.isRecorded(move.from(), move.lane());
    long bytes = Entry.MAX_HEADER_BYTES + (long) goal.message().remaining();
    if (placement == Placement.DURABLE) {
      placing.checkDisk();
    } else if (placement == Placement.UNLOGGED && !placing.fits(1, bytes)) {
      throw placing.memoryFull(bytes, 0);
    }
    if ((recorded || placement == Placement.DURABLE)
        && !admission.admit(
            placement == Placement.DURABLE && wanted != null
                ? bytes + RECORD_BYTES + RecordBytes.ofSkips(wanted)
                : RECORD_BYTES,
            placement == Placement.DURABLE)) {
      return false;
    }
    Acked acked =
        new Acked(
            move.from().destination().id(),
            move.from().id(),
            goal.reason(),
            List.of(new SequenceRange(move.lane(), move.sequence(), 1)));
    if (to != null && wanted != null && placement == Placement.DURABLE) {
      recordDurable(to, entry, goal, wanted, recorded ? acked : null);
    } else if (recorded) {
      recorder.record(acked);
    }
    if (to != null && wanted != null && placement == Placement.UNLOGGED) {
      storeUnlogged(to, entry, goal, wanted);
    }
    if (!recorded) {
      move.from().acknowledge(acked.ranges());
    }
    matchings.forget(move);
    return true;
  }

  /** The message as a run. */
  private static Runs.Checked run(ByteBuffer entry, Mover.Goal goal) {
    ByteBuffer message = goal.message();
    ByteBuffer run = ByteBuffer.allocate(4 + message.remaining());
    run.putInt(message.remaining()).put(message.duplicate()).flip();
    return new Runs.Checked(
        1,
        run,
        Entry.messageOffset(entry, 0) + (long) message.remaining(),
        1 << MessageReader.priority(message, message.position()),
        List.of(),
        false);
  }

  /** The same with who does not want it. */
  private Runs.Checked wanted(
      Move move, Destination to, Runs.Checked sent, ByteBuffer entry, Mover.Goal goal) {
    Map<Filter, BitSet> known = matchings.of(move, 0);
    Subscription only = goal.only();
    if (only != null) {
      return placing.only(only, sent, known);
    }
    long connection = Entry.connectionId(entry, 0);
    var sender = new Selecting.Sender(connection, clientIds.clientId(connection));
    return move.from().destination().isHidden() && !to.kind().isQueue()
        ? placing.select(sender, to, sent, Arrival.of(entry), known)
        : placing.select(sender, to, sent, known);
  }

  /** One record of both halves; of the first alone where the second is in no record. */
  void recordDurable(
      Destination to,
      ByteBuffer entry,
      Mover.Goal goal,
      Runs.Checked wanted,
      @Nullable Acked acked) {
    LaneRun run = wanted.byPriority().get(0);
    DurableLane lane = to.durable(run.priority());
    recorder.firstSequence(lane, 1);
    Mark mark = to.settings().tier().mark();
    Recorder.Transaction record = recorder.begin(null, 0, acked == null ? 1 : 2, mark);
    record.publish(lane, stamp(entry, to, lane.code()), run, (messages, at) -> goal.expiryMillis());
    if (acked != null) {
      record.acknowledge(acked);
    }
    record.commit();
    if (mark == Mark.DURABLE) {
      recorder.wantsForce(); // no receipt asks for it
    }
    counters.published(to.id(), 1, wanted.entryBytes(), time.millis());
  }

  private void storeUnlogged(
      Destination to, ByteBuffer entry, Mover.Goal goal, Runs.Checked wanted) {
    recorder.changing();
    ByteBuffer message = goal.message();
    LaneRun run = wanted.byPriority().get(0);
    UnloggedLane lane = to.unlogged(run.priority());
    if (MessageReader.isGrouped(message, message.position())) {
      to.group(false);
    }
    long sequence = recorder.firstSequence(lane, 1);
    EntryStamp stamp = stamp(entry, to, lane.code());
    ByteBuffer stored = ByteBuffer.allocate(Entry.entryBytes(stamp, message.remaining()));
    int length =
        Entry.write(
            stored,
            0,
            stamp,
            sequence,
            goal.expiryMillis(),
            message,
            message.position(),
            message.remaining());
    lane.append(sequence, stored.limit(length), to.subscriptions().size() - run.skips().size());
    recorder.unrecorded().landed(lane, sequence, run);
    lane.show();
    ready.add(to);
    counters.published(to.id(), 1, length, time.millis());
  }

  private EntryStamp stamp(ByteBuffer entry, Destination to, int lane) {
    byte[] user = new byte[Entry.userBytes(entry, 0)];
    entry.get(Entry.HEADER_BYTES, user);
    boolean persistent = Entry.isPersistent(entry, 0);
    return new EntryStamp(
        lane,
        persistent ? Entry.PERSISTENT : 0,
        to.id(),
        time.millis(),
        Entry.connectionId(entry, 0),
        user);
  }
}
