package io.lightmq.core.delivery;

import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Reads entries for the broker's own use: for moves, due times and expiry. What is in memory comes
 * at once, the rest from the read loop. What turns out to be damaged is set aside here too.
 */
@OwnedBy("shard")
public final class EntryReads {
  /** Takes what was read. */
  @FunctionalInterface
  public interface Taker {
    /**
     * Consecutive entries back to back, as many as fit; on the shard.
     *
     * @param entries null if they cannot be read
     */
    void read(@Nullable ByteBuffer entries, @Nullable IOException failure);
  }

  private final Window window;
  private final Fetcher fetcher;
  private final Decisions decisions;
  private final Guard guard;
  private final Recipient reader = new Recipient(new HeapOutlet());
  private final Location location = new Location();
  private boolean ended;

  /** Reads through a fetcher that deliveries use too, and sets aside as they do. */
  public EntryReads(Window window, Fetcher fetcher, Decisions decisions, Guard guard) {
    this.window = window;
    this.fetcher = fetcher;
    this.decisions = decisions;
    this.guard = guard;
  }

  /**
   * Reads entries of a lane from a sequence on: at least one, no more than so many, and no more
   * than so many bytes beyond the first. They must be needed by the subscription.
   */
  public void read(
      Subscription subscription, Lane lane, long from, int count, int maxBytes, Taker taker) {
    guard.check();
    if (lane instanceof UnloggedLane unlogged && unlogged.isInMemory(from)) {
      taker.read(fromMemory(unlogged, from, count, maxBytes), null);
    } else {
      Consumer consumer = new Consumer(reader, 0, 0, subscription.view(), false);
      read(consumer, lane, from, count, maxBytes, taker, false);
    }
  }

  /**
   * Sets free messages aside that a read has found to be damaged.
   *
   * @return false if they stay as they are, because too many wait for that
   */
  public boolean setAside(Subscription subscription, Lane lane, Damage damage) {
    guard.check();
    return decisions.setAside(subscription, lane, damage);
  }

  /** Nobody is shown any more what is being read. */
  public void end() {
    guard.check();
    ended = true;
  }

  private void read(
      Consumer consumer,
      Lane lane,
      long from,
      int count,
      int maxBytes,
      Taker taker,
      boolean again) {
    Fetch fetch = new Fetch(consumer, lane, maxBytes, again);
    if (lane instanceof UnloggedLane unlogged) {
      Batches.addOverflow(fetch, unlogged.place(from), from, count);
    } else if (!((DurableLane) lane).locate(from, location)) {
      taker.read(
          null,
          new UnreadableException(
              "sequence %d of destination %d lane %d has no place"
                  .formatted(from, lane.destination().id(), lane.code()),
              from,
              from));
      return;
    } else if (location.piece() == null && window.contains(location.journalOffset())) {
      taker.read(fromWindow(lane, from, count, maxBytes), null);
      return;
    } else {
      add(fetch, from, count);
    }
    try {
      fetcher.fetch(
          fetch,
          done -> {
            done.release();
            Outlet.Buffer buffer = done.buffer;
            if (ended) {
              return;
            }
            if (buffer != null && done.taken > 0) {
              taker.read(buffer.bytes().position(0).limit(done.length), null);
            } else if (again
                || consumer.subscription().isClosed()
                || !consumer.subscription().isUnacknowledged(lane.code(), from)) {
              taker.read(null, done.failure);
            } else {
              // The place may have changed meanwhile.
              read(consumer, lane, from, count, maxBytes, taker, true);
            }
          });
    } catch (RejectedExecutionException e) {
      fetch.release();
      taker.read(null, new IOException("the read loop takes nothing more", e));
    }
  }

  private static ByteBuffer fromMemory(UnloggedLane lane, long from, int count, int maxBytes) {
    int bytes = lane.length(from);
    long end = from + 1;
    while (end < from + count
        && lane.isInMemory(end)
        && bytes + (long) lane.length(end) <= maxBytes) {
      bytes += lane.length(end);
      end++;
    }
    ByteBuffer entries = ByteBuffer.allocate(bytes);
    for (long sequence = from; sequence < end; sequence++) {
      lane.copyTo(sequence, entries);
    }
    return entries.flip();
  }

  private ByteBuffer fromWindow(Lane lane, long from, int count, int maxBytes) {
    long offset = location.journalOffset();
    for (long skipped = location.firstSequence(); skipped < from; skipped++) {
      offset += window.getInt(offset);
    }
    long end = Math.min(from + count, location.firstSequence() + location.count());
    int bytes = window.getInt(offset);
    for (long next = from + 1; next < end; next++) {
      int length = window.getInt(offset + bytes);
      if (bytes + length > maxBytes) {
        break;
      }
      bytes += length;
    }
    ByteBuffer entries = ByteBuffer.allocate(bytes);
    window.copyTo(offset, bytes, entries);
    if (location.origin() != null) {
      long sequence = from;
      for (int at = 0; at < bytes; at += Entry.length(entries, at)) {
        Entry.place(entries, at, lane.destination().id(), lane.code(), sequence++);
      }
    }
    return entries.flip();
  }

  private void add(Fetch fetch, long from, int count) {
    if (location.piece() != null) {
      long each = Math.max(1, location.piece().bytes() / location.piece().count());
      int some = (int) Math.min(count, location.piece().lastSequence() - from + 1);
      fetch.add(new Fetch.InPiece(from, some, location.piece()), each * some);
    } else {
      int some = (int) Math.min(count, location.firstSequence() + location.count() - from);
      fetch.add(
          Fetch.InJournal.of(from, some, location),
          (long) location.bytes() * some / location.count() + Entry.HEADER_BYTES);
    }
  }

  /** Buffers on the heap; nothing is delivered. */
  private static final class HeapOutlet implements Outlet {
    @Override
    public long connectionId() {
      return 0;
    }

    @Override
    public boolean writable() {
      return true;
    }

    @Override
    public Buffer allocate(int bytes) {
      ByteBuffer buffer = ByteBuffer.allocate(bytes);
      return new Buffer() {
        @Override
        public ByteBuffer bytes() {
          return buffer;
        }

        @Override
        public void release() {}
      };
    }

    @Override
    public void deliver(Batch batch) {
      throw new IllegalStateException("nothing is delivered to the broker itself");
    }

    @Override
    public void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {
      throw new IllegalStateException("the broker itself does not pull");
    }
  }
}
