package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector.IdEquality;
import org.jspecify.annotations.Nullable;

/**
 * The read positions that the consumers of a subscription share: finds the next messages to give
 * out, the highest priority first (Jakarta Messaging 3.1, section 3.4.10). Within a priority they
 * come in order over durable and unlogged lane: an unlogged message after every durable one that
 * was there when it was published, and before every later one.
 *
 * <p>A priority in which nothing is free is not looked at again before something becomes visible in
 * the destination or comes back.
 */
@OwnedBy("shard")
public final class View {
  private static final long NONE = Level.NONE;

  private final Subscription subscription;
  private final @Nullable Filter filter;
  private @Nullable Views views;

  /** Who gets what; null in a destination without keys. */
  private @Nullable GroupBuckets keys;

  // For whom next() looks, in a destination with keys.
  private long ownKeys;
  private boolean withLoose = true;

  /** Whether it knows so much that it looks no further; ends at half of that. */
  private boolean full;

  private ViewBounds bounds = ViewBounds.DEFAULT;

  /** Consumers without a selector. */
  private int users;

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

  /** Whether {@link #next} found nothing only because a Touched record is not durable. */
  public boolean waitsForTouch() {
    return waitsForTouch;
  }

  /**
   * Finds the next consecutive messages that exist, are visible, and neither acknowledged nor in
   * flight. Nothing changes until {@link Subscription#take}.
   *
   * @param most at most so many
   * @param touches told of what must be touched before it is given
   * @return false if there is nothing to give now
   */
  public boolean next(int most, Subscription.Touches touches) {
    return next(null, most, touches);
  }

  /**
   * The same for one consumer: in a destination with keys what has none and what it owns.
   *
   * @param consumer for whom; it matters only if there are {@link #keys}
   */
  public boolean next(@Nullable GroupOwner consumer, int most, Subscription.Touches touches) {
    subscription.guard().check();
    waitsForTouch = false;
    if (subscription.isPaused()) {
      return false;
    }
    refresh();
    GroupBuckets spread = keys;
    if (spread != null) {
      ownKeys = consumer == null ? 0 : spread.giving(consumer);
      withLoose = !subscription.isLooseWithheld();
      ready = used;
    }
    for (int rest = views == null ? ready : used; rest != 0; rest = without(rest, highest(rest))) {
      int priority = highest(rest);
      Level level = levels[priority];
      if (level == null || (ready & (1 << priority)) == 0 || !level.find(ownKeys, withLoose)) {
        ready = without(ready, priority);
        if (level != null) {
          level.dry();
        }
        if (level != null && mayMatchMore(level)) {
          return false; // something of a higher priority may match
        }
      } else if (find(level, most, touches)) {
        return true;
      } else if (waitsForTouch) {
        // Nothing overtakes it; but what comes after it is asked for now, not one force later.
        requestFirst(without(rest, priority), touches);
        return false;
      } else if (mayMatchMore(level)) {
        return false;
      }
    }
    return false;
  }

  private boolean mayMatchMore(Level level) {
    return !full && level.unsifted() != null;
  }

  /** Takes notice of what became visible or was appended. */
  public void refresh() {
    subscription.guard().check();
    long moves = subscription.destination().moves();
    if (seenMoves != moves) {
      seenMoves = moves;
      ready = used;
      if (views != null) {
        views.catchUp();
      }
      if (keys != null) {
        keys.moved();
      }
    }
  }

  private static int highest(int priorities) {
    return 31 - Integer.numberOfLeadingZeros(priorities);
  }

  private static int without(int priorities, int priority) {
    return priorities & ~(1 << priority);
  }

  private boolean find(Level level, int most, Subscription.Touches touches) {
    long d = level.nextDurable();
    long v = level.nextUnlogged();
    Cursor durable = level.durable();
    Cursor unlogged = level.unlogged();
    if (unlogged == null || v == NONE) {
      long last = level.beforeUnsifted();
      return durable != null && d <= last && durableRun(durable, d, last, most, touches);
    }
    long after = ((UnloggedLane) unlogged.lane).after(v);
    if (durable == null || d > after) {
      long end = level.durableEnd();
      return after < end && unloggedRun(unlogged, v, Math.min(d, end), most);
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
          && level.find(ownKeys, withLoose)
          && level.nextDurable() != NONE) {
        durable.touched.wants(level.nextDurable(), subscription, touches);
      }
    }
  }

  private boolean durableRun(
      Cursor durable, long first, long last, int most, Subscription.Touches touches) {
    long bound = Math.min(last + 1, durable.lane.visibleEnd());
    long end = bound;
    if (subscription.kind().isDurable()) {
      end = durable.touched.mayGive(first, bound);
      if (end == first) {
        durable.touched.wants(first, subscription, touches);
        end = durable.touched.mayGive(first, bound);
      }
      if (end == first) {
        waitsForTouch = true;
        return false;
      }
    }
    lane = durable.lane;
    from = first;
    count = runLength(durable, first, end, most);
    if (subscription.kind().isDurable()) {
      durable.touched.given(first + count, subscription, touches);
    }
    return true;
  }

  private boolean unloggedRun(Cursor unlogged, long first, long before, int most) {
    UnloggedLane of = (UnloggedLane) unlogged.lane;
    int run = runLength(unlogged, first, of.visibleEnd(), most);
    int fits = 1;
    while (fits < run && of.after(first + fits) < before) {
      fits++;
    }
    this.lane = of;
    this.from = first;
    this.count = fits;
    return true;
  }

  private int runLength(Cursor cursor, long first, long bound, int most) {
    Level level = levels[LaneCode.priority(cursor.lane.code())];
    return level == null ? 0 : level.run(cursor, first, bound, most, ownKeys, withLoose);
  }

  /** Marks what {@link #next} found as in flight, or the first part of it. */
  public void take(GroupOwner consumer, Lane of, long first, int some) {
    subscription.guard().check();
    subscription.take(of, first, some);
    GroupBuckets spread = keys;
    if (spread != null) {
      GroupLane known = need(of).keys;
      if (known != null) {
        spread.taken(known, consumer, first, some);
      }
    }
  }

  /** Goes back to messages that are free again. */
  void back(Lane to, long sequence, long some) {
    int priority = LaneCode.priority(to.code());
    Level level = levels[priority];
    if (level != null) {
      level.back(to, sequence, some);
      ready |= 1 << priority;
    }
  }

  // ---- with keys ----

  /** Who gets what; null in a destination in which no message ever had a key. */
  public @Nullable GroupBuckets keys() {
    return keys;
  }

  /** The group bucket of a message that was given out, -1 without a key. */
  public int key(int lane, long sequence) {
    Level level = levels[LaneCode.priority(lane)];
    Lane of = subscription.lane(lane);
    Sifted sifted = level == null || of == null ? null : level.sifted(of);
    GroupLane known = sifted == null ? null : sifted.keys;
    return known == null ? -1 : known.key(sequence);
  }

  /** From now on messages have keys; all that are there have none. */
  void spread(Views of, OffHeap memory) {
    GroupBuckets spread = new GroupBuckets(subscription);
    bounds = memory.bounds;
    keys = spread;
    views = of;
    for (Level level : levels) {
      if (level != null) {
        level.spread(of, spread, memory);
      }
    }
  }

  /** One more consumer without a selector, or one less; the last one takes what is known along. */
  public void attached(int change) {
    subscription.guard().check();
    users += change;
    if (users == 0 && keys != null) {
      boolean much = matches() > bounds.recent();
      for (Level level : levels) {
        if (level != null && much) {
          level.restart();
        }
      }
      full &= !much;
      pause();
    }
  }

  /**
   * Looks on although it knows so much, for nothing of that can be given out; but not if it knows
   * {@link ViewBounds#HARD} times as much.
   */
  public void lookOn() {
    subscription.guard().check();
    full = bounds.isTooFull(matches(), bytes());
  }

  // ---- with a selector ----

  /** Whether it has consumers; only a view with a selector ends. */
  public boolean isOpen() {
    return filter == null ? users > 0 || keys == null : filter.users > 0;
  }

  /** Whether it knows so much that it looks no further for now. */
  public boolean isFull() {
    return full;
  }

  /** Matching messages that are not acknowledged, as far as they are known. */
  public long matches() {
    long sum = 0;
    for (Level level : levels) {
      sum += level == null ? 0 : level.matches();
    }
    return sum;
  }

  /** What these take outside the heap, in a destination with keys. */
  long bytes() {
    long sum = 0;
    for (Level level : levels) {
      sum += level == null ? 0 : level.bytes();
    }
    return sum;
  }

  /**
   * The lane that has to be looked at next, the highest priority first; null if all that is there
   * has been looked at.
   */
  public @Nullable Lane unsifted() {
    subscription.guard().check();
    if (views == null) {
      return null;
    }
    views.catchUp();
    if (full) {
      return null;
    }
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
    subscription.guard().check();
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
    subscription.guard().check();
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

  /**
   * A message matches; nothing happens if it is acknowledged.
   *
   * @param code what {@link GroupScan} says of it
   */
  public void match(Lane lane, long sequence, int code) {
    subscription.guard().check();
    Sifted sifted = need(lane);
    if (sifted.cursor.isUnacknowledged(sequence)) {
      sifted.match(sequence, code);
      if (sifted.keys == null) {
        back(lane, sequence, 1);
      } else {
        full |= bounds.isFull(matches(), bytes());
      }
      changed();
    }
  }

  /** Behind the last sequence of a lane that was looked at. */
  public long siftedEnd(Lane lane) {
    return need(lane).end();
  }

  /** Everything of a lane below a sequence has been looked at. */
  public void sifted(Lane lane, long sequence) {
    subscription.guard().check();
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

  void lookAgain(Lane lane, long from) {
    need(lane).lookAgain(from);
    ready |= 1 << LaneCode.priority(lane.code());
  }

  void acknowledged(Lane lane, long from, long to) {
    if (need(lane).acknowledged(from, to)) {
      boolean was = full;
      full &= !bounds.isHalf(matches(), bytes());
      if (was && !full && views != null) {
        views.lag();
      }
      changed();
    }
  }

  private void changed() {
    if (views != null) {
      views.changed(this);
    }
  }

  void clear() {
    if (keys != null) {
      keys.clear();
    }
    for (Level level : levels) {
      if (level != null) {
        level.clear();
      }
    }
  }
}
