package io.lightmq.core.state;

import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.RecordWriter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.spi.Journal.Batch;
import io.lightmq.spi.Mark;
import java.nio.ByteBuffer;

/**
 * The batch of the current turn while it grows in the window, with the effects that wait for it.
 */
@OwnedBy("shard")
public final class BatchBuilder implements RecordWriter.Sink, BatchBytes {
  /** A batch is ended once it has so many bytes; one longer command makes a longer batch. */
  public static final int FULL_BYTES = 1 << 20;

  private final Window window;
  private BatchEffects effects = new BatchEffects();
  private long begin = -1;
  private boolean startsEpoch;
  private boolean wantsForce;

  public BatchBuilder(Window window) {
    this.window = window;
  }

  /** Whether no record has been put since the last batch. */
  public boolean isEmpty() {
    return begin < 0;
  }

  /** Whether it should be ended. */
  public boolean isFull() {
    return begin >= 0 && window.position() - begin >= FULL_BYTES;
  }

  /** The offset of the batch's header; -1 before the first record. */
  long begin() {
    return begin;
  }

  /** Bytes so far, header included. */
  public long length() {
    return begin < 0 ? 0 : window.position() - begin;
  }

  @Override
  public long position() {
    open();
    return window.position();
  }

  @Override
  public void put(ByteBuffer bytes) {
    open();
    window.put(bytes);
  }

  @Override
  public void patchInt(long offset, int value) {
    window.patchInt(offset, value);
  }

  @Override
  public long getLong(long journalOffset) {
    return window.getLong(journalOffset);
  }

  private void open() {
    if (begin < 0) {
      begin = window.position();
      window.putZeros(Batch.HEADER_BYTES);
    }
  }

  /** The batch begins a shard epoch. */
  public void startsEpoch() {
    startsEpoch = true;
  }

  /** Somebody waits until the batch is durable. */
  void wantsForce() {
    wantsForce = true;
  }

  /** The shard itself goes on with something once the batch is written. */
  void shardWaitsForWritten() {
    effects.shardWaits();
  }

  /** Runs an effect on the journal's threads once the batch has reached a mark; must not block. */
  void effect(Mark mark, Runnable effect) {
    if (begin < 0) {
      throw new IllegalStateException("an effect waits for a batch that has no record");
    }
    effects.add(mark, effect);
    wantsForce |= mark == Mark.DURABLE;
  }

  /** Ends the batch, padded to a multiple of its header. */
  public ShardBatch end(ShardBatch.Observer observer) {
    window.align(Batch.HEADER_BYTES);
    int length = Math.toIntExact(window.position() - begin);
    ShardBatch batch =
        new ShardBatch(
            begin,
            length,
            window.slices(begin, length),
            startsEpoch,
            wantsForce,
            effects,
            observer);
    begin = -1;
    startsEpoch = false;
    wantsForce = false;
    effects = new BatchEffects();
    return batch;
  }
}
