package io.lightmq.node.connection;

import io.lightmq.wire.entry.FaultCode;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The heap that all connections take for what they have open beside what the shard keeps for them:
 * sessions, producers, consumers' numbers, and the destinations that they may publish to. What each
 * connection takes first, {@value #OWN} bytes, is its own and not counted, so that nobody can keep
 * others from working; beyond that a connection may have a quarter of all. Destinations that are
 * only remembered may take half.
 *
 * <p>Any thread; each connection counts its own on its event loop.
 */
public final class ConnectionHeap {
  /** What an open session takes, a little more than measured. */
  static final int SESSION = 72;

  /** What an open producer takes without its destination. */
  static final int PRODUCER = 112;

  /** What an open consumer takes here; the shard counts the rest. */
  static final int CONSUMER = 72;

  /** What a destination takes that may be published to. */
  static final int DESTINATION = 104;

  /** What every connection may take, whatever others have: a dozen producers or so. */
  static final int OWN = 4_096;

  private static final int SHARE_OF_HEAP = 16;
  private static final int SHARE_OF_CONNECTION = 4;

  private final long limit;
  private final AtomicLong used = new AtomicLong();

  /**
   * Nothing taken.
   *
   * @param limit in bytes
   */
  ConnectionHeap(long limit) {
    this.limit = limit;
  }

  /** For a Java machine of this heap: a sixteenth of it. */
  public static ConnectionHeap of(long heapBytes) {
    return new ConnectionHeap(heapBytes / SHARE_OF_HEAP);
  }

  /** What all connections take now. */
  long used() {
    return used.get();
  }

  /**
   * Takes heap for one connection.
   *
   * @param own what this connection has taken already
   * @return false if there is not so much for it
   */
  boolean take(long bytes, long own) {
    long counted = counted(own + bytes) - counted(own);
    if (counted == 0) {
      return true;
    }
    if (counted(own + bytes) > limit / SHARE_OF_CONNECTION) {
      return false;
    }
    if (used.addAndGet(counted) > limit) {
      used.addAndGet(-counted);
      return false;
    }
    return true;
  }

  private static long counted(long own) {
    return Math.max(0, own - OWN);
  }

  /** Whether so much is taken that nothing more is to be only remembered. */
  boolean isShort() {
    return used.get() > limit / 2;
  }

  /**
   * Gives heap back.
   *
   * @param own what this connection has taken, with these bytes
   */
  void give(long bytes, long own) {
    used.addAndGet(counted(own - bytes) - counted(own));
  }

  /**
   * Why something cannot be opened.
   *
   * @param own what this connection has taken
   */
  ProtocolRefusal refusal(String what, long own) {
    return ProtocolRefusal.of(
        FaultCode.LIMIT_REACHED,
        "no room for "
            + what
            + ": sessions, producers and consumers take "
            + used.get()
            + " of "
            + limit
            + " bytes of heap, those of this connection "
            + own
            + " of a quarter; close some, or give the broker more heap");
  }
}
