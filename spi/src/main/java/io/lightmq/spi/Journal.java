package io.lightmq.spi;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;

/**
 * The ordered, durable sequence of batches of one shard.
 *
 * <p>An <em>offset</em> is a place in a journal: batches lie back to back in offset order, each
 * with its header. One thread, the shard's, calls {@link #append}; marks may be read by any thread.
 *
 * <p>A node <em>leads</em> or <em>follows</em>. It follows when {@link #start} returns. It leads
 * from {@link Listener#leader} on, and appends; it follows again from {@link Listener#follower} or
 * {@link Listener#lost} on, and is shown by {@link Listener#committed} what the leader appended.
 * This may go back and forth any number of times. A local journal leads at once and for good.
 *
 * <pre>
 * appended ─── taken ──────── the batch's bytes may be used again: room for the next ones
 *          └── written ─────── visible, and receipts of the tiers that wait for no force
 *              ├── readable ── read(offset) gives the bytes
 *              └── durable ─── receipts of the tier high; in a cluster that is: committed
 * </pre>
 *
 * <p>In a local journal a batch is taken and readable when it is written, and durable when it is
 * forced. In a cluster it is taken when it is sent, written and durable when it is committed, and
 * readable a little later.
 *
 * <p>A failed write or force ends a journal for good: it tells {@link Listener#failed} once, and
 * every later append is answered {@link Outcome#REFUSED}. Nothing is ever retried.
 */
public interface Journal extends AutoCloseable {

  /**
   * A follower is ahead of its shard by so many bytes at most: the journal hands no more committed
   * batches over until the shard has carried some out. So it is the journal that waits, with what
   * it has in its files, and neither the shard nor the leader.
   */
  int AHEAD_BYTES = 16 << 20;

  /** What became of an appended batch. */
  enum Outcome {
    /** Durable: forced, in a cluster committed. */
    DONE,
    /** Certainly not in the journal: the epoch has ended or the journal has failed. */
    REFUSED,
    /**
     * Perhaps in the journal: leadership or the device was lost while it was under way. If it is
     * there, a follower is shown it like any other.
     */
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
     * unchanged until {@link Journal#taken} has passed the batch or it is {@link #completed}; the
     * journal writes only the header bytes.
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

    /**
     * The mark {@link Journal#taken} has passed the batch; not told if that is as it is written.
     */
    default void taken() {}

    /** The batch is written. Called before {@link #completed} and after the marks have moved. */
    void written();

    /** The mark {@link Journal#readable} has passed it; not told if that is as it is written. */
    default void readable() {}

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

  /** Takes batches that are in the journal. */
  interface Replay {
    /**
     * A batch of the journal, in offset order, on the thread that asked for them.
     *
     * @param offset the offset of the batch's header
     * @param records the bytes behind the header, valid until the method returns
     */
    void replay(long offset, ByteBuffer records);
  }

  /**
   * Told about the life of the journal: of what is found by {@link #start}, on the thread that
   * calls it; of all else on the shard's loop, in order, through the executor that start was given.
   */
  interface Listener extends Replay {
    /**
     * This node leads: it may append from now on. All that is committed was told before.
     *
     * @param epoch which goes with every append (a Raft term; locally the number of the start);
     *     higher than any before
     * @param from the offset at which the first batch goes
     */
    void leader(long epoch, long from);

    /** This node follows, and may append no more. All that it appended is durable. */
    void follower();

    /**
     * The same, but batches were under way, above {@link Journal#durable}. Each of them was
     * {@linkplain Batch#completed completed} before as refused or unknown, so that its bytes are
     * the shard's again; what was applied of them is to be thrown away. Those that are committed
     * nevertheless come by {@link #committed}.
     *
     * @param pending how many there were, above 0
     */
    void lost(int pending);

    /**
     * A batch that is committed, to a node that follows; it continues what was told before. Never
     * one that this node appended itself and that ended well.
     *
     * @param offset the offset of the batch's header
     * @param records the bytes behind the header, valid until the method returns
     */
    void committed(long offset, ByteBuffer records);

    /** The journal has ended; nothing that was not durable before may be trusted. */
    void failed(IOException cause);
  }

  /**
   * Recovers the journal and replays every batch from {@code fromOffset} on. Blocks. The node
   * follows when this returns; whatever the listener is told may be told to the executor before
   * that.
   *
   * @param shard runs on the shard's loop what the listener is told, one after the other; may keep
   *     it back until the shard is ready to hear it
   * @return the offset at which the next batch goes
   * @throws IOException if the journal is damaged, belongs to another store or begins after {@code
   *     fromOffset}; the message names file, offset and what was found
   */
  long start(long fromOffset, Executor shard, Listener listener) throws IOException;

  /**
   * Replays every committed batch from an offset on once more, to a shard that has thrown its state
   * away and builds it again. Blocks; not on the shard's loop. Called while the node follows and
   * the executor keeps back what is told, which may begin with batches that are shown here too.
   *
   * @return the offset behind the last one
   * @throws IOException if the place is trimmed or the device fails
   */
  long replay(long fromOffset, Replay taker) throws IOException;

  /**
   * Appends a batch; returns at once.
   *
   * @param epoch the epoch that {@link Listener#leader} gave; another one is refused
   * @param number of the batch, rising by one from 1 within an epoch
   */
  void append(long epoch, long number, Batch batch);

  /** The longest batch that it takes, header included. */
  int maxBatchBytes();

  /**
   * Until when this node may hand out messages and say that there are none, in nanoseconds of the
   * clock that the shard has its time of: a lease, since a leader that is cut off learns late that
   * another one has taken over. {@code Long.MAX_VALUE} is for ever, as in a local journal: nobody
   * else can lead, and a node that closes waits for it as long as it takes. Any thread; cheap, it
   * is asked in each turn.
   */
  long mayGiveUntil();

  /** Asks that everything appended so far becomes durable soon; returns at once. */
  void force();

  /**
   * Says that somebody may wait for {@link Mark#WRITTEN} only: from now on no write waits for a
   * force. Any thread; returns at once.
   */
  void forceBeside();

  /** Everything below is forced (in a cluster: committed). */
  long durable();

  /** Everything below is in the page cache (in a cluster: committed). */
  long written();

  /** {@link #read} gives everything below. */
  long readable();

  /** The bytes of all batches below may be used again. */
  long taken();

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
   * Reads bytes at a place that is readable and not trimmed. Blocks; called by reader threads only.
   *
   * @throws IOException if the place is trimmed, not readable, or the device fails
   */
  void read(long offset, ByteBuffer into) throws IOException;

  /** Gives up everything below an offset; files wholly below it are recycled. Any thread. */
  void trim(long belowOffset);

  /**
   * Writes and forces what was appended, then closes. Blocks, but not for other nodes: what is not
   * committed by then ends as {@link Outcome#UNKNOWN}.
   */
  @Override
  void close() throws IOException;
}
