package io.lightmq.core.moves;

import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Figure;
import io.lightmq.core.intake.DueHour;
import io.lightmq.core.intake.HourRoom;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.sessions.Target;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delayed messages (Jakarta Messaging 3.1, section 7.9). Until they are due they live under
 * holders: hidden queues, one for each destination and hour, which are journalled, destaged and
 * kept through restarts like any other. Shortly before the hour begins the due times are read, a
 * slice at a time; what falls due is moved to its destination in the order of due times. Messages
 * of hours that are not near cost no heap beyond the cursors; those of a near hour cost 12 bytes
 * each.
 *
 * <p>There are {@value HourRoom#MAX_HOURS} holders at most, see {@link HourRoom}; a message that
 * needs another one is refused. A turn moves 256 messages at most and looks only at holders with
 * something due, so that holders cost time only when they are due.
 *
 * <p>Due times are by the broker's clock: the arrival of the run or commit plus the delay. A
 * message whose destination is gone is skipped; one whose time to live is over first expires.
 */
@OwnedBy("shard")
public final class Delays implements TurnPart {
  private static final Logger log = LoggerFactory.getLogger(Delays.class);

  /** So long before an hour its due times are read. */
  static final long LEAD_MILLIS = 300_000;

  /** The clock may jump, so it is looked at least this often. */
  private static final long LOOK_MILLIS = 60_000;

  private static final String DUE = "due";
  private static final long AGAIN_MILLIS = 5;
  private static final int SLICE_COUNT = 256;
  private static final int SLICE_BYTES = 256 << 10;
  private static final int SLICES_PER_TURN = 4;
  private static final int MOVES_PER_TURN = 256;

  /** Holders that are looked at once a second whether they are done with. */
  private static final int CHECKS = 1_024;

  /** An empty holder whose hour is to come is kept so long, since more may come. */
  private static final long EMPTY_MILLIS = 60_000;

  /** So often a holder is looked at whose target takes nothing. */
  private static final long FAILING_MILLIS = 1_000;

  private static final int MAX_READING = 8;
  private static final int MAX_DELETES = 64;

  private final ShardState state;
  private final Subscribing subscribing;
  private final EntryReads reads;
  private final Mover mover;
  private final DeadLetters deadLetters;
  private final Counters counters;
  private final TurnTime time;
  private final Runnable wake;
  private final HourRoom room;
  private final Recorder recorder;
  private final Unforeseen unforeseen;

  /** All hours that have a holder, by the holder's id. */
  private final Map<Long, DueHour> hours = new LinkedHashMap<>();

  /** Those that are not opened, by their beginning. */
  private final PriorityQueue<DueHour> later =
      new PriorityQueue<>(Comparator.comparingLong(DueHour::beginMillis));

  /** Opened ones with something to do at a known time, by that. */
  private final TreeSet<DueHour> next =
      new TreeSet<>(
          Comparator.comparingLong((DueHour hour) -> hour.lookMillis)
              .thenComparingLong(hour -> hour.holder().id()));

  /** Opened ones with messages whose due time is not known. */
  private final Set<DueHour> unread = new LinkedHashSet<>();

  /** All of them, in the order in which they are checked whether they are done with. */
  private final ArrayDeque<DueHour> checked = new ArrayDeque<>();

  private int reading;
  private long lookMillis;

  public Delays(
      Subscribing subscribing,
      EntryReads reads,
      Mover mover,
      DeadLetters deadLetters,
      Counters counters,
      TurnTime time,
      Runnable wake,
      HourRoom room,
      Recorder recorder,
      Unforeseen unforeseen) {
    this.state = recorder.state();
    this.subscribing = subscribing;
    this.reads = reads;
    this.mover = mover;
    this.deadLetters = deadLetters;
    this.counters = counters;
    this.time = time;
    this.wake = wake;
    this.room = room;
    this.recorder = recorder;
    this.unforeseen = unforeseen;
  }

  /** Finds the holders that a start has recovered. */
  public void recover() {
    state.guard().check();
    for (Destination destination : state.destinations().all()) {
      know(destination);
    }
  }

  private @Nullable DueHour know(Destination holder) {
    DueHour hour = DueHour.of(holder);
    if (hour != null) {
      hours.put(holder.id(), hour);
      room.came(hour);
      later.add(hour);
      checked.add(hour);
    }
    return hour;
  }

  /** Messages were put under a holder, which may be new. */
  public void came(Destination holder) {
    state.guard().check();
    DueHour known = hours.get(holder.id());
    DueHour hour = known == null ? know(holder) : known;
    if (hour != null) {
      hour.cameMillis = time.millis();
      if (hour.opened) {
        unread.add(hour);
      }
    }
  }

  /** What of a holder could not be read is read again. */
  public void lookAgain(Destination holder) {
    state.guard().check();
    DueHour hour = hours.get(holder.id());
    if (hour != null) {
      hour.readAgain();
      if (hour.opened) {
        unread.add(hour);
      }
    }
  }

  /** Messages that wait for their time. */
  public long waiting() {
    long sum = 0;
    for (DueHour hour : hours.values()) {
      sum += hour.subscription().backlog();
    }
    return sum;
  }

  /** All holders, those of the next hour first. */
  public List<DueHour> byTime() {
    List<DueHour> all = new ArrayList<>(hours.values());
    all.sort(Comparator.comparingLong(DueHour::beginMillis));
    return all;
  }

  /** How many messages wait for a destination. */
  public long waiting(Destination destination) {
    return room.waiting(destination.id());
  }

  // ---- a turn's share ----

  /** Opens hours, reads due times and moves what is due. */
  @Override
  public void turn() {
    state.guard().check();
    if (hours.isEmpty()) {
      return;
    }
    long now = time.millis();
    while (!later.isEmpty() && later.element().beginMillis() - LEAD_MILLIS <= now) {
      DueHour hour = later.remove();
      hour.opened = true;
      unread.add(hour);
    }
    readSome();
    int left = MOVES_PER_TURN;
    while (!next.isEmpty() && next.first().lookMillis <= now) {
      if (left <= 0) {
        wake.run();
        return;
      }
      left -= move(next.first(), now, left);
    }
  }

  /** When there is something to do next, by the broker's wall clock. */
  @Override
  public long nextMillis() {
    if (hours.isEmpty()) {
      return Long.MAX_VALUE;
    }
    if (lookMillis <= time.millis()) {
      lookMillis = time.millis() + LOOK_MILLIS;
    }
    long soonest = lookMillis;
    if (!later.isEmpty()) {
      soonest = Math.min(soonest, later.element().beginMillis() - LEAD_MILLIS);
    }
    return next.isEmpty() ? soonest : Math.min(soonest, next.first().lookMillis);
  }

  private void look(DueHour hour, long atMillis) {
    if (hour.lookMillis != atMillis) {
      next.remove(hour);
      hour.lookMillis = atMillis;
      if (atMillis != Long.MAX_VALUE) {
        next.add(hour);
      }
    }
  }

  /** Moves what is due of an hour, at most so many, and says how many that were. */
  private int move(DueHour hour, long now, int most) {
    Subscription subscription = hour.subscription();
    int moved = 0;
    while (moved < most && hour.nextMillis() <= now) {
      int lane = hour.heap.lane();
      long sequence = hour.heap.sequence();
      if (subscription.isUnacknowledged(lane, sequence)) {
        boolean free = subscription.isFree(lane, sequence);
        if (!free && !subscription.isInFlight(lane, sequence)) {
          look(hour, now + AGAIN_MILLIS); // its mark is not reached yet
          return moved;
        }
        if (free && !mover.offer(subscription, lane, sequence, new Due(hour))) {
          look(hour, now + (mover.isFailing(subscription, DUE) ? FAILING_MILLIS : AGAIN_MILLIS));
          return moved;
        }
      }
      hour.heap.remove();
      moved++;
    }
    look(hour, hour.nextMillis());
    return moved;
  }

  private void readSome() {
    Iterator<DueHour> each = unread.iterator();
    int slices = 0;
    while (each.hasNext() && reading < MAX_READING) {
      DueHour hour = each.next();
      while (!hour.reading && slices++ < SLICES_PER_TURN && readSlice(hour)) {
        // What is in memory has been read already.
      }
      if (!hour.reading && slices <= SLICES_PER_TURN) {
        each.remove();
      }
    }
    if (slices > SLICES_PER_TURN) {
      wake.run();
    }
  }

  /** Reads one slice of due times; false if all are known. */
  private boolean readSlice(DueHour hour) {
    Subscription subscription = hour.subscription();
    List<Lane> lanes = new ArrayList<>(hour.holder().durableLanes());
    lanes.addAll(hour.holder().unloggedLanes());
    for (Lane lane : lanes) {
      long from = subscription.nextReadable(lane.code(), hour.unread(lane));
      if (from >= 0) {
        int count = subscription.readableRun(lane.code(), from, SLICE_COUNT);
        hour.reading = true;
        reading++;
        guarded(
            hour,
            lane,
            from,
            () ->
                reads.read(
                    subscription,
                    lane,
                    from,
                    count,
                    SLICE_BYTES,
                    (entries, failure) -> {
                      hasRead(hour);
                      guarded(hour, lane, from, () -> read(hour, lane, from, entries, failure));
                    }));
        return true;
      }
    }
    return false;
  }

  private void hasRead(DueHour hour) {
    if (hour.reading) {
      hour.reading = false;
      reading--;
    }
  }

  /** A message of which nobody can say when it is due is passed over, and holds up no other. */
  private void guarded(DueHour hour, Lane lane, long from, Runnable piece) {
    if (unforeseen.run("when delayed messages are due", piece) != null) {
      hasRead(hour);
      hour.readTo(lane, Math.max(hour.unread(lane), from + 1));
    }
  }

  private void read(
      DueHour hour,
      Lane lane,
      long from,
      @Nullable ByteBuffer entries,
      @Nullable IOException failure) {
    if (entries != null) {
      took(hour, lane, entries);
      return;
    }
    Damage damage = Damage.of(failure, from, from);
    recorder.changing();
    if (damage == null || !reads.setAside(hour.subscription(), lane, damage)) {
      counters.count(Figure.DAMAGED_READS);
      log.error(
          "A due time of destination {} cannot be read, its message is passed over until the"
              + " next start",
          hour.destinationId(),
          failure);
    }
    hour.readTo(lane, from + 1);
  }

  private void took(DueHour hour, Lane lane, ByteBuffer entries) {
    int at = entries.position();
    while (at < entries.limit()) {
      long sequence = Entry.sequence(entries, at);
      hour.add(Entry.dueMillis(entries, at), lane.code(), sequence);
      hour.readTo(lane, sequence + 1);
      at += Entry.length(entries, at);
    }
    look(hour, Math.min(hour.lookMillis, hour.nextMillis()));
  }

  /** Once a second: drops holders that are done with, or whose destination is gone. */
  @Override
  public void tick() {
    state.guard().check();
    int deleted = 0;
    for (int i = Math.min(CHECKS, checked.size()); i > 0 && deleted < MAX_DELETES; i--) {
      DueHour hour = checked.remove();
      if (isDone(hour)) {
        deleted++;
        hours.remove(hour.holder().id());
        room.went(hour);
        look(hour, Long.MAX_VALUE);
        unread.remove(hour);
        later.remove(hour);
        subscribing.delete(hour.holder());
      } else {
        checked.add(hour);
      }
    }
  }

  private boolean isDone(DueHour hour) {
    if (hour.reading) {
      return false;
    }
    long now = time.millis();
    boolean over = hour.isOver(now) || now - hour.cameMillis >= EMPTY_MILLIS;
    return (over && hour.subscription().backlog() == 0)
        || state.destinations().find(hour.destinationId()) == null;
  }

  /** A message that has fallen due. */
  private final class Due implements Mover.Errand {
    private final DueHour hour;

    Due(DueHour hour) {
      this.hour = hour;
    }

    @Override
    public String what() {
      return DUE;
    }

    @Override
    public String place(Subscription from) {
      return placeOf(hour);
    }

    @Override
    public Mover.@Nullable Errand instead(ByteBuffer entry) {
      long expiry = Entry.expiryMillis(entry, 0);
      return expiry != 0 && expiry <= time.millis() ? new Expired(hour) : null;
    }

    @Override
    public Mover.Goal decide(Subscription from, int lane, long sequence, ByteBuffer entry) {
      Destination to = state.destinations().find(hour.destinationId());
      ByteBuffer message = entry.slice(Entry.messageOffset(entry, 0), Entry.messageBytes(entry, 0));
      return new Mover.Goal(
          to == null ? null : Target.of(to), message, Entry.expiryMillis(entry, 0), Reason.MOVED);
    }

    @Override
    public void done(Subscription from, int lane, long sequence, Mover.Goal goal) {}
  }

  /** A message that expired before it was due; in a line of its own, since its queue may fail. */
  private final class Expired implements Mover.Errand {
    private final DueHour hour;

    Expired(DueHour hour) {
      this.hour = hour;
    }

    @Override
    public String what() {
      return DeadLetters.EXPIRED;
    }

    @Override
    public String place(Subscription from) {
      return placeOf(hour);
    }

    @Override
    public Mover.Goal decide(Subscription from, int lane, long sequence, ByteBuffer entry) {
      Destination of = state.destinations().find(hour.destinationId());
      return of == null ? Mover.Goal.nowhere(Reason.EXPIRED) : deadLetters.expiredBefore(of, entry);
    }

    @Override
    public void done(Subscription from, int lane, long sequence, Mover.Goal goal) {
      counters.count(Figure.EXPIRED);
    }
  }

  private String placeOf(DueHour hour) {
    Destination destination = state.destinations().find(hour.destinationId());
    return destination == null ? "a deleted destination" : destination.name().shown();
  }
}
