package io.lightmq.core.state;

import io.lightmq.spi.Journal;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The records of one turn on their way through the journal, with the answers that they release.
 * Built by the shard; from the append on it belongs to the journal's threads.
 */
public final class ShardBatch implements Journal.Batch {

  /** Told when a batch has reached a mark; on the journal's threads, must not block. */
  public interface Observer {
    /** The marks have moved. */
    void marksMoved();

    /** The batch has ended. */
    void ended(Journal.Outcome outcome);
  }

  private final long offset;
  private final int length;
  private final ByteBuffer[] bytes;
  private final boolean startsEpoch;
  private final boolean wantsForce;
  private final List<Runnable> onWritten;
  private final List<Runnable> onDurable;
  private final Observer observer;

  ShardBatch(
      long offset,
      int length,
      ByteBuffer[] bytes,
      boolean startsEpoch,
      boolean wantsForce,
      List<Runnable> onWritten,
      List<Runnable> onDurable,
      Observer observer) {
    this.offset = offset;
    this.length = length;
    this.bytes = bytes;
    this.startsEpoch = startsEpoch;
    this.wantsForce = wantsForce;
    this.onWritten = onWritten;
    this.onDurable = onDurable;
    this.observer = observer;
  }

  @Override
  public long offset() {
    return offset;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public ByteBuffer[] bytes() {
    return bytes;
  }

  @Override
  public boolean startsEpoch() {
    return startsEpoch;
  }

  @Override
  public boolean wantsForce() {
    return wantsForce;
  }

  /** The receipts that wait for the force; what the shard itself waits for sends nothing new. */
  @Override
  public int waiters() {
    return onDurable.size();
  }

  @Override
  public void written() {
    onWritten.forEach(Runnable::run);
    observer.marksMoved();
  }

  @Override
  public void completed(Journal.Outcome outcome) {
    if (outcome == Journal.Outcome.DONE) {
      onDurable.forEach(Runnable::run);
    }
    observer.ended(outcome);
  }
}
