package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector.IdEquality;
import org.jspecify.annotations.Nullable;

/**
 * The read positions that the consumers of a subscription share: finds the next messages to give
 * out, the highest priority first (Jakarta Messaging 3.1, section 3.4.10). Within a priority they
 * come in order over durable and volatile lane: a volatile message after every durable one that was
 * there when it was published, and before every later one.
 *
 * <p>A priority in which nothing is free is not looked at again before something becomes visible in
 * the destination or comes back.
 */
@OwnedBy("shard")
public final class View {
  private static final long NONE = Level.NONE;

  private final Subscription subscription;
  private final @Nullable Filter filter;
  private final @Nullable Views views;
  private final @Nullable Level[] levels = new @Nullable Level[LaneCode.PRIORITIES];

  /** A bit for each priority in use, and for each in which something may be free. */
  private int used;

  private int ready;
  private long seenMoves = -1;

  private @Nullable Lane lane;
  private long from;
  private int count;
  private boolean waitsForTouch;

  View(Subscription subscription) {
    this(subscription, null, null);
  }

  /** A view with a selector, which has matched nothing yet. */
  View(Subscription subscription, @Nullable Filter filter, @Nullable Views views) {
    this.subscription = subscription;
    this.filter = filter;
    this.views = views;
  }

  /** A lane has come; its messages are read from the cursor's start on. */
  void add(Cursor cursor) {
    add(cursor, null);
  }

  void add(Cursor cursor, @Nullable Sifted sifted) {
    int priority = LaneCode.priority(cursor.lane.code());
    Level level = levels[priority];
    if (level == null) {
      level = new Level();
      levels[priority] = level;
    }
    level.add(cursor, sifted);
    used |= 1 << priority;
    ready |= 1 << priority;
  }

  /** The lane of what {@link #next} found. */
  public Lane lane() {
    Lane found = lane;
    if (found == null) {
      throw new IllegalStateException("nothing was found yet");
    }
    return found;
  }

  /** The first sequence that {@link #next} found. */
  public long from() {
    return from;
  }

  /** How many consecutive sequences {@link #next} found. */
  public int count() {
    return count;
  }

  /** Whose view it is. */
  public Subscription subscription() {
    return subscription;
  }

  /** The selector of its consumers, null if they have none. */
  public @Nullable Filter filter() {
    return filter;
  }

  /** Whether {@link #next} found nothing only because a block's Touched record is not durable. */
  public boolean waitsForTouch() {
    return waitsForTouch;
  }

  /**
   * Finds the next consecutive messages that exist, are visible, and neither acknowledged nor in
   * flight. Nothing changes until {@link Subscription#take}.
   *
   * @param most at most so many
   * @param touches told of blocks that must be touched before anything from them is given
   * @return false if there is nothing to give now
   */
  public boolean next(int most, Subscription.Touches touches) {
    waitsForTouch = false;
    if (subscription.isPaused()) {
      return false;
    }
    long moves = subscription.destination().moves();
    if (seenMoves != moves) {
      seenMoves = moves;
      ready = used;
      if (views != null) {
        views.catchUp();
      }
    }
    for (int rest = views == null ? ready : used; rest != 0; rest = without(rest, highest(rest))) {
      int priority = highest(rest);
      Level level = levels[priority];
      if (level == null || (ready & (1 << priority)) == 0 || !level.find()) {
        ready = without(ready, priority);
        if (level != null && level.unsifted() != null) {
          return false; // something of a higher priority may match
        }
      } else if (next(level, most, touches)) {
        return true;
      } else if (waitsForTouch) {
        // Nothing overtakes it; but what comes after it is asked for now, not one force later.
        requestFirst(without(rest, priority), touches);
        return false;
      } else if (level.unsifted() != null) {
        return false;
      }
    }
    return false;
  }

  private static int highest(int priorities) {
    return 31 - Integer.numberOfLeadingZeros(priorities);
  }

  private static int without(int priorities, int priority) {
    return priorities & ~(1 << priority);
  }

  private boolean next(Level level, int most, Subscription.Touches touches) {
    long d = level.nextDurable();
    long v = level.nextSwift();
    Cursor durable = level.durable();
    Cursor swift = level.swift();
    if (swift == null || v == NONE) {
      long last = level.beforeUnsifted();
      return durable != null && d <= last && durableRun(durable, d, last, most, touches);
    }
    long after = ((VolatileLane) swift.lane).after(v);
    if (durable == null || d > after) {
      long end = level.durableEnd();
      return after < end && volatileRun(swift, v, Math.min(d, end), most);
    }
    return durableRun(durable, d, after, most, touches);
  }

  private void requestFirst(int priorities, Subscription.Touches touches) {
    for (int rest = priorities; rest != 0; rest = without(rest, highest(rest))) {
      Level level = levels[highest(rest)];
      Cursor durable = level == null ? null : level.durable();
      if (level != null
          && durable != null
          && subscription.kind().isDurable()
          && level.find()
          && level.nextDurable() != NONE) {
        request(durable, Cursor.key(level.nextDurable()), touches);
      }
    }
  }

  private boolean durableRun(
      Cursor durable, long first, long last, int most, Subscription.Touches touches) {
    long key = Cursor.key(first);
    long blockEnd = (key + 1) << SequenceSet.BLOCK_BITS;
    if (subscription.kind().isDurable()) {
      if (!durable.mayGive(key)) {
        request(durable, key, touches);
      }
      if (!durable.mayGive(key)) {
        waitsForTouch = true;
        return false;
      }
      if (blockEnd - first <= SequenceSet.BLOCK / 2) {
        request(durable, key + 1, touches);
      }
    }
    long end = Math.min(Math.min(blockEnd, last + 1), durable.lane.visibleEnd());
    lane = durable.lane;
    from = first;
    count = runLength(durable, sifted(durable), first, end, most);
    return true;
  }

  private void request(Cursor durable, long key, Subscription.Touches touches) {
    if (durable.request(key)) {
      touches.touch(subscription, durable.lane.code(), key);
    }
  }

  private boolean volatileRun(Cursor swift, long first, long before, int most) {
    VolatileLane of = (VolatileLane) swift.lane;
    int run = runLength(swift, sifted(swift), first, of.visibleEnd(), most);
    int fits = 1;
    while (fits < run && of.after(first + fits) < before) {
      fits++;
    }
    this.lane = of;
    this.from = first;
    this.count = fits;
    return true;
  }

  private @Nullable Sifted sifted(Cursor cursor) {
    Level level = levels[LaneCode.priority(cursor.lane.code())];
    return level == null ? null : level.sifted(cursor.lane);
  }

  private static int runLength(
      Cursor cursor, @Nullable Sifted sifted, long first, long bound, int most) {
    long end = Math.min(bound, cursor.lane.extents.extentEnd(first));
    end = Math.min(end, first + most);
    long at = first;
    while (at < end) {
      long taken = cursor.acknowledged.wordAt(at) | cursor.inFlight.wordAt(at);
      taken |= sifted == null ? 0 : ~sifted.matches.wordAt(at);
      long busy = taken & (-1L << at);
      if (busy != 0) {
        at = (at & ~63L) + Long.numberOfTrailingZeros(busy);
        break;
      }
      at = (at & ~63L) + 64;
    }
    return (int) (Math.min(at, end) - first);
  }

  /** Goes back to messages that are free again. */
  void back(Lane to, long sequence) {
    int priority = LaneCode.priority(to.code());
    Level level = levels[priority];
    if (level != null) {
      level.back(to, sequence);
      ready |= 1 << priority;
    }
  }

  // ---- with a selector ----

  /** Whether it has consumers; only a view with a selector ends. */
  public boolean isOpen() {
    return filter == null || filter.users > 0;
  }

  /** Matching messages that are not acknowledged, as far as they are known. */
  public long matches() {
    long sum = 0;
    for (Level level : levels) {
      sum += level == null ? 0 : level.matches();
    }
    return sum;
  }

  /**
   * The lane that has to be looked at next, the highest priority first; null if all that is there
   * has been looked at.
   */
  public @Nullable Lane unsifted() {
    if (views == null) {
      return null;
    }
    views.catchUp();
    for (int rest = used; rest != 0; rest = without(rest, highest(rest))) {
      Level level = levels[highest(rest)];
      Sifted sifted = level == null ? null : level.unsifted();
      if (sifted != null) {
        return sifted.cursor.lane;
      }
    }
    return null;
  }

  /** The next message to look at in a lane, or its end if there is none. */
  public long nextUnsifted(Lane lane) {
    return need(lane).next();
  }

  /** How many consecutive messages to look at begin with one of them, at most so many. */
  public int unsiftedRun(Lane lane, long from, int most) {
    return need(lane).run(from, most);
  }

  /** The next message to look at from a sequence on, or the lane's end if there is none. */
  public long nextUnsifted(Lane lane, long from) {
    return need(lane).next(from);
  }

  /** What finds the ids that its selector asks for; null if it asks for none. */
  public @Nullable IdEquality idEquality() {
    return filter == null ? null : filter.selector().idEquality();
  }

  /** Passes over what an index of ids says it cannot want. */
  public void jump(Lane lane) {
    IdLane index = index(lane);
    IdEquality wanted = idEquality();
    if (index != null && wanted != null) {
      need(lane).jump(index, IdScan.hash(wanted.id()));
    }
  }

  /** Whether an index of ids learns from what is looked at next, so that nothing is passed over. */
  public boolean learns(Lane lane) {
    IdLane index = index(lane);
    Sifted sifted = need(lane);
    long next = sifted.next();
    return index != null
        && !index.isLive()
        && sifted.wholeFrom(sifted.end()) <= index.end()
        && next >= index.end();
  }

  /**
   * Lets the index of ids know what was looked at, before {@link #sifted}.
   *
   * @param sequence everything below it was looked at
   * @param hashes of the ids of these sequences, rising, all that are not acknowledged
   */
  public void learned(Lane lane, long sequence, long[] sequences, long[] hashes, int count) {
    IdLane index = index(lane);
    Sifted sifted = need(lane);
    if (index == null || index.isLive()) {
      return;
    }
    long known = index.end();
    if (sifted.wholeFrom(sifted.end()) <= known && sequence > known) {
      for (int i = 0; i < count; i++) {
        if (sequences[i] >= known) {
          index.add(sequences[i], hashes[i]);
        }
      }
      index.reached(sequence);
    }
  }

  private @Nullable IdLane index(Lane lane) {
    IdEquality wanted = idEquality();
    IdIndex index = wanted == null || views == null ? null : views.index(wanted.header());
    return index == null ? null : index.lane(lane);
  }

  /** A message matches; nothing happens if it is acknowledged. */
  public void match(Lane lane, long sequence) {
    Sifted sifted = need(lane);
    if (sifted.cursor.isUnacknowledged(sequence)) {
      sifted.matches.add(sequence);
      back(lane, sequence);
      changed();
    }
  }

  /** Everything of a lane below a sequence has been looked at. */
  public void sifted(Lane lane, long sequence) {
    need(lane).reached(sequence);
    ready |= 1 << LaneCode.priority(lane.code());
  }

  private Sifted need(Lane lane) {
    Level level = levels[LaneCode.priority(lane.code())];
    Sifted sifted = level == null ? null : level.sifted(lane);
    if (sifted == null) {
      throw new IllegalStateException("lane " + lane.code() + " is not looked at");
    }
    return sifted;
  }

  /** Whether what arrives in a lane has to be shown to it. */
  boolean isLive(Lane lane) {
    return need(lane).isLive();
  }

  /** What arrives from now on is not shown to it in any lane but looked up later. */
  void pause() {
    for (Level level : levels) {
      if (level != null) {
        level.pause();
      }
    }
  }

  /** What arrives from now on is not shown to it but looked up later. */
  void pause(Lane lane) {
    need(lane).pause();
  }

  void acknowledged(Lane lane, long from, long to) {
    Sifted sifted = need(lane);
    if (!sifted.matches.isEmpty() && sifted.matches.remove(from, to - from) > 0) {
      changed();
    }
  }

  private void changed() {
    if (views != null) {
      views.changed(this);
    }
  }

  void clear() {
    for (Level level : levels) {
      if (level != null) {
        level.clear();
      }
    }
  }
}
