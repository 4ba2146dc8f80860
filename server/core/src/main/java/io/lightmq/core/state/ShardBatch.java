package io.lightmq.core.state;

import io.lightmq.spi.Journal;
import io.lightmq.spi.Mark;
import java.nio.ByteBuffer;

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
  private final BatchEffects effects;
  private final Observer observer;

  ShardBatch(
      long offset,
      int length,
      ByteBuffer[] bytes,
      boolean startsEpoch,
      boolean wantsForce,
      BatchEffects effects,
      Observer observer) {
    this.offset = offset;
    this.length = length;
    this.bytes = bytes;
    this.startsEpoch = startsEpoch;
    this.wantsForce = wantsForce;
    this.effects = effects;
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
    return effects.count(Mark.DURABLE);
  }

  /**
   * {@inheritDoc} The shard is not woken for a batch of which nothing goes on before its force:
   * that one wakes it soon, and a sender who waits for the force would wait for the waking too.
   */
  @Override
  public void written() {
    effects.run(Mark.WRITTEN);
    if (!wantsForce || effects.isShardWaiting()) {
      observer.marksMoved();
    }
  }

  @Override
  public void completed(Journal.Outcome outcome) {
    if (outcome == Journal.Outcome.DONE) {
      effects.run(Mark.DURABLE);
    }
    observer.ended(outcome);
  }
}
