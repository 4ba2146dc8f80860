package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.spi.Mark;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one JMS priority in a destination, durable or unlogged: which sequences exist and
 * up to where they are visible. The visible mark moves in order only, so it never passes an entry
 * whose own mark is not reached.
 */
@OwnedBy("shard")
public abstract sealed class Lane permits DurableLane, UnloggedLane {
  private final Destination destination;
  private final AwaitedLanes awaiting;
  private final int code;
  final Extents extents = new Extents();

  /** Messages ever appended since this object was made, and how many of them are visible. */
  private long appended;

  private long visible;
  private long visibleEnd;

  // Batches whose mark is not reached, oldest first; at most one per batch and mark in the window.
  private long[] waitingEnd = new long[4];
  private long[] waitingOffset = new long[4];
  private long[] waitingCount = new long[4];
  private Mark[] waitingMark = new Mark[4];
  private int head;
  private int waiting;

  Lane(Destination destination, AwaitedLanes awaiting, int code) {
    this.destination = destination;
    this.awaiting = awaiting;
    this.code = code;
    this.aside = new AsideRanges(destination.named(), LaneCode.isDurable(code));
  }

  private final ExpiryBlocks expiries = new ExpiryBlocks();

  /** What could not be read, and is neither given to anybody nor looked at again. */
  final AsideRanges aside;

  /** The block with which the next look begins. */
  private long nextBlock;

  /** When it is to be looked at whether something has expired, or earlier; kept by its order. */
  long lookMillis = Long.MAX_VALUE;

  /** Which of several it is then. */
  long lookTurn;

  /** A message of the lane expires at a time, by the broker's clock; 0 for never. */
  final void expires(long sequence, long expiryMillis) {
    if (expiryMillis != 0) {
      expiries.add(sequence, expiryMillis);
      if (expiryMillis < lookMillis && !destination.isHidden()) {
        awaiting.expires(this, expiryMillis);
      }
    }
  }

  /** A block of 4096 in which something may have expired, each in its turn; -1 for none. */
  public final long dueBlock(long nowMillis) {
    destination.guard().check();
    long block = expiries.due(nextBlock, nowMillis);
    return block < 0 ? expiries.due(0, nowMillis) : block;
  }

  /**
   * A block was looked at: nothing in it expires before a time, {@code Long.MAX_VALUE} for ever.
   * Other lanes are next.
   */
  public final void lookedAt(long block, long expiryMillis, long nowMillis) {
    destination.guard().check();
    expiries.looked(block, expiryMillis);
    nextBlock = block + 1;
    if (lookMillis != Long.MAX_VALUE) { // else it was deleted meanwhile, or is empty
      awaiting.expires(this, Math.max(nowMillis, expiries.earliestMillis()));
    }
  }

  /** Nothing of it has expired yet. */
  final void lookLater() {
    awaiting.expires(this, expiries.earliestMillis());
  }

  final void trim(long below) {
    extents.trim(below);
    expiries.trim(below, new NeededBlocks(this, false));
    if (!aside.isEmpty()) {
      aside.remove(0, below);
    }
    if (expiries.isEmpty()) {
      forget();
    }
  }

  /** Writes what exists from a sequence on. */
  final void encode(DataOutput out, long from) throws IOException {
    extents.encode(out, from);
    expiries.encode(out, from, new NeededBlocks(this, true));
  }

  /** When the first message of each needed block expires, from that of a sequence on. */
  final Map<Long, Long> earliestExpiries(long from) {
    return expiries.earliest(from, new NeededBlocks(this, true));
  }

  final void decode(DataInput in) throws IOException {
    extents.decode(in);
    expiries.decode(in);
    if (!destination.isHidden()) {
      lookLater();
    }
    recount();
  }

  /** Nothing of it is asked about any more. */
  final void forget() {
    if (lookMillis != Long.MAX_VALUE) {
      awaiting.expires(this, Long.MAX_VALUE);
    }
  }

  /** The lane's code: 0 to 9 durable, 128 to 137 unlogged. */
  public final int code() {
    return code;
  }

  /** The destination that it belongs to. */
  public final Destination destination() {
    return destination;
  }

  /** The sequence that the next message of a shard epoch gets. */
  public final long tail(long shardEpoch) {
    return isInOneEpoch() ? extents.end() : extents.tail(shardEpoch);
  }

  /** Whether the epoch in which it began counts, and not the shard's. */
  private boolean isInOneEpoch() {
    return destination.isStaged() && extents.end() > 0;
  }

  /** Whether the epoch's counter has room; if not, the shard begins another epoch first. */
  public final boolean hasRoom(long shardEpoch, int count) {
    long tail = tail(shardEpoch);
    return ((tail + count - 1) >>> 32) == (isInOneEpoch() ? tail >>> 32 : shardEpoch);
  }

  /** The last sequence that exists, -1 if there was none. */
  public final long last() {
    return extents.end() - 1;
  }

  /** Whether a sequence exists, visible or not, and is not trimmed. */
  public final boolean exists(long sequence) {
    return extents.exists(sequence);
  }

  /** Behind the last visible sequence. */
  public final long visibleEnd() {
    return visibleEnd;
  }

  /** Adds sequences at the tail; they become visible by {@link #await} or {@link #show}. */
  final void extend(long first, int count) {
    extents.append(first, count);
    appended += count;
  }

  /** What was appended so far becomes visible once the journal's mark reaches an offset. */
  public final void await(long endOffset, Mark mark) {
    destination.guard().check();
    long end = extents.end();
    if (end == (waiting > 0 ? waitingEnd[newest()] : visibleEnd)) {
      return;
    }
    if (waiting > 0 && waitingOffset[newest()] == endOffset && waitingMark[newest()] == mark) {
      waitingEnd[newest()] = end;
      waitingCount[newest()] = appended;
      return;
    }
    if (waiting == waitingEnd.length) {
      grow();
    }
    if (waiting == 0) {
      awaiting.add(this);
    }
    waiting++;
    int at = newest();
    waitingEnd[at] = end;
    waitingOffset[at] = endOffset;
    waitingCount[at] = appended;
    waitingMark[at] = mark;
  }

  /** What was appended so far becomes visible at once, or with the last entry that still waits. */
  public final void show() {
    destination.guard().check();
    if (waiting > 0) {
      waitingEnd[newest()] = extents.end();
      waitingCount[newest()] = appended;
    } else {
      visibleEnd = extents.end();
      visible = appended;
      destination.moved();
    }
  }

  /** The strongest mark that something appended still waits for, or null if all is visible. */
  public final @Nullable Mark awaited() {
    Mark strongest = null;
    for (int i = 0; i < waiting; i++) {
      Mark each = waitingMark[(head + i) % waitingMark.length];
      strongest = strongest == null || each.compareTo(strongest) > 0 ? each : strongest;
    }
    return strongest;
  }

  final boolean isAwaiting() {
    return waiting > 0;
  }

  /** Moves the visible mark; whether it moved. */
  final boolean advance(long written, long durable) {
    boolean moved = false;
    while (waiting > 0) {
      long reached = waitingMark[head] == Mark.WRITTEN ? written : durable;
      if (waitingOffset[head] > reached) {
        break;
      }
      visibleEnd = waitingEnd[head];
      visible = waitingCount[head];
      head = (head + 1) % waitingEnd.length;
      waiting--;
      moved = true;
    }
    if (moved) {
      destination.moved();
    }
    return moved;
  }

  final long appended() {
    return appended;
  }

  final long visible() {
    return visible;
  }

  /** Sets the counters after the extents were decoded. */
  final void recount() {
    appended = extents.count(0, extents.end());
    show();
  }

  private int newest() {
    return (head + waiting - 1) % waitingEnd.length;
  }

  private void grow() {
    int length = waitingEnd.length;
    long[] ends = new long[length * 2];
    long[] offsets = new long[length * 2];
    long[] counts = new long[length * 2];
    Mark[] marks = Arrays.copyOf(waitingMark, length * 2);
    for (int i = 0; i < waiting; i++) {
      int from = (head + i) % length;
      ends[i] = waitingEnd[from];
      offsets[i] = waitingOffset[from];
      counts[i] = waitingCount[from];
      marks[i] = waitingMark[from];
    }
    waitingEnd = ends;
    waitingOffset = offsets;
    waitingCount = counts;
    waitingMark = marks;
    head = 0;
  }
}
