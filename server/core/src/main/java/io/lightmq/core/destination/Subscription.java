package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.wire.entry.SequenceRange;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Who wants a destination's messages, and how far that is: the single one of a queue or one of many
 * of a topic. Methods named like a record apply it.
 */
@OwnedBy("shard")
public final class Subscription {
  /** Takes requests for Touched records. */
  @FunctionalInterface
  public interface Touches {
    /** {@code count} sequences of a lane have to be touched, durably, before they are given out. */
    void touch(Subscription subscription, int lane, long from, int count);
  }

  private final long id;
  private final Guard guard;
  private final Destination destination;
  private final SubscriptionKind kind;
  private final @Nullable String clientId;
  private final @Nullable String name;
  private final Interest interest;
  private final @Nullable Filter filter;
  private final SeenMessages seen = new SeenMessages(this);
  private final View view;
  private final Views views;

  /** One for each lane of the destination, in the order of their coming. */
  private Cursor[] cursors = new Cursor[0];

  private final OffHeap memory;
  private @Nullable String owner;
  private @Nullable Duplicates duplicates;
  private int consumers;
  private boolean closed;
  private boolean paused;
  private long withheldKeys;
  private boolean looseWithheld;

  Subscription(
      long id,
      Destination destination,
      SubscriptionKind kind,
      @Nullable String clientId,
      @Nullable String name,
      Interest interest,
      OffHeap memory) {
    this.id = id;
    this.guard = destination.guard();
    this.destination = destination;
    this.kind = kind;
    this.clientId = clientId;
    this.name = name;
    this.interest = interest;
    this.filter = destination.filter(interest);
    this.memory = memory;
    this.view = new View(this);
    this.views = new Views(this, memory);
    if (destination.isGrouped()) {
      group();
    }
    for (DurableLane lane : destination.durableLanes()) {
      add(lane).startAt(kind == SubscriptionKind.QUEUE ? 0 : lane.extents.end());
    }
    for (UnloggedLane lane : destination.unloggedLanes()) {
      add(lane).startAt(lane.extents.end());
    }
    suppress(destination.settings().suppression());
  }

  /**
   * Suppresses duplicates from now on, or not any more. What is in flight counts as without a key.
   */
  void suppress(@Nullable Suppression suppression) {
    Duplicates now = duplicates;
    if (suppression == null) {
      duplicates = null;
      if (now != null) {
        now.freeAll();
      }
    } else if (now != null) {
      now.change(suppression);
    } else {
      Duplicates begun = new Duplicates(this, suppression);
      for (Cursor cursor : cursors) {
        forEachInFlight(cursor.lane.code(), begun::adopt);
      }
      duplicates = begun;
    }
  }

  /** What it knows of duplicates, null if it does not suppress them. */
  public @Nullable Duplicates duplicates() {
    return duplicates;
  }

  /** Applies the keys of a recorded acknowledgement. */
  public void remember(List<UUID> keys, long atMillis) {
    guard.check();
    if (duplicates != null) {
      duplicates.remember(keys, atMillis);
    }
  }

  /** Remembers the keys of acknowledged messages that are in no record, until the process ends. */
  public void rememberUnrecorded(List<UUID> keys, long atMillis) {
    guard.check();
    if (duplicates != null) {
      duplicates.rememberUnrecorded(keys, atMillis);
    }
  }

  /** A lane has come, which this subscription wants from its beginning on. */
  Cursor add(Lane lane) {
    Cursor added = new Cursor(lane, memory);
    cursors = Arrays.copyOf(cursors, cursors.length + 1);
    cursors[cursors.length - 1] = added;
    if (!views.isSpread()) {
      view.add(added);
    }
    views.add(added);
    return added;
  }

  /** Who may touch it, as its destination. */
  Guard guard() {
    return guard;
  }

  List<Cursor> cursors() {
    return Arrays.asList(cursors);
  }

  /** Unique among all subscriptions of the shard, never reused. */
  public long id() {
    return id;
  }

  /** What it subscribes to. */
  public Destination destination() {
    return destination;
  }

  public SubscriptionKind kind() {
    return kind;
  }

  /** The JMS client id that it belongs to, if any. */
  public @Nullable String clientId() {
    return clientId;
  }

  /** Its name, if it has one. */
  public @Nullable String name() {
    return name;
  }

  /** The user whose it is; null where that is not known. */
  public @Nullable String owner() {
    return owner;
  }

  /** Applies whose it is. */
  public void owned(@Nullable String by) {
    guard.check();
    owner = by;
  }

  /** Whether it does not want what its own client publishes. */
  public boolean noLocal() {
    return interest.noLocal();
  }

  /** Its selector, null if it has none. */
  public @Nullable Selector selector() {
    return interest.selector();
  }

  /** Its selector's text, null if it has none. */
  public @Nullable String selectorText() {
    Selector selector = interest.selector();
    return selector == null ? null : selector.text();
  }

  /** Its selector in use, shared with others that have the same; null if it has none. */
  public @Nullable Filter filter() {
    return filter;
  }

  /** How often its selector, or those of a queue's consumers, looked at a message. */
  public long selectorEvaluations() {
    return filter == null ? views.evaluations() : filter.evaluations();
  }

  /** What that took, from samples. */
  public long selectorNanos() {
    return filter == null ? views.nanos() : filter.nanos();
  }

  /** Whether it does not want everything. */
  public boolean isPartial() {
    return interest.isPartial();
  }

  /** Whether it wants nothing of what a connection publishes; see {@link Interest}. */
  public boolean refuses(long connectionId, @Nullable String publisherClientId) {
    if (!interest.noLocal()) {
      return false;
    }
    return kind == SubscriptionKind.PLAIN
        ? connectionId == interest.connectionId()
        : clientId != null && clientId.equals(publisherClientId);
  }

  /** What its consumers have seen, or may have. */
  public SeenMessages seen() {
    return seen;
  }

  /** The positions that its consumers share. */
  public View view() {
    return view;
  }

  /** The views of consumers with selectors, of a queue only. */
  public Views views() {
    return views;
  }

  /** Whether it ends only when it is deleted, and not with its consumers or their connection. */
  public boolean isLasting() {
    return kind.isDurable() && !destination.kind().isTemporary();
  }

  /** Whether it has ended; nothing of it may be used any more. */
  public boolean isClosed() {
    return closed;
  }

  /** A browser's look at what is visible now; of a queue only. */
  public Look look() {
    return new Look(this, Arrays.asList(cursors));
  }

  /** The messages in flight of a new consumer: none. */
  public Holding newHolding() {
    return new Holding(this, memory);
  }

  /** Consumers that are attached now. */
  public int consumers() {
    return consumers;
  }

  /**
   * A message with a key comes, the first in its destination: from now on all of one key go to one
   * consumer of those that share the subscription.
   */
  void group() {
    if (kind.isShared() && !views.isSpread()) {
      views.spread(view);
    }
  }

  /** Whether messages are spread by their keys. */
  public boolean isSpread() {
    return views.isSpread();
  }

  /** A consumer came (1) or went (-1). */
  public void attached(int change) {
    guard.check();
    consumers += change;
  }

  /** Messages that are not acknowledged, visible or not. */
  public long backlog() {
    long sum = 0;
    for (Cursor cursor : cursors) {
      sum += cursor.backlog();
    }
    return sum;
  }

  /** Visible messages that are free. */
  public long ready() {
    long sum = 0;
    for (Cursor cursor : cursors) {
      sum += cursor.ready();
    }
    return sum;
  }

  /** Messages in flight. */
  public long inFlight() {
    return Arrays.stream(cursors).mapToLong(cursor -> cursor.inFlight.size()).sum();
  }

  /** Messages in flight that transactions acknowledge which are not committed. */
  public long held() {
    return Arrays.stream(cursors).mapToLong(Cursor::staged).sum();
  }

  /** The lowest unacknowledged sequence of a lane, or the lane's end. */
  public long firstUnacknowledged(Lane lane) {
    return cursor(lane).firstUnacknowledged();
  }

  /** Messages of a lane that are not acknowledged, visible or not. */
  public long backlog(Lane lane) {
    return cursor(lane).backlog();
  }

  // ---- giving out ----

  /** Marks free messages as in flight. */
  public void take(Lane lane, long from, int count) {
    guard.check();
    cursor(lane).inFlight.add(from, count);
  }

  /** Messages that are in flight wait for the broker and not for a consumer: no delivery. */
  public void toNobody(int lane, long from, long count) {
    guard.check();
    cursor(lane).toNobody(from, count);
  }

  /**
   * In-flight messages are free again.
   *
   * @param counted whether that was a delivery, which flags them as seen
   */
  public void giveBack(int lane, long from, long count, boolean counted) {
    guard.check();
    Cursor cursor = cursor(lane);
    cursor.returned(from, from + count, counted);
    view.back(cursor.lane, from, count);
    views.back(cursor.lane, from, count);
    if (duplicates != null) {
      duplicates.returned(lane, from, count);
    }
  }

  /** Whether a message was published to this subscription and is not acknowledged. */
  public boolean isUnacknowledged(int lane, long sequence) {
    return cursor(lane).isUnacknowledged(sequence);
  }

  /** Whether a message is visible, not acknowledged and not in flight. */
  public boolean isFree(int lane, long sequence) {
    Cursor cursor = cursor(lane);
    return cursor.isUnacknowledged(sequence)
        && sequence < cursor.lane.visibleEnd()
        && !cursor.inFlight.contains(sequence);
  }

  /** Whether a message is in flight to anyone. */
  public boolean isInFlight(int lane, long sequence) {
    return cursor(lane).inFlight.contains(sequence);
  }

  /** Whether a message is in flight to no consumer: it waits for the broker. */
  public boolean isHeld(int lane, long sequence) {
    return cursor(lane).isHeld(sequence);
  }

  /** Whether anything in a range may have been delivered before. */
  public boolean anySeen(Lane lane, long from, long count) {
    return cursor(lane).anySeen(from, from + count);
  }

  /** How often a message was or may have been delivered before, at most 255. */
  public int deliveries(int lane, long sequence) {
    return cursor(lane).deliveries(sequence);
  }

  /** Whether a message waits for its next attempt and nothing is given out. */
  public boolean isPaused() {
    return paused;
  }

  /** Nothing is given out any more, or again. */
  public void pause(boolean on) {
    guard.check();
    paused = on;
    views.lag();
  }

  /** Nothing of a group bucket is given out any more, or again; -1 for messages without a key. */
  public void withhold(int key, boolean on) {
    guard.check();
    if (key < 0) {
      looseWithheld = on;
    } else if (on) {
      withheldKeys |= 1L << key;
    } else {
      withheldKeys &= ~(1L << key);
    }
    views.lag();
  }

  /** The group buckets that wait for a message's next attempt. */
  long withheldKeys() {
    return withheldKeys;
  }

  /** Whether the messages without a key do. */
  boolean isLooseWithheld() {
    return looseWithheld;
  }

  /** Whether a message has used up its attempts and is a dead letter. */
  public boolean isExhausted(int lane, long sequence) {
    int most = destination.settings().maxAttempts();
    if (most == 0) {
      return false;
    }
    Cursor cursor = cursor(lane);
    return cursor.hasAttempts()
        && cursor.attempts(sequence) >= most
        && !destination.isDeadLetterQueueOfItself();
  }

  /** The first from a message on with which another number of attempts has failed, or a limit. */
  public long attemptsEnd(int lane, long from, long limit) {
    return cursor(lane).attemptsEnd(from, limit);
  }

  /** The first unacknowledged sequence of a lane from one on that can be read, or -1 for none. */
  public long nextReadable(int lane, long from) {
    Cursor cursor = cursor(lane);
    long found = cursor.nextReadable(from);
    return cursor.lane.exists(found) ? found : -1;
  }

  /** How many consecutive sequences from a readable one on are so too, at most so many. */
  public int readableRun(int lane, long from, int most) {
    return cursor(lane).readableRun(from, most);
  }

  /** How many attempts to process a message have failed, at most 255. */
  public int attempts(int lane, long sequence) {
    return cursor(lane).attempts(sequence);
  }

  // ---- records ----

  /** One more attempt has failed with each of these messages that is not acknowledged. */
  public void attempted(List<SequenceRange> ranges) {
    guard.check();
    ranges.forEach(each -> cursor(each.lane()).attempted(each.from(), end(each)));
  }

  static long end(SequenceRange range) {
    return range.from() + range.count();
  }

  /** What was counted of these as a failed attempt was none. */
  public void takeBackAttempts(List<SequenceRange> ranges) {
    guard.check();
    ranges.forEach(each -> cursor(each.lane()).takeBackAttempts(each.from(), end(each)));
  }

  /**
   * Acknowledges what exists of some sequences, in flight or not.
   *
   * @return how many of them were not acknowledged before
   */
  public long acknowledge(int lane, long from, long count) {
    guard.check();
    Cursor cursor = cursor(lane);
    long first = Math.max(cursor.start(), cursor.lane.extents.ceiling(from));
    long end = from + count;
    long added = 0;
    while (first < end && cursor.lane.exists(first)) {
      long stop = Math.min(end, cursor.lane.extents.extentEnd(first));
      if (cursor.lane instanceof UnloggedLane unlogged) {
        unlogged.releaseAllBut(cursor.acknowledged, first, stop);
      }
      added += cursor.acknowledge(first, stop);
      views.acknowledged(cursor.lane, first, stop);
      first = cursor.lane.extents.ceiling(stop);
    }
    if (duplicates != null) {
      duplicates.acknowledged(lane, from, count);
    }
    return added;
  }

  /**
   * Takes messages that were just appended as acknowledged because this subscription does not want
   * them; of unlogged ones it was not counted among those that need them.
   *
   * @param unwanted by their places from the first sequence on
   */
  public void pass(Lane lane, long firstSequence, BitSet unwanted) {
    guard.check();
    Cursor cursor = cursor(lane);
    int from = unwanted.nextSetBit(0);
    while (from >= 0) {
      int end = unwanted.nextClearBit(from);
      cursor.acknowledge(firstSequence + from, firstSequence + end);
      from = unwanted.nextSetBit(end);
    }
  }

  /** Acknowledges ranges; returns how many messages were not acknowledged before. */
  public long acknowledge(List<SequenceRange> ranges) {
    long added = 0;
    for (SequenceRange range : ranges) {
      added += acknowledge(range.lane(), range.from(), range.count());
    }
    return added;
  }

  /** Takes consecutive sequences. */
  @FunctionalInterface
  public interface Ranges {
    /** {@code count} sequences of a lane. */
    void range(int lane, long from, int count);
  }

  /** Shows all free messages, visible or not, as a purge takes them. */
  public void forEachFree(Ranges ranges) {
    guard.check();
    for (Cursor cursor : cursors) {
      cursor.forEachFree(ranges);
    }
  }

  /** Shows what is in flight in a lane, rising. */
  public void forEachInFlight(int lane, Ranges ranges) {
    guard.check();
    cursor(lane).forEachInFlight(ranges);
  }

  // ---- life ----

  Cursor cursor(Lane lane) {
    return cursor(lane.code());
  }

  Cursor cursor(int lane) {
    Cursor found = find(lane);
    if (found == null) {
      throw new IllegalArgumentException(
          "destination %d has %d lanes, but none with code %d"
              .formatted(destination.id(), cursors.length, lane));
    }
    return found;
  }

  private @Nullable Cursor find(int lane) {
    for (Cursor cursor : cursors) {
      if (cursor.lane.code() == lane) {
        return cursor;
      }
    }
    return null;
  }

  /** The lane of a code, or null if the destination never used it. */
  @Nullable Lane lane(int code) {
    Cursor found = find(code);
    return found == null ? null : found.lane;
  }

  /** Gives up what it still needs and its memory. */
  void clear() {
    closed = true;
    views.clear();
    for (Cursor cursor : cursors) {
      if (cursor.lane instanceof UnloggedLane unlogged) {
        long at = cursor.firstUnacknowledged();
        while (unlogged.exists(at)) {
          long stop = unlogged.extents.extentEnd(at);
          unlogged.releaseAllBut(cursor.acknowledged, at, stop);
          at = unlogged.extents.ceiling(stop);
        }
      }
      cursor.clear();
    }
  }
}
