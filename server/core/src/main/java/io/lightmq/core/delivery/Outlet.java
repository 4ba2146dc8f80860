package io.lightmq.core.delivery;

import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Where one connection's messages go. Called on the shard loop, {@link #writable}, {@link
 * #allocate} and {@link Buffer} also on a reader's; no method blocks.
 */
public interface Outlet {
  /** The connection, as entries name it. */
  long connectionId();

  /** Whether more deliveries are taken; {@link Dispatcher#writable} tells when again. */
  boolean writable();

  /** A buffer with room for so many bytes, which count against the room from now on. */
  Buffer allocate(int bytes);

  /** Takes messages over, with their buffer. */
  void deliver(Batch batch);

  /** A pull that ended without a message. */
  void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis);

  /** Memory of the network layer. */
  interface Buffer {
    /** Where to write; position 0, limit the room asked for. */
    ByteBuffer bytes();

    /** Gives it back unused. */
    void release();
  }

  /**
   * Messages for one consumer.
   *
   * @param seen exceptions from "never delivered before", rising by index
   * @param entries whole entries back to back, filled from 0 to {@code length}
   */
  record Batch(int consumerId, int pullId, int count, List<Seen> seen, Buffer entries, int length) {
    /** The same for another pull of the consumer, which it answers instead. */
    Batch answering(int pull) {
      return new Batch(consumerId, pull, count, seen, entries, length);
    }
  }

  /** {@code count} entries from an index on were delivered before, {@code deliveries} times. */
  record Seen(int index, int count, int deliveries) {}
}
