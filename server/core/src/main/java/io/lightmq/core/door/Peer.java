package io.lightmq.core.door;

import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A connected client as its shard sees it. Methods are called on shard and journal threads and must
 * not block: an implementation hands over to its own loop, coalesced.
 */
public interface Peer {

  /** Unique among all connections of this start of the broker. */
  long connectionId();

  /** The user name that is stamped on its messages. */
  String userName();

  /** Whether its user manages the broker, and gets in where others have taken all there is. */
  boolean manages();

  /** Where it comes from, as people should read it. */
  String address();

  /** Answers a run or a commit; many of one turn are gathered by the implementation. */
  void receipt(int correlation, FaultCode code, String text);

  /** Answers any other request. */
  void reply(int correlation, Reply reply);

  /**
   * Whether the outbound buffer takes more deliveries; {@link Command.Writable} tells when again.
   * Also called on a reader's thread.
   */
  boolean writable();

  /**
   * A buffer for entries to deliver, with room for so many bytes, which count as waiting to be
   * written until they are written or the buffer is given back.
   */
  OutBuffer allocate(int bytes);

  /** Messages for a consumer; the peer takes over the delivery's buffer. */
  void deliver(Delivery delivery);

  /** A pull that ended without a message. */
  void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis);

  /** So many bytes of publish credit are free again (a run has left the shard's memory budget). */
  void credit(long bytes);

  /**
   * One of its pulls, or of its commands that want no answer, is carried out. Publishes do not
   * count; their {@link #credit} tells.
   */
  void carriedOut();

  /**
   * What one of its commands named is not kept any more; once for each that named anything. Called
   * on any thread.
   */
  void letGo(List<Command.Acked> named);

  /** Ends the connection with a reason. */
  void disconnect(FaultCode code, String text);

  /** Memory of the network layer that the shard or a reader fills. */
  interface OutBuffer {
    /** Where to write; position 0, limit the room asked for. */
    ByteBuffer bytes();

    /** Gives it back unused. */
    void release();
  }

  /**
   * Messages for one consumer.
   *
   * @param entries filled from 0 to {@code length}
   */
  record Delivery(
      int consumerId, int pullId, int count, List<Seen> seen, OutBuffer entries, int length) {}

  /** {@code count} entries from an index on were delivered before, {@code deliveries} times. */
  record Seen(int index, int count, int deliveries) {}

  /** The answers to requests. */
  sealed interface Reply {
    /** Done. */
    record Ok() implements Reply {}

    /** Failed. */
    record Failed(FaultCode code, String text) implements Reply {}

    /**
     * The link is attached.
     *
     * @param knownSince the link epoch since which the broker knows it
     */
    record Attached(long last, List<Outcome> outcomes, long knownSince) implements Reply {}

    /** A destination is resolved for a producer. */
    record ProducerAttached(long destinationId) implements Reply {}

    /** A consumer is open. */
    record ConsumerAttached(long destinationId) implements Reply {}

    /** A temporary destination exists. */
    record TemporaryCreated(DestinationName destination) implements Reply {}

    /**
     * A part of a transaction is staged.
     *
     * @param transaction the shard's id for it, the same for all of its parts
     */
    record Staged(long transaction) implements Reply {}

    /**
     * Branches that the shard remembers, in an order of its own.
     *
     * @param more whether there are others behind the last one
     */
    record Recovered(List<RecoveredBranch> branches, boolean more) implements Reply {
      public Recovered {
        branches = List.copyOf(branches);
      }
    }

    /** The result of an admin verb, as JSON. */
    record Json(String json) implements Reply {}
  }

  /** A branch that the shard remembers. */
  record RecoveredBranch(Xid xid, BranchState state) {}

  /** What became of a numbered run or commit. */
  record Outcome(long number, FaultCode code, String text) {}
}
