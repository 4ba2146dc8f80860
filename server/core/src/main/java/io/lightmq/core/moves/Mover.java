package io.lightmq.core.moves;

import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Figure;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Target;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves messages from one destination to another: dead letters, what has expired, what falls due.
 * The message is taken, that is in flight to nobody, from {@link #offer} on. Its bytes are fetched;
 * then one record publishes it there and acknowledges it here, so that it is in one place whatever
 * fails.
 *
 * <p>Moves of one subscription for one purpose are a {@link MoveLine}. Single ones are recorded in
 * the order in which they were offered, before those of {@link #offerRange}, which go by lane and
 * sequence; lines take turns. If a target takes nothing, its line waits, for 1 s at first and 60 s
 * at most, and holds up no other; a message that fails for a reason of its own waits beside its
 * line. Each failure is counted.
 */
@OwnedBy("shard")
public final class Mover implements TurnPart {
  private static final Logger log = LoggerFactory.getLogger(Mover.class);

  /** Single moves that wait in all lines, beyond the few that each line may always have. */
  static final int MAX_WAITING = 1 << 16;

  /** Single moves that wait in one line, at most; what is offered beyond is refused. */
  static final int MAX_PER_LINE = 1_024;

  /** So many each line may have whatever others do, and no more while it fails. */
  static final int MIN_PER_LINE = 64;

  private static final int MAX_READING = 64;
  private static final int BATCH = 16;
  private static final int MAX_PER_TURN = 256;
  private static final long TURN_NANOS = 1_000_000;
  private static final long FIRST_STALL_NANOS = 5_000_000;
  private static final long FIRST_RETRY_NANOS = 1_000_000_000L;
  private static final long LAST_RETRY_NANOS = 60_000_000_000L;
  private static final long LOG_NANOS = 60_000_000_000L;
  private static final long LOG_ANY_NANOS = 1_000_000_000L;

  /** What a move is for. */
  public interface Errand {
    /** Names the purpose; moves of one subscription with the same one share a line. */
    String what();

    /** Names where the message is, as a user knows it. */
    default String place(Subscription from) {
      return from.destination().name().shown();
    }

    /** What the message is to be moved for instead, in the line of that; null for this. */
    default @Nullable Errand instead(ByteBuffer entry) {
      return null;
    }

    /**
     * Says where the message goes, on its entry as it is stored; null to leave it where it is,
     * free. Changes nothing.
     *
     * @throws Refusal if that cannot be now
     */
    @Nullable Goal decide(Subscription from, int lane, long sequence, ByteBuffer entry);

    /** The move is recorded. */
    void done(Subscription from, int lane, long sequence, Goal goal);

    /** The move is refused; whether the message is kept, in flight to nobody, and tried again. */
    default boolean keeps(Subscription from, int lane, long sequence, Refusal why) {
      return true;
    }
  }

  /**
   * Where a message goes.
   *
   * @param to null for nowhere: it is acknowledged only
   * @param message the encoded message from position to limit
   * @param expiryMillis when it expires there, 0 for never
   * @param reason why it is acknowledged here
   * @param only the one subscription of a topic that gets it; null for all that want it
   * @param attempts how often it was tried here, 0 if nobody asks
   */
  public record Goal(
      @Nullable Target to,
      ByteBuffer message,
      long expiryMillis,
      ShardRecord.Reason reason,
      @Nullable Subscription only,
      int attempts) {

    /** A message for all that want it. */
    Goal(@Nullable Target to, ByteBuffer message, long expiryMillis, ShardRecord.Reason reason) {
      this(to, message, expiryMillis, reason, null, 0);
    }

    /** A message that is dropped. */
    static Goal nowhere(ShardRecord.Reason reason) {
      return new Goal(null, ByteBuffer.allocate(0), 0, reason);
    }

    /** The same for one subscription alone. */
    Goal to(Subscription wanting) {
      return new Goal(to, message, expiryMillis, reason, wanting, attempts);
    }

    /** The same after so many attempts. */
    Goal after(int tried) {
      return new Goal(to, message, expiryMillis, reason, only, tried);
    }
  }

  private final EntryReads reads;
  private final MoveRecords records;
  private final Ready ready;
  private final Counters counters;
  private final TurnTime time;
  private final Runnable wake;
  private final Unforeseen unforeseen;
  private final Map<MoveLine.Key, MoveLine> lines = new LinkedHashMap<>();

  /** Lines with something to read; each line is in one of these three at most. */
  private final ArrayDeque<MoveLine> readable = new ArrayDeque<>();

  /** Lines whose batch is read. */
  private final ArrayDeque<MoveLine> recordable = new ArrayDeque<>();

  private final PriorityQueue<MoveLine> paused =
      new PriorityQueue<>(Comparator.comparingLong(line -> line.againNanos));

  /** Messages that failed for reasons of their own. */
  private final PriorityQueue<Move> aside =
      new PriorityQueue<>(Comparator.comparingLong(move -> move.againNanos));

  private int reading;
  private long single;
  private long loggedNanos = Long.MIN_VALUE;
  private boolean ended;

  /**
   * A mover without moves.
   *
   * @param wake makes the shard take another turn soon
   */
  public Mover(
      EntryReads reads,
      MoveRecords records,
      Ready ready,
      Counters counters,
      TurnTime time,
      Runnable wake,
      Unforeseen unforeseen) {
    this.reads = reads;
    this.records = records;
    this.ready = ready;
    this.counters = counters;
    this.time = time;
    this.wake = wake;
    this.unforeseen = unforeseen;
  }

  /** Who may touch this and what works with it. */
  Guard guard() {
    return ready.guard();
  }

  // ---- what comes ----

  /** How many more single moves are taken of a subscription for a purpose. */
  int room(Subscription from, String what) {
    if (ended) {
      return 0;
    }
    MoveLine line = lines.get(new MoveLine.Key(from, what));
    int own = line == null ? 0 : line.single();
    int least = MIN_PER_LINE - own;
    if (line != null && line.isFailing()) {
      return Math.max(0, least);
    }
    return (int) Math.max(0, Math.max(least, Math.min(MAX_PER_LINE - own, MAX_WAITING - single)));
  }

  /** Whether the target of a subscription's moves for a purpose took nothing when last tried. */
  boolean isFailing(Subscription from, String what) {
    MoveLine line = lines.get(new MoveLine.Key(from, what));
    return line != null && line.isFailing();
  }

  /** Moves that are not recorded yet. */
  public long size() {
    long size = 0;
    for (MoveLine line : lines.values()) {
      size += line.size();
    }
    return size;
  }

  /** Moves that wait because their target takes nothing. */
  public long failing() {
    long size = 0;
    for (MoveLine line : lines.values()) {
      size += line.isFailing() ? line.size() : line.aside;
    }
    return size;
  }

  /** Takes a free message for a move; false if too many wait. Another turn begins it. */
  boolean offer(Subscription from, int lane, long sequence, Errand errand) {
    ready.guard().check();
    Lane of = from.destination().lane(lane);
    if (of == null || !from.isFree(lane, sequence) || room(from, errand.what()) == 0) {
      return false;
    }
    from.take(of, sequence, 1);
    return offerTaken(from, lane, sequence, errand);
  }

  /** Takes over a message that is in flight to nobody; false if too many wait, and it stays so. */
  boolean offerTaken(Subscription from, int lane, long sequence, Errand errand) {
    ready.guard().check();
    if (room(from, errand.what()) == 0) {
      return false;
    }
    single++;
    from.toNobody(lane, sequence, 1);
    MoveLine line = line(from, errand);
    line.add(new Move(from, lane, sequence, errand));
    readable(line);
    return true;
  }

  /** Takes over any number of consecutive messages that are in flight to nobody. */
  void offerRange(Subscription from, int lane, long first, int count, Errand errand) {
    ready.guard().check();
    Lane of = from.destination().lane(lane);
    if (of == null || from.isClosed()) {
      return;
    }
    if (ended) {
      from.giveBack(lane, first, count, false);
      return;
    }
    from.toNobody(lane, first, count);
    MoveLine line = line(from, errand);
    line.addRange(of, first, count, errand);
    readable(line);
  }

  private MoveLine line(Subscription from, Errand errand) {
    return lines.computeIfAbsent(new MoveLine.Key(from, errand.what()), MoveLine::new);
  }

  private void readable(MoveLine line) {
    if (!line.queued) {
      line.queued = true;
      readable.add(line);
      if (readable.size() == 1) {
        wake.run();
      }
    }
  }

  // ---- a turn's share ----

  /** Begins and records moves, as far as there is room and for a millisecond at most. */
  @Override
  public void turn() {
    ready.guard().check();
    if (ended || lines.isEmpty()) {
      return;
    }
    resume();
    long end = time.nowNanos() + TURN_NANOS;
    for (int done = 0; ; done++) {
      while (reading < MAX_READING && !readable.isEmpty()) {
        read(readable.remove());
      }
      MoveLine line = recordable.peek();
      if (line == null) {
        return;
      }
      // One at least, or a clock that is slow to look at would hold up all of them for ever.
      if (done > 0 && (done >= MAX_PER_TURN || time.nowNanos() - end >= 0)) {
        wake.run();
        return;
      }
      recordNext(line);
    }
  }

  /** When something is tried again, {@code Long.MAX_VALUE} for never. */
  @Override
  public long nextNanos() {
    long next = paused.isEmpty() ? Long.MAX_VALUE : paused.element().againNanos;
    return aside.isEmpty() ? next : Math.min(next, aside.element().againNanos);
  }

  /** Gives up: what was not recorded stays where it is, free. */
  @Override
  public void end() {
    ready.guard().check();
    ended = true;
    aside.forEach(Move::giveBack);
    aside.clear();
    lines.values().forEach(MoveLine::end);
    lines.clear();
    readable.clear();
    recordable.clear();
    paused.clear();
  }

  private void resume() {
    while (!paused.isEmpty() && paused.element().againNanos - time.nanos() <= 0) {
      MoveLine line = paused.remove();
      line.queued = false;
      readable(line);
    }
    while (!aside.isEmpty() && aside.element().againNanos - time.nanos() <= 0) {
      Move move = aside.remove();
      MoveLine line = line(move.from(), move.errand()); // there is one as long as any is aside
      line.aside--;
      line.add(move);
      readable(line);
    }
  }

  private void read(MoveLine line) {
    int before = line.single();
    if (line.from().isClosed()) {
      line.drop();
    }
    line.fill(Math.min(BATCH, MAX_READING - reading));
    single += line.single() - before;
    if (line.batch.isEmpty()) {
      settle(line);
      return;
    }
    line.unread = line.batch.size();
    reading += line.unread;
    for (Move move : List.copyOf(line.batch)) {
      Lane lane = move.from().destination().lane(move.lane());
      if (lane == null) {
        throw new IllegalStateException("lane " + move.lane() + " of a message has gone");
      }
      reads.read(
          move.from(),
          lane,
          move.sequence(),
          1,
          1,
          (entries, failure) -> {
            move.read(entries, failure);
            line.unread--;
            if (line.unread == 0 && !ended) {
              recordable.add(line);
            }
          });
    }
  }

  /** A line with an empty batch: goes on, or ends. */
  private void settle(MoveLine line) {
    line.queued = false;
    if (line.hasWaiting()) {
      readable(line);
    } else if (line.aside == 0) {
      lines.remove(line.key(), line);
    }
  }

  /** Records the first move of a line, which takes its turn then. */
  private void recordNext(MoveLine line) {
    recordable.remove();
    Move move = line.batch.element();
    long before = unforeseen.changes();
    try {
      if (move.isValid() && !record(move)) {
        stall(line);
        return;
      }
      line.batch.remove();
      single--;
      reading--;
      line.tries = 0;
      line.stalls = 0;
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, "a move", before);
      if (!refused(line, move, refusal)) {
        return;
      }
    }
    if (line.batch.isEmpty()) {
      settle(line);
    } else {
      recordable.add(line);
    }
  }

  /** Records a move whose bytes are there; false if it has to wait for room. */
  private boolean record(Move move) {
    ByteBuffer entry = move.entry();
    Damage damage = move.damage();
    if (damage != null && isSetAside(move, damage)) {
      return true;
    }
    if (entry == null) {
      throw new Refusal(FaultCode.DAMAGED, "the message cannot be read: " + move.failureText());
    }
    Errand other = move.errand().instead(entry);
    if (other != null) {
      offerRange(move.from(), move.lane(), move.sequence(), 1, other);
      return true;
    }
    Goal goal = move.errand().decide(move.from(), move.lane(), move.sequence(), entry);
    if (goal == null) {
      giveBack(move);
      return true;
    }
    if (!records.record(move, entry, goal)) {
      return false;
    }
    move.errand().done(move.from(), move.lane(), move.sequence(), goal);
    return true;
  }

  /** A message that cannot be read waits for nothing: it is set aside. */
  private boolean isSetAside(Move move, Damage damage) {
    Lane lane = move.from().destination().lane(move.lane());
    move.giveBack();
    if (lane != null && reads.setAside(move.from(), lane, damage)) {
      return true;
    }
    if (lane != null && move.from().isFree(move.lane(), move.sequence())) {
      move.from().take(lane, move.sequence(), 1);
      move.from().toNobody(move.lane(), move.sequence(), 1);
    }
    return false;
  }

  /** The message is free again, and whoever waits may have it. */
  private void giveBack(Move move) {
    move.giveBack();
    ready.add(move.from());
  }

  // ---- what fails ----

  /** Whether the line goes on with its next move. */
  private boolean refused(MoveLine line, Move move, Refusal refusal) {
    counters.count(Figure.FAILED_MOVES);
    refusal.told();
    if (!move.errand().keeps(move.from(), move.lane(), move.sequence(), refusal)) {
      line.batch.remove();
      single--;
      reading--;
      giveBack(move);
      return true;
    }
    boolean own =
        switch (refusal.code()) {
          case DAMAGED, BAD_REQUEST, TOO_LARGE -> true;
          default -> false;
        };
    if (own && line.aside < MAX_PER_LINE / 2) {
      line.batch.remove();
      reading--;
      line.aside++;
      move.forgetBytes();
      move.againNanos = time.nanos() + pauseNanos(move.tries++);
      aside.add(move);
      tell(line, move, refusal, move.tries, move.againNanos, "A message");
      return true;
    }
    pause(line, pauseNanos(line.tries++));
    tell(line, move, refusal, line.tries, line.againNanos, line.size() + " messages");
    return false;
  }

  /** There is no room in the journal; the line tries again soon. */
  private void stall(MoveLine line) {
    pause(line, FIRST_STALL_NANOS << Math.min(line.stalls++, 6));
  }

  private void pause(MoveLine line, long nanos) {
    reading -= line.batch.size();
    line.putBack();
    line.againNanos = time.nanos() + nanos;
    paused.add(line);
  }

  private static long pauseNanos(int tries) {
    return Math.min(FIRST_RETRY_NANOS << Math.min(tries, 6), LAST_RETRY_NANOS);
  }

  private void tell(
      MoveLine line, Move move, Refusal refusal, int tries, long againNanos, String what) {
    long now = time.nanos();
    if ((line.loggedNanos != Long.MIN_VALUE && now - line.loggedNanos < LOG_NANOS)
        || (loggedNanos != Long.MIN_VALUE && now - loggedNanos < LOG_ANY_NANOS)) {
      return;
    }
    line.loggedNanos = now;
    loggedNanos = now;
    log.warn(
        "{} of {} ({}) cannot be moved and stay where they are, given to nobody: {}; tried {}"
            + " times, again in {} s; moves of other destinations go on; the next line on this one"
            + " comes in 60 s at the earliest",
        what,
        move.errand().place(line.from()),
        line.key().what(),
        refusal.text(),
        tries,
        (againNanos - now) / 1_000_000_000L);
  }
}
