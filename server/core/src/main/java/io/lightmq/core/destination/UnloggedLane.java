package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.overflow.OverflowFile;
import io.lightmq.wire.entry.Entry;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An unlogged lane: its entries are in no record and go with the last subscription's need. The
 * oldest ones may lie in overflow files; order does not depend on where an entry lies.
 */
@OwnedBy("shard")
public final class UnloggedLane extends Lane {
  private static final int UNREGISTERED = -1;

  private final UnloggedStore store;

  /** Handle + 1 of each entry in memory that is still needed. */
  private final BlockTable handles;

  private final MovedRuns moved;
  private int number = UNREGISTERED;

  UnloggedLane(
      Destination destination,
      AwaitedLanes awaiting,
      int code,
      OffHeap memory,
      UnloggedStore store) {
    super(destination, awaiting, code);
    this.store = store;
    this.handles = new BlockTable(memory, 2);
    this.moved = new MovedRuns(store.runs);
  }

  /**
   * Stores an entry at the tail for all subscriptions that the destination has now; see {@link
   * #append(long, ByteBuffer, int)}.
   */
  public void append(long sequence, ByteBuffer entry) {
    append(sequence, entry, destination().subscriptions().size());
  }

  /**
   * Stores an entry at the tail; {@link UnloggedStore#fits} was asked before. Then {@link
   * Subscription#pass} for each subscription that does not need it, and {@link #show}, or {@link
   * #await} if it belongs to a transaction with durable entries.
   *
   * @param entry from position to limit, copied
   * @param needs how many subscriptions need it
   */
  public void append(long sequence, ByteBuffer entry, int needs) {
    destination().guard().check();
    if (needs == 0) {
      throw new IllegalStateException(
          "destination " + destination().id() + " has no subscription that needs an entry");
    }
    if (number == UNREGISTERED) {
      number = store.register(this);
    }
    extend(sequence, 1);
    Lane before = destination().lane(LaneCode.durable(LaneCode.priority(code())));
    long after = before == null ? -1 : before.last();
    expires(sequence, Entry.expiryMillis(entry, entry.position()));
    handles.set(sequence, store.put(number, sequence, entry, after, needs) + 1);
  }

  /** Whether an entry that is needed lies in memory; if not, {@link #place} tells where it lies. */
  public boolean isInMemory(long sequence) {
    return handles.get(sequence) != 0;
  }

  /** Bytes of an entry in memory. */
  public int length(long sequence) {
    return store.length(handle(sequence));
  }

  /** A field of the fixed header of an entry in memory, by its offset there. */
  public long getLong(long sequence, int offset) {
    return store.getLong(handle(sequence), offset);
  }

  /** Copies an entry in memory to the buffer's position, which moves. */
  public void copyTo(long sequence, ByteBuffer into) {
    store.copyTo(handle(sequence), into);
  }

  /** The last sequence of the durable lane of the same priority when this one was appended. */
  long after(long sequence) {
    int handle = handles.get(sequence) - 1;
    return handle >= 0 ? store.after(handle) : moved.after(sequence);
  }

  /** One subscription needs no more of a range what it has not acknowledged. */
  void releaseAllBut(SequenceSet acknowledged, long from, long to) {
    for (long at = acknowledged.nextAbsent(from); at < to; at = acknowledged.nextAbsent(at + 1)) {
      release(at);
    }
  }

  /** One subscription needs the entry no more. */
  void release(long sequence) {
    int handle = handles.get(sequence) - 1;
    if (handle < 0) {
      moved.release(sequence, store.files());
    } else if (store.release(handle)) {
      handles.set(sequence, 0);
    }
  }

  void clear() {
    for (long at = handles.next(0); at >= 0; at = handles.next(at)) {
      store.drop(handles.set(at, 0) - 1);
    }
    if (!moved.isEmpty()) {
      moved.clear(store.files());
    }
    if (number != UNREGISTERED) {
      store.unregister(number);
      number = UNREGISTERED;
    }
  }

  private int handle(long sequence) {
    int handle = handles.get(sequence) - 1;
    if (handle < 0) {
      throw new IllegalStateException(
          "sequence %d of unlogged lane %d of destination %d is not in memory"
              .formatted(sequence, code(), destination().id()));
    }
    return handle;
  }

  // ---- overflow ----

  /**
   * Entries back to back in an overflow file.
   *
   * @param first the first sequence among them
   * @param last the last
   * @param position where the first begins
   * @param count entries, acknowledged ones included
   */
  public record Place(
      OverflowFile file, long first, long last, int position, int bytes, int count) {}

  /** Where the entries around one that is not in memory lie. */
  public Place place(long sequence) {
    MovedRuns.Moved run = moved.find(sequence);
    return new Place(
        store.files().file(run.file()),
        moved.first(sequence),
        run.last(),
        run.position(),
        run.bytes(),
        run.count());
  }

  /** Entries of one lane that were copied into a batch and may lie in a file soon. */
  record Leaving(UnloggedLane lane, long first, long last, int batchAt, int bytes, int count) {}

  /**
   * Copies entries from one on into a batch and takes them out of the list by age: at most so many
   * bytes or a single entry, all of them given after the same durable one. Null if the first finds
   * no room.
   */
  @Nullable Leaving leave(long first, ByteBuffer batch, int mostBytes) {
    int from = batch.position();
    long after = after(first);
    long last = first;
    int count = 0;
    for (long at = first; at >= 0; at = handles.next(at + 1)) {
      int handle = handle(at);
      int length = store.length(handle);
      if (length > batch.remaining()
          || (count > 0 && batch.position() - from + length > mostBytes)
          || store.after(handle) != after) {
        break;
      }
      store.copyTo(handle, batch);
      store.unlist(handle);
      last = at;
      count++;
    }
    return count == 0 ? null : new Leaving(this, first, last, from, batch.position() - from, count);
  }

  /** What left lies in a file now; returns how many of its entries are still needed. */
  int left(Leaving leaving, OverflowFile file, int batchPosition) {
    int entries = 0;
    long needs = 0;
    long after = -1;
    long at = handles.next(leaving.first());
    while (at >= 0 && at <= leaving.last()) {
      int handle = handles.set(at, 0) - 1;
      needs += store.needs(handle);
      after = store.after(handle);
      store.drop(handle);
      entries++;
      at = handles.next(at + 1);
    }
    if (entries > 0) {
      file.hold();
      moved.add(
          leaving.first(),
          new MovedRuns.Moved(
              leaving.last(),
              after,
              needs,
              file.number(),
              batchPosition + leaving.batchAt(),
              leaving.bytes(),
              leaving.count()));
    }
    return entries;
  }

  /** What left stays in memory after all, older than what was the oldest. */
  void stay(Leaving leaving, int oldest) {
    long at = handles.next(leaving.first());
    while (at >= 0 && at <= leaving.last()) {
      store.list(handles.get(at) - 1, oldest);
      at = handles.next(at + 1);
    }
  }
}
