package io.lightmq.core.shard;

import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.VolatileLane;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves messages from one destination to another: dead letters, what has expired, what falls due.
 * The message is taken, that is in flight to nobody, from {@link #offer} on. Its bytes are fetched;
 * then one record publishes it there and acknowledges it here, so that it is in one place whatever
 * fails. Moves are recorded in the order in which they were offered.
 *
 * <p>A move that fails keeps the message taken and is tried again, after 1 s at first and 60 s at
 * most; each failure is counted.
 */
@OwnedBy("shard")
final class Mover {
  private static final Logger log = LoggerFactory.getLogger(Mover.class);

  /** At most so many moves wait; what is offered beyond is refused. */
  static final int MAX_WAITING = 1 << 16;

  private static final int MAX_READING = 64;
  private static final int MAX_PER_TURN = 256;
  private static final int RECORD_BYTES = 512;
  private static final long FIRST_RETRY_NANOS = 1_000_000_000L;
  private static final long LAST_RETRY_NANOS = 60_000_000_000L;
  private static final long LOG_NANOS = 60_000_000_000L;

  /** What a move is for. */
  interface Errand {
    /**
     * Decides where the message goes, on its entry as it is stored.
     *
     * @throws Refusal if that cannot be now; it is tried again
     */
    Goal decide(Subscription from, int lane, long sequence, ByteBuffer entry);

    /** The move is recorded. */
    void done(Subscription from, long sequence, Goal goal);
  }

  /**
   * Where a message goes.
   *
   * @param to null for nowhere: it is acknowledged only
   * @param message the encoded message from position to limit
   * @param expiryMillis when it expires there, 0 for never
   * @param reason why it is acknowledged here
   */
  record Goal(
      @Nullable Destination to, ByteBuffer message, long expiryMillis, ShardRecord.Reason reason) {}

  /** Knows the client ids of connections. */
  interface ClientIds {
    /** The client id of a connection, or null if it has none or has ended. */
    @Nullable String clientId(long connectionId);
  }

  private static final class Move {
    final Subscription from;
    final int lane;
    final long sequence;
    final Errand errand;
    @Nullable ByteBuffer entry;
    @Nullable IOException failure;
    int tries;
    long againNanos;

    Move(Subscription from, int lane, long sequence, Errand errand) {
      this.from = from;
      this.lane = lane;
      this.sequence = sequence;
      this.errand = errand;
    }

    boolean isRead() {
      return entry != null || failure != null;
    }

    /** Whether the message is still there and nobody else's. */
    boolean isValid() {
      return !from.isClosed()
          && from.isUnacknowledged(lane, sequence)
          && from.isInFlight(lane, sequence);
    }
  }

  private final EntryReads reads;
  private final Recorder recorder;
  private final Placing placing;
  private final Publishing.Admission admission;
  private final Ready ready;
  private final Counters counters;
  private final TurnTime time;
  private final ClientIds clientIds;
  private final Runnable wake;
  private final ArrayDeque<Move> waiting = new ArrayDeque<>();
  private final ArrayDeque<Move> reading = new ArrayDeque<>();
  private final PriorityQueue<Move> failed =
      new PriorityQueue<>(Comparator.comparingLong(move -> move.againNanos));
  private long loggedNanos = Long.MIN_VALUE;
  private boolean ended;

  /**
   * A mover without moves.
   *
   * @param wake makes the shard take another turn soon
   */
  Mover(
      EntryReads reads,
      Recorder recorder,
      Placing placing,
      Publishing.Admission admission,
      Ready ready,
      Counters counters,
      TurnTime time,
      ClientIds clientIds,
      Runnable wake) {
    this.reads = reads;
    this.recorder = recorder;
    this.placing = placing;
    this.admission = admission;
    this.ready = ready;
    this.counters = counters;
    this.time = time;
    this.clientIds = clientIds;
    this.wake = wake;
  }

  /** How many more moves are taken. */
  int room() {
    return ended ? 0 : MAX_WAITING - size();
  }

  /** Moves that are not recorded yet. */
  int size() {
    return waiting.size() + reading.size() + failed.size();
  }

  /** Takes a free message for a move; false if too many wait. Another turn begins it. */
  boolean offer(Subscription from, int lane, long sequence, Errand errand) {
    Lane of = from.destination().lane(lane);
    if (of == null || room() <= 0 || !from.isFree(lane, sequence)) {
      return false;
    }
    from.take(of, sequence, 1);
    return offerTaken(from, lane, sequence, errand);
  }

  /** Takes over a message that is in flight to nobody; if too many moves wait it is free again. */
  boolean offerTaken(Subscription from, int lane, long sequence, Errand errand) {
    if (room() <= 0) {
      from.giveBack(lane, sequence, 1, false);
      return false;
    }
    waiting.add(new Move(from, lane, sequence, errand));
    if (waiting.size() == 1) {
      wake.run();
    }
    return true;
  }

  /** Begins and records moves, as far as there is room; whether some wait for room. */
  boolean turn() {
    if (ended) {
      return false;
    }
    while (!failed.isEmpty() && failed.element().againNanos - time.nanos() <= 0) {
      waiting.add(failed.remove());
    }
    read();
    for (int done = 0; !reading.isEmpty() && reading.element().isRead(); done++) {
      if (done == MAX_PER_TURN) {
        wake.run();
        return false;
      }
      if (!record(reading.element())) {
        return true;
      }
      reading.remove();
      read();
    }
    return false;
  }

  /** When a move is tried again, {@code Long.MAX_VALUE} for never. */
  long nextNanos() {
    return failed.isEmpty() ? Long.MAX_VALUE : failed.element().againNanos;
  }

  /** Gives up: what was not recorded stays where it is, free. */
  void end() {
    ended = true;
    for (ArrayDeque<Move> moves : List.of(waiting, reading, new ArrayDeque<>(failed))) {
      for (Move move : moves) {
        if (move.isValid()) {
          move.from.giveBack(move.lane, move.sequence, 1, false);
        }
      }
    }
    waiting.clear();
    reading.clear();
    failed.clear();
  }

  private void read() {
    while (reading.size() < MAX_READING && !waiting.isEmpty()) {
      Move move = waiting.remove();
      Lane lane = move.isValid() ? move.from.destination().lane(move.lane) : null;
      if (lane == null) {
        continue;
      }
      reading.add(move);
      reads.read(
          move.from,
          lane,
          move.sequence,
          1,
          1,
          (entries, failure) -> {
            move.entry = entries;
            move.failure =
                entries == null && failure == null ? new IOException("nothing came") : failure;
          });
    }
  }

  /** Records a move whose bytes are there; false if it has to wait for room. */
  private boolean record(Move move) {
    ByteBuffer entry = move.entry;
    if (!move.isValid()) {
      return true;
    }
    try {
      if (entry == null) {
        throw new Refusal(FaultCode.RETRY_LATER, "the message cannot be read: " + move.failure);
      }
      Goal goal = move.errand.decide(move.from, move.lane, move.sequence, entry);
      if (!record(move, entry, goal)) {
        return false;
      }
      move.errand.done(move.from, move.sequence, goal);
    } catch (Refusal refusal) {
      later(move, refusal);
    }
    return true;
  }

  private void later(Move move, Refusal refusal) {
    counters.moveFailures++;
    long delay = FIRST_RETRY_NANOS << Math.min(move.tries++, 6);
    move.againNanos = time.nanos() + Math.min(delay, LAST_RETRY_NANOS);
    move.entry = null;
    move.failure = null;
    failed.add(move);
    if (loggedNanos == Long.MIN_VALUE || time.nanos() - loggedNanos >= LOG_NANOS) {
      loggedNanos = time.nanos();
      log.warn(
          "A message of {} cannot be moved and is kept: {}; {} moves are tried again in {} s; the"
              + " next line comes in 60 s at the earliest",
          move.from.destination().name().name(),
          refusal.text(),
          failed.size(),
          Math.min(delay, LAST_RETRY_NANOS) / 1_000_000_000L);
    }
  }

  private boolean record(Move move, ByteBuffer entry, Goal goal) {
    Destination to = goal.to();
    boolean persistent = Entry.isPersistent(entry, 0);
    Runs.Checked wanted = to == null ? null : wanted(to, entry, goal);
    Placement placement =
        to == null || wanted == null
            ? Placement.NOWHERE
            : Placing.placement(to, persistent, wanted);
    boolean recorded = Settlements.isRecorded(move.from, move.lane);
    long bytes = Entry.MAX_HEADER_BYTES + (long) goal.message().remaining();
    if (placement == Placement.DURABLE) {
      placing.checkDisk();
    } else if (placement == Placement.VOLATILE && !placing.fits(1, bytes)) {
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
            move.from.destination().id(),
            move.from.id(),
            goal.reason(),
            List.of(new SequenceRange(move.lane, move.sequence, 1)));
    if (to != null && wanted != null && placement == Placement.DURABLE) {
      recordDurable(to, entry, goal, wanted, recorded ? acked : null);
    } else if (recorded) {
      recorder.record(acked);
    }
    if (to != null && wanted != null && placement == Placement.VOLATILE) {
      storeVolatile(to, entry, goal, wanted);
    }
    if (!recorded) {
      move.from.acknowledge(acked.ranges());
    }
    return true;
  }

  /** The message as a run, with who does not want it. */
  private Runs.Checked wanted(Destination to, ByteBuffer entry, Goal goal) {
    ByteBuffer message = goal.message();
    ByteBuffer run = ByteBuffer.allocate(4 + message.remaining());
    run.putInt(message.remaining()).put(message.duplicate()).flip();
    Runs.Checked checked =
        new Runs.Checked(
            1,
            run,
            Entry.messageOffset(entry, 0) + (long) message.remaining(),
            1 << MessageReader.priority(message, message.position()),
            List.of(),
            false);
    long connection = Entry.connectionId(entry, 0);
    return placing.select(
        new Selecting.Sender(connection, clientIds.clientId(connection)), to, checked);
  }

  private void recordDurable(
      Destination to, ByteBuffer entry, Goal goal, Runs.Checked wanted, @Nullable Acked acked) {
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
    counters.came(to.id(), lane.code(), lane.last(), time.millis());
  }

  private void storeVolatile(Destination to, ByteBuffer entry, Goal goal, Runs.Checked wanted) {
    ByteBuffer message = goal.message();
    LaneRun run = wanted.byPriority().get(0);
    VolatileLane lane = to.swift(run.priority());
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
    lane.expires(sequence, goal.expiryMillis());
    lane.append(sequence, stored.limit(length), to.subscriptions().size() - run.skips().size());
    for (Skip skip : run.skips()) {
      skip.subscription().pass(lane, sequence, skip.messages());
    }
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
