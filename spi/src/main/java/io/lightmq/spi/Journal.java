package io.lightmq.spi;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The ordered, durable sequence of batches of one shard.
 *
 * <p>An <em>offset</em> is a place in a journal: batches lie back to back in offset order, each
 * with its header. One thread, the shard's, calls {@link #append}; marks may be read by any thread.
 *
 * <p>A failed write or force ends a journal for good: it tells {@link Listener#failed} once, and
 * every later append is answered {@link Outcome#REFUSED}. Nothing is ever retried.
 */
public interface Journal extends AutoCloseable {

  /** What became of an appended batch. */
  enum Outcome {
    /** Durable: forced, in a cluster committed. */
    DONE,
    /** Certainly not in the journal: the epoch has ended or the journal has failed. */
    REFUSED,
    /** Perhaps in the journal: leadership or the device was lost while it was under way. */
    UNKNOWN
  }

  /** What one append carries. Called back on the journal's threads, which must not be blocked. */
  interface Batch {
    /** Bytes at the start of every batch that the journal itself fills in. */
    int HEADER_BYTES = 64;

    /** The offset of the first header byte; equals the journal's appended mark before the call. */
    long offset();

    /** Bytes of header and records together, a multiple of {@link #HEADER_BYTES}. */
    int length();

    /**
     * The bytes, in one or two pieces of which the first holds at least the header. They stay
     * unchanged until {@link #written}; the journal writes only the header bytes.
     */
    ByteBuffer[] bytes();

    /** Whether this batch begins a shard epoch; the journal marks it and draws nothing from it. */
    boolean startsEpoch();

    /** Whether somebody waits for this batch to become durable, so a force is due at once. */
    boolean wantsForce();

    /**
     * How many senders wait for this batch to become durable; only a guess for how long a force may
     * wait for more.
     */
    default int waiters() {
      return wantsForce() ? 1 : 0;
    }

    /** The batch is written. Called before {@link #completed} and after the marks have moved. */
    void written();

    /** The batch has ended; called once, in offset order, after the marks have moved. */
    void completed(Outcome outcome);
  }

  /**
   * Calls of one kind to the device so far.
   *
   * @param totalNanos of all of them
   */
  record Calls(long count, long totalNanos) {}

  /** How long this node's own device took to write and to force. */
  record Times(Calls writes, Calls forces) {}

  /** Told about the life of the journal. */
  interface Listener {
    /**
     * A batch that was found at start, in offset order, on the thread that called {@link #start}.
     *
     * @param offset the offset of the batch's header
     * @param records the bytes behind the header, valid until the method returns
     */
    void replay(long offset, ByteBuffer records);

    /**
     * This node may append from now on, with this epoch (a Raft term; locally the start number).
     */
    void leader(long epoch);

    /** This node may not append any more. */
    void follower();

    /** The journal has ended; nothing that was not durable before may be trusted. */
    void failed(IOException cause);
  }

  /**
   * Recovers the journal and replays every batch from {@code fromOffset} on. Blocks.
   *
   * @return the offset at which the next batch goes
   * @throws IOException if the journal is damaged, belongs to another store or begins after {@code
   *     fromOffset}; the message names file, offset and what was found
   */
  long start(long fromOffset, Listener listener) throws IOException;

  /**
   * Appends a batch; returns at once.
   *
   * @param epoch the epoch that {@link Listener#leader} gave; another one is refused
   * @param number of the batch, rising by one from 1 within an epoch
   */
  void append(long epoch, long number, Batch batch);

  /** Asks that everything appended so far becomes durable soon; returns at once. */
  void force();

  /**
   * Says that somebody may wait for {@link Mark#WRITTEN} only: from now on no write waits for a
   * force. Any thread; returns at once.
   */
  void forceBeside();

  /** Everything below is forced (in a cluster: committed). */
  long durable();

  /** Everything below is in the page cache. */
  long written();

  /** The offset at which the next batch goes. */
  long appended();

  /**
   * Room on this node's disk that {@link #trim} would have to give back before it can be used
   * again; at least what lies between start and appended, more where files are recycled whole.
   */
  long usedBytes();

  /** What {@link #usedBytes} will be once one more batch of this length is appended. */
  long usedBytesAfter(int batchBytes);

  /** The most that {@link #usedBytes} may become; beyond it appends wait for {@link #trim}. */
  long capacityBytes();

  /** A look at the device's times. */
  Times times();

  /**
   * Reads bytes at a place that is written and not trimmed. Blocks; called by reader threads only.
   *
   * @throws IOException if the place is trimmed, not written, or the device fails
   */
  void read(long offset, ByteBuffer into) throws IOException;

  /** Gives up everything below an offset; files wholly below it are recycled. Any thread. */
  void trim(long belowOffset);

  /** Writes and forces what was appended, then closes. Blocks. */
  @Override
  void close() throws IOException;
}
