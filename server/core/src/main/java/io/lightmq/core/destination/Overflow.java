package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.core.storage.overflow.OverflowFile;
import io.lightmq.core.storage.overflow.OverflowFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the oldest unlogged entries into files while more than half of their memory is used, or
 * when something found no room. One batch is written at a time; its entries stay in memory until it
 * is written, and for good if that fails: nothing that was accepted is lost by it, and the shard
 * goes on. After a failure nothing is moved for a second.
 *
 * <p>The oldest go, not the newest, since who consumes in time wants the newest, and what one slow
 * subscription leaves must not send everybody's messages through files.
 */
@OwnedBy("shard")
public final class Overflow {
  private static final Logger log = LoggerFactory.getLogger(Overflow.class);
  private static final String PURPOSE = "overflow";

  /** A batch has at most so many bytes, unless a single entry has more. */
  private static final int BATCH_BYTES = 512 << 10;

  /** A run has at most so many: what a reader reads to find one entry of it. */
  private static final int RUN_BYTES = 64 << 10;

  private static final long PAUSE_NANOS = 1_000_000_000L;
  private static final long LOG_NANOS = 60_000_000_000L;

  private final Guard guard;
  private final UnloggedStore store;
  private final OverflowFiles files;
  private final DirectMemory memory;
  private final Runnable moved;
  private final int batchBytes;
  private boolean wanted;
  private long nowNanos;
  private long pausedUntilNanos;
  private boolean paused;
  private long loggedNanos;
  private boolean logged;
  private String obstacle = "";
  private long movedMessages;
  private long failures;

  /**
   * Nothing is moved yet.
   *
   * @param guard who may touch this and the destinations whose entries it moves
   * @param files those that the store has
   * @param moved runs on the shard loop after each batch that made room
   */
  public Overflow(
      Guard guard, UnloggedStore store, OverflowFiles files, DirectMemory memory, Runnable moved) {
    this.guard = guard;
    this.store = store;
    this.files = files;
    this.memory = memory;
    this.moved = moved;
    this.batchBytes = (int) Math.max(1024, Math.min(BATCH_BYTES, store.budgetBytes() / 8));
  }

  /** Something found no room in memory: moves at least one batch, whatever is used. */
  public void want() {
    guard.check();
    wanted = true;
  }

  /** Why nothing is moved although it should be; empty if nothing stands in the way. */
  public String obstacle() {
    return obstacle;
  }

  /** Entries that were moved since start. */
  public long movedMessages() {
    return movedMessages;
  }

  /** Batches that could not be written since start. */
  public long failures() {
    return failures;
  }

  /** The files, for their figures. */
  public OverflowFiles files() {
    return files;
  }

  /**
   * Begins to move a batch if there is need and nothing in the way; at the end of each turn.
   *
   * @param diskFull whether the disk guard is on
   */
  public void turn(long nanos, boolean diskFull) {
    guard.check();
    nowNanos = nanos;
    boolean need = store.usedBytes() > (wanted ? 0 : store.budgetBytes() / 2);
    wanted &= need;
    if (!need) {
      obstacle = "";
      return;
    }
    if (files.isWriting() || store.oldest() == UnloggedStore.NONE) {
      return;
    }
    if (paused && nanos - pausedUntilNanos < 0) {
      return;
    }
    paused = false;
    int bytes = Math.max(batchBytes, store.length(store.oldest()));
    String reached = diskFull ? "the disk is full" : limitReached(bytes);
    if (reached.isEmpty()) {
      wanted = false;
      write(bytes); // whether an obstacle is gone shows when it is written
    } else {
      obstacle = reached;
    }
  }

  private String limitReached(int bytes) {
    if (!files.hasRoom(bytes)) {
      return files.usedBytes() + " of " + files.limitBytes() + " bytes of its files are used";
    }
    // With a run for each entry, places could outgrow what they are there to save.
    long most = Math.max(store.budgetBytes() / 4, OffHeap.SLAB_BYTES);
    return store.placeBytes() >= most
        ? "the places of its messages take "
            + store.placeBytes()
            + " bytes, the most is a quarter of the memory for messages"
        : "";
  }

  private void write(int bytes) {
    ByteBuffer batch = memory.allocate(PURPOSE, roomFor(bytes)).limit(bytes);
    List<UnloggedLane.Leaving> leaving = new ArrayList<>();
    UnloggedLane.Leaving next = leave(store.oldest(), batch);
    while (next != null) {
      leaving.add(next);
      next = store.oldest() == UnloggedStore.NONE ? null : leave(store.oldest(), batch);
    }
    batch.flip();
    files.write(
        batch,
        new OverflowFiles.Done() {
          @Override
          public void written(OverflowFile file, int position) {
            memory.free(PURPOSE, batch);
            obstacle = "";
            for (UnloggedLane.Leaving each : leaving) {
              movedMessages += each.lane().left(each, file, position);
            }
            moved.run();
          }

          @Override
          public void failed(IOException cause) {
            memory.free(PURPOSE, batch);
            Overflow.this.failed(leaving, cause);
          }
        });
  }

  private UnloggedLane.@Nullable Leaving leave(int handle, ByteBuffer batch) {
    return store
        .lane(handle)
        .leave(store.sequence(handle), batch, Math.min(RUN_BYTES, batchBytes / 4));
  }

  /** Few sizes, so that buffers which are given back serve again. */
  private static int roomFor(int bytes) {
    return Integer.highestOneBit(Math.max(1, bytes - 1)) << 1;
  }

  private void failed(List<UnloggedLane.Leaving> leaving, IOException cause) {
    int oldest = store.oldest();
    for (UnloggedLane.Leaving each : leaving) {
      each.lane().stay(each, oldest);
    }
    failures++;
    paused = true;
    pausedUntilNanos = nowNanos + PAUSE_NANOS;
    obstacle = "its files cannot be written: " + FileFaults.text(cause);
    if (!logged || nowNanos - loggedNanos >= LOG_NANOS) {
      logged = true;
      loggedNanos = nowNanos;
      log.warn(
          "Unlogged messages stay in memory, {} of {} bytes are used: the overflow cannot be"
              + " written; it is tried again each second, the next line comes in 60 s at the"
              + " earliest",
          store.usedBytes(),
          store.budgetBytes(),
          cause);
    }
  }
}
