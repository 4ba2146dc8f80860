package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.nio.ByteBuffer;

/** A volatile lane: its entries are in memory only and go with the last subscription's need. */
@OwnedBy("shard")
public final class VolatileLane extends Lane {
  private final VolatileStore store;

  /** Handle + 1 of each entry that is still needed. */
  private final BlockTable handles;

  VolatileLane(
      Destination destination, Awaiting awaiting, int code, OffHeap memory, VolatileStore store) {
    super(destination, awaiting, code);
    this.store = store;
    this.handles = new BlockTable(memory, 2);
  }

  /**
   * Stores an entry at the tail for all subscriptions that the destination has now; see {@link
   * #append(long, ByteBuffer, int)}.
   */
  public void append(long sequence, ByteBuffer entry) {
    append(sequence, entry, destination().subscriptions().size());
  }

  /**
   * Stores an entry at the tail; {@link VolatileStore#fits} was asked before. Then {@link
   * Subscription#pass} for each subscription that does not need it, and {@link #show}, or {@link
   * #await} if it belongs to a transaction with durable entries.
   *
   * @param entry from position to limit, copied
   * @param needs how many subscriptions need it
   */
  public void append(long sequence, ByteBuffer entry, int needs) {
    if (needs == 0) {
      throw new IllegalStateException(
          "destination " + destination().id() + " has no subscription that needs an entry");
    }
    extend(sequence, 1);
    Lane before = destination().lane(LaneCode.durable(LaneCode.priority(code())));
    long after = before == null ? -1 : before.last();
    handles.set(sequence, store.put(entry, after, needs) + 1);
  }

  /** Bytes of an entry. */
  public int length(long sequence) {
    return store.length(handle(sequence));
  }

  /** A field of an entry's fixed header, by its offset there. */
  public long getLong(long sequence, int offset) {
    return store.getLong(handle(sequence), offset);
  }

  /** Copies an entry to the buffer's position, which moves. */
  public void copyTo(long sequence, ByteBuffer into) {
    store.copyTo(handle(sequence), into);
  }

  /** The last sequence of the durable lane of the same priority when this one was appended. */
  long after(long sequence) {
    return store.after(handle(sequence));
  }

  /** One subscription needs the entry no more. */
  void release(long sequence) {
    if (store.release(handle(sequence))) {
      handles.set(sequence, 0);
    }
  }

  void clear() {
    for (long at = handles.next(0); at >= 0; at = handles.next(at)) {
      store.drop(handles.set(at, 0) - 1);
    }
  }

  private int handle(long sequence) {
    int handle = handles.get(sequence) - 1;
    if (handle < 0) {
      throw new IllegalStateException(
          "sequence %d of volatile lane %d of destination %d is not stored"
              .formatted(sequence, code(), destination().id()));
    }
    return handle;
  }
}
