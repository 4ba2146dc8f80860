package io.lightmq.core.delivery;

import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.GroupScan;
import io.lightmq.core.destination.IdScan;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Selector.IdEquality;
import io.lightmq.core.selector.Selector.IdHeader;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.segment.IdWanted;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the backlog of queues for views with selectors whose consumers wait: what is in memory
 * in slices on the shard, one view after the other, so that other commands come in between; what is
 * in files on the read loop. A view is looked at only while it has nothing to give.
 */
@OwnedBy("shard")
final class Sifter {
  /** Told how far a view is, which may ask for more at once. */
  interface Taker {
    /** A part of the backlog was looked at, or that was all. */
    void sifted(View view);

    /** What comes next cannot be read, also when it is looked up again; whether it is set aside. */
    boolean damaged(View view, Lane lane, Damage damage);

    /** What comes next cannot be read now. */
    void failed(View view, IOException failure);

    /** Too much else is to be done. */
    void busy(View view);
  }

  /** The most that one slice on the shard looks at. */
  private static final int SLICE_MESSAGES = 512;

  private static final int SLICE_BYTES = 256 << 10;

  /** The most that one task on the read loop looks at; fetches wait behind it. */
  private static final int TASK_MESSAGES = 16_384;

  private static final int TASK_BYTES = 8 << 20;
  private static final int TASK_PARTS = 1_024;

  /** The most steps of its selector that one task takes, unless a single message takes more. */
  private static final long TASK_STEPS = 16 * Work.SLICE;

  /** So many long messages are looked at beside the shard at a time; each is copied for that. */
  private static final int MAX_ASIDE = 4;

  /** So many acknowledged messages are read along rather than passed over. */
  private static final int GAP = 64;

  private final Window window;
  private final Fetcher fetcher;
  private final Beside beside;
  private final Work work;
  private final Taker taker;
  private final Location location = new Location();
  private final Set<View> wanted = new LinkedHashSet<>();

  /** Those with a task under way, at most one each. */
  private final Set<View> reading = new LinkedHashSet<>();

  /** The view with a task under way from which an index learns, and those that wait for that. */
  private final Map<Subscription, View> learning = new HashMap<>();

  private final Map<Subscription, Set<View>> behind = new HashMap<>();

  /** Those whose next message is long and waits until others have been looked at. */
  private final Set<View> crowded = new LinkedHashSet<>();

  private int aside;

  /** Where a view's last task failed; the next failure at the same place is told. */
  private final Map<View, Long> failures = new HashMap<>();

  /** What the slice at hand has seen of ids. */
  private final long[] learned = new long[SLICE_MESSAGES];

  private final long[] hashes = new long[SLICE_MESSAGES];
  private int learnedCount;
  private final GroupScan keys = new GroupScan();
  private final IdScan correlationIds = new IdScan(IdHeader.CORRELATION_ID);
  private final IdScan messageIds = new IdScan(IdHeader.MESSAGE_ID);
  private ByteBuffer scratch = ByteBuffer.allocate(4096);
  private boolean scheduled;

  /**
   * A sifter without work.
   *
   * @param taker told what became of it
   */
  Sifter(Window window, Fetcher fetcher, Beside beside, Taker taker) {
    this.window = window;
    this.fetcher = fetcher;
    this.beside = beside;
    this.work = beside.work();
    this.taker = taker;
  }

  /** A view has consumers that wait and nothing to give them: looks for more. */
  void want(View view) {
    if (!reading.contains(view) && !crowded.contains(view) && !isBehind(view)) {
      wanted.add(view);
      schedule();
    }
  }

  /** Whether a view is being looked at. */
  boolean isLooking(View view) {
    return wanted.contains(view)
        || reading.contains(view)
        || crowded.contains(view)
        || isBehind(view);
  }

  private boolean isBehind(View view) {
    Set<View> waiting = behind.get(view.subscription());
    return waiting != null && waiting.contains(view);
  }

  /** A view has ended. */
  void forget(View view) {
    wanted.remove(view);
    crowded.remove(view);
    Set<View> waiting = behind.get(view.subscription());
    if (waiting != null) {
      waiting.remove(view);
    }
    failures.remove(view);
  }

  /** What a turn had no share left for goes on in the next. */
  void endTurn() {
    schedule();
  }

  private void schedule() {
    if (scheduled || wanted.isEmpty() || work.isTired()) {
      return;
    }
    try {
      fetcher.onShard(this::step);
      scheduled = true;
    } catch (RejectedExecutionException e) {
      List<View> waiting = List.copyOf(wanted);
      wanted.clear();
      waiting.forEach(taker::busy);
    }
  }

  private void step() {
    scheduled = false;
    if (!wanted.isEmpty() && !work.isTired()) {
      View view = wanted.iterator().next();
      wanted.remove(view);
      if (!view.subscription().isClosed() && view.isOpen()) {
        look(view);
      }
      schedule();
    }
  }

  /** Looks at one slice, or has one read. */
  private void look(View view) {
    Lane lane = view.unsifted();
    Filter filter = view.filter();
    if (lane == null) {
      taker.sifted(view);
      return;
    }
    view.jump(lane);
    long from = view.nextUnsifted(lane);
    if (!lane.exists(from)) {
      view.sifted(lane, from);
      taker.sifted(view);
    } else if (lane instanceof UnloggedLane unlogged) {
      if (unlogged.isInMemory(from)) {
        lookAtUnlogged(view, filter, unlogged, from);
      } else {
        read(view, filter, unlogged, from);
      }
    } else {
      DurableLane durable = (DurableLane) lane;
      locate(durable, from);
      if (isInWindow()) {
        lookAtWindow(view, filter, durable, from);
      } else {
        read(view, filter, durable, from);
      }
    }
  }

  private void locate(DurableLane lane, long sequence) {
    if (!lane.locate(sequence, location)) {
      throw new IllegalStateException(
          "sequence %d of destination %d lane %d is needed, but has no place"
              .formatted(sequence, lane.destination().id(), lane.code()));
    }
  }

  private boolean isInWindow() {
    return location.piece() == null && window.contains(location.journalOffset());
  }

  // ---- in memory ----

  private void lookAtUnlogged(View view, @Nullable Filter filter, UnloggedLane lane, long from) {
    long at = from;
    int bytes = 0;
    int looked = 0;
    long share = work.ofTurn() + Work.SLICE;
    while (looked < SLICE_MESSAGES
        && bytes < SLICE_BYTES
        && work.ofTurn() < share
        && lane.exists(at)
        && lane.isInMemory(at)) {
      int length = lane.length(at);
      lane.copyTo(at, room(length));
      if (isLong(filter)) {
        if (looked == 0) {
          lookAside(view, filter, lane, at, copy(length));
          return;
        }
        break;
      }
      evaluate(view, filter, lane, at);
      bytes += length;
      looked++;
      at = view.nextUnsifted(lane, at + 1);
    }
    finish(view, filter, lane, at, looked);
  }

  private void lookAtWindow(View view, @Nullable Filter filter, DurableLane lane, long from) {
    long at = from;
    int bytes = 0;
    int looked = 0;
    long share = work.ofTurn() + Work.SLICE;
    long sequence = location.firstSequence();
    long offset = location.journalOffset();
    while (looked < SLICE_MESSAGES
        && bytes < SLICE_BYTES
        && work.ofTurn() < share
        && lane.exists(at)) {
      if (at < location.firstSequence() || at >= location.firstSequence() + location.count()) {
        locate(lane, at);
        if (!isInWindow()) {
          break;
        }
        sequence = location.firstSequence();
        offset = location.journalOffset();
      }
      while (sequence < at) {
        offset += window.getInt(offset);
        sequence++;
      }
      int length = window.getInt(offset);
      window.copyTo(offset, length, room(length));
      if (isLong(filter)) {
        if (looked == 0) {
          lookAside(view, filter, lane, at, copy(length));
          return;
        }
        break;
      }
      evaluate(view, filter, lane, at);
      bytes += length;
      looked++;
      at = view.nextUnsifted(lane, at + 1);
    }
    finish(view, filter, lane, at, looked);
  }

  /** Whether the entry at hand takes too long to be looked at on the shard. */
  private boolean isLong(@Nullable Filter filter) {
    return filter != null
        && filter
            .evaluator()
            .isLong(scratch, Entry.messageOffset(scratch, 0), Entry.messageBytes(scratch, 0));
  }

  private ByteBuffer copy(int length) {
    return ByteBuffer.allocate(length).put(0, scratch, 0, length);
  }

  private ByteBuffer room(int length) {
    if (scratch.capacity() < length) {
      scratch = ByteBuffer.allocate(Math.max(length, 2 * scratch.capacity()));
    }
    return scratch.clear();
  }

  private void evaluate(View view, @Nullable Filter filter, Lane lane, long sequence) {
    int messageAt = Entry.messageOffset(scratch, 0);
    int messageBytes = Entry.messageBytes(scratch, 0);
    if (filter == null || filter.evaluator().matches(scratch, messageAt, messageBytes, work)) {
      view.match(lane, sequence, keys.codeOf(scratch, messageAt, messageBytes));
    }
    see(view, sequence, scratch, messageAt, messageBytes);
  }

  private void see(View view, long sequence, ByteBuffer entry, int messageAt, int messageBytes) {
    IdEquality id = view.idEquality();
    if (id != null) {
      IdScan scan = id.header() == IdHeader.CORRELATION_ID ? correlationIds : messageIds;
      learned[learnedCount] = sequence;
      hashes[learnedCount++] = scan.hash(entry, messageAt, messageBytes);
    }
  }

  private void finish(View view, @Nullable Filter filter, Lane lane, long reached, int looked) {
    if (filter != null) {
      filter.evaluated(looked);
    }
    view.learned(lane, reached, learned, hashes, learnedCount);
    learnedCount = 0;
    view.sifted(lane, reached);
    taker.sifted(view);
  }

  // ---- beside the shard ----

  /** Has the next message of a view looked at beside the shard, for it takes long. */
  private void lookAside(
      View view, @Nullable Filter filter, Lane lane, long sequence, ByteBuffer entry) {
    if (filter == null || aside >= MAX_ASIDE) {
      crowded.add(view);
      return;
    }
    Selector.Evaluator evaluator = filter.selector().evaluator();
    long siftedEnd = view.siftedEnd(lane);
    boolean[] matches = new boolean[1];
    try {
      beside.run(
          () ->
              matches[0] =
                  evaluator.matches(
                      entry,
                      Entry.messageOffset(entry, 0),
                      Entry.messageBytes(entry, 0),
                      new Work()),
          () -> lookedAside(view, lane, sequence, entry, siftedEnd, matches[0]),
          () -> {});
      reading.add(view);
      aside++;
    } catch (RejectedExecutionException e) {
      taker.busy(view);
    }
  }

  private void lookedAside(
      View view, Lane lane, long sequence, ByteBuffer entry, long siftedEnd, boolean matches) {
    aside--;
    reading.remove(view);
    wanted.addAll(crowded);
    crowded.clear();
    schedule();
    Filter filter = view.filter();
    if (view.subscription().isClosed() || !view.isOpen()) {
      return;
    }
    if (filter == null || view.siftedEnd(lane) < siftedEnd) {
      taker.sifted(view); // all its consumers had gone, and it begins again
      return;
    }
    int messageAt = Entry.messageOffset(entry, 0);
    int messageBytes = Entry.messageBytes(entry, 0);
    if (matches) {
      view.match(lane, sequence, keys.codeOf(entry, messageAt, messageBytes));
    }
    see(view, sequence, entry, messageAt, messageBytes);
    finish(view, filter, lane, view.nextUnsifted(lane, sequence + 1), 1);
  }

  // ---- in files ----

  private void read(View view, @Nullable Filter filter, Lane lane, long from) {
    boolean learns = view.learns(lane);
    if (learns && learning.containsKey(view.subscription())) {
      // Another view looks at the same for its own id; the index then knows all of it.
      behind.computeIfAbsent(view.subscription(), key -> new LinkedHashSet<>()).add(view);
      return;
    }
    SiftTask task =
        new SiftTask(view, lane, filter == null ? null : filter.selector().evaluator(), from);
    Long failedAt = failures.get(view);
    task.again = failedAt != null && failedAt == from;
    IdEquality id = view.idEquality();
    if (id != null && !learns) {
      task.passed =
          id.header() == IdHeader.CORRELATION_ID
              ? IdWanted.correlationId(id.id())
              : IdWanted.messageId(id.id());
    }
    long most =
        filter == null
            ? TASK_BYTES
            : Math.min(TASK_BYTES, Math.max(1, filter.selector().bytesFor(TASK_STEPS)));
    long at = from;
    while (lane.exists(at)
        && task.messages < TASK_MESSAGES
        && task.estimatedBytes < most
        && (filter == null || filter.selector().steps(task.messages, 0) < TASK_STEPS)
        && task.parts.size() < TASK_PARTS) {
      if (lane instanceof UnloggedLane unlogged) {
        if (unlogged.isInMemory(at)) {
          break;
        }
        at = view.nextUnsifted(lane, addOverflow(view, unlogged, at, task));
        continue;
      }
      locate((DurableLane) lane, at);
      if (isInWindow()) {
        break;
      }
      at = view.nextUnsifted(lane, addPart(view, lane, at, task, most));
    }
    try {
      fetcher.sift(task, this::read);
      reading.add(view);
      if (learns) {
        learning.put(view.subscription(), view);
      }
    } catch (RejectedExecutionException e) {
      task.release();
      taker.busy(view);
    }
  }

  /** Adds unacknowledged messages of an overflow file and returns where they end. */
  private static long addOverflow(View view, UnloggedLane lane, long from, SiftTask task) {
    UnloggedLane.Place place = lane.place(from);
    int most = (int) Math.min(TASK_MESSAGES, place.last() - from + 1);
    int count = view.unsiftedRun(lane, from, most);
    task.add(Fetch.InOverflow.of(from, count, place), place.bytes());
    return from + count;
  }

  /** Adds the located part from a sequence on and returns where it ends. */
  private long addPart(View view, Lane lane, long from, SiftTask task, long mostBytes) {
    if (location.piece() == null) {
      long end = location.firstSequence() + location.count();
      task.add(Fetch.InJournal.of(from, (int) (end - from), location), location.bytes());
      return end;
    }
    long each = Math.max(1, location.piece().bytes() / location.piece().count());
    int most = (int) Math.max(1, Math.min(TASK_MESSAGES, (mostBytes - task.estimatedBytes) / each));
    long limit = Math.min(from + most, location.piece().lastSequence() + 1);
    long end = from;
    long next = from;
    while (next < limit && next - end <= GAP && lane.exists(next)) {
      end = next + view.unsiftedRun(lane, next, (int) (limit - next));
      next = view.nextUnsifted(lane, end);
    }
    int count = (int) (end - from);
    task.add(new Fetch.InPiece(from, count, location.piece()), each * count);
    return end;
  }

  private void read(SiftTask task) {
    View view = task.view;
    Filter filter = view.filter();
    reading.remove(view);
    task.release();
    Subscription subscription = view.subscription();
    if (learning.remove(subscription, view)) {
      Set<View> waiting = behind.remove(subscription);
      if (waiting != null) {
        wanted.addAll(waiting);
        schedule();
      }
    }
    if (view.subscription().isClosed() || !view.isOpen()) {
      return;
    }
    if (view.siftedEnd(task.lane) < task.siftedEnd) {
      taker.sifted(view); // all its consumers had gone, and it begins again
      return;
    }
    for (int i = 0; i < task.matchCount; i++) {
      view.match(task.lane, task.matches[i], task.codes[i] & 0xFF);
    }
    if (filter != null) {
      filter.evaluated(task.looked);
    }
    if (task.passed == null) {
      view.learned(task.lane, task.reached, task.seen, task.hashes, task.seenCount);
    }
    view.sifted(task.lane, task.reached);
    ByteBuffer longEntry = task.longEntry;
    if (longEntry != null) {
      lookAside(view, filter, task.lane, task.reached, longEntry);
      return;
    }
    IOException failure = task.failure;
    Long failedAt = failure == null ? failures.remove(view) : failures.put(view, task.reached);
    if (failure == null || failedAt == null || failedAt != task.reached) {
      taker.sifted(view); // after a first failure its place may have changed: it is looked up again
      return;
    }
    failures.remove(view);
    long next = view.nextUnsifted(task.lane, task.reached);
    Damage damage = Damage.of(failure, next, task.lane.last());
    // Spans that lack the id are passed over, and then all below the damage was looked at too.
    boolean reached = damage != null && (damage.from() == next || task.passed != null);
    if (damage != null && reached && taker.damaged(view, task.lane, damage)) {
      view.sifted(task.lane, damage.through() + 1);
      taker.sifted(view);
    } else {
      taker.failed(view, failure);
    }
  }
}
