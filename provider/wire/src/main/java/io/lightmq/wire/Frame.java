package io.lightmq.wire;

import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Everything that travels between a client and a broker. {@link FrameCodec} knows the bytes.
 *
 * <p>A frame that asks for an answer carries a correlation id above 0, unique among the
 * connection's open requests; the answer carries the same one. Frames that hold a {@link ByteBuf}
 * own one reference to it; who consumes the frame releases it.
 */
public sealed interface Frame {

  /** The correlation id, 0 where there is none. */
  default int correlation() {
    return 0;
  }

  // ---- handshake: the only frames before authentication, at most 16 KiB each, within 5 s ----

  /** First frame of a client. Features are a bit set; both sides use the intersection. */
  record Hello(int minVersion, int maxVersion, long features, String product) implements Frame {}

  /** The broker's answer: the version to speak and its limits. */
  record Welcome(
      int version,
      long features,
      UUID storeId,
      int maxFrameBytes,
      int maxMessageBytes,
      int maxTransactionBytes,
      int heartbeatMillis)
      implements Frame {}

  /** Begins authentication: {@code ANONYMOUS} (no data) or {@code SCRAM-SHA-256} (RFC 5802). */
  record AuthStart(String mechanism, byte[] data) implements Frame {}

  /** The broker's SCRAM challenge. */
  record AuthChallenge(byte[] data) implements Frame {}

  /** The client's SCRAM proof. */
  record AuthResponse(byte[] data) implements Frame {}

  /** Authentication succeeded; data is the server's SCRAM signature. */
  record AuthDone(byte[] data, long connectionId, String userName) implements Frame {}

  // ---- the link ----

  /**
   * Binds the connection to the client's link. The epoch rises with each attach of a link; frames
   * of older connections are shut out.
   *
   * @param answersFrom the lowest number whose answer the client still wants
   * @param clientId the JMS client id, or null
   */
  record Attach(
      int correlation, UUID linkId, long linkEpoch, long answersFrom, @Nullable String clientId)
      implements Frame {}

  /**
   * The link's state in the broker: numbers up to {@code last} are taken; those at or above the
   * client's {@code answersFrom} that did not end well are listed.
   *
   * @param knownSince the link epoch since which the broker knows the link: of what was sent in an
   *     epoch below, and has no receipt, it cannot say whether it is stored; {@link #UNTOLD} where
   *     {@link Protocol#LINK_KNOWN} is not agreed
   */
  record Attached(
      int correlation, long last, List<NumberedOutcome> outcomes, long creditBytes, long knownSince)
      implements Frame {

    /** The broker does not say since when it knows the link. */
    public static final long UNTOLD = -1;

    /** What is said to a client that does not know the feature. */
    public Attached(int correlation, long last, List<NumberedOutcome> outcomes, long creditBytes) {
      this(correlation, last, outcomes, creditBytes, UNTOLD);
    }
  }

  /** What became of a numbered run or commit. */
  record NumberedOutcome(long number, FaultCode code, String text) {
    public NumberedOutcome {
      text = Printable.line(text);
    }
  }

  /** Sets the JMS client id after the link was attached; answered by {@link Ok}. */
  record SetClientId(int correlation, String clientId) implements Frame {}

  /** The request was done. */
  record Ok(int correlation) implements Frame {}

  /** The request failed; the text can be shown to people as it is, whoever wrote it. */
  record Fault(int correlation, FaultCode code, String text, int retryAfterMillis)
      implements Frame {
    public Fault {
      text = Printable.line(text);
    }
  }

  /** The sender is about to close the connection, and why, in a text that can be shown as it is. */
  record Goodbye(FaultCode code, String text) implements Frame {
    public Goodbye {
      text = Printable.line(text);
    }
  }

  /** A sign of life, sent when nothing else was for a third of the heartbeat interval. */
  record Heartbeat() implements Frame {}

  // ---- sessions, producers, consumers; ids are the client's, unique within its connection ----

  /** Opens a session; answered by {@link Ok}. */
  record OpenSession(int correlation, int sessionId) implements Frame {}

  /** Closes a session with all its consumers and producers; answered by {@link Ok}. */
  record CloseSession(int correlation, int sessionId) implements Frame {}

  /** Resolves a destination to send to; answered by {@link ProducerAttached}. */
  record AttachProducer(int correlation, int producerId, int sessionId, DestinationName destination)
      implements Frame {}

  /** The destination's id, which travels with every publish. */
  record ProducerAttached(int correlation, long destinationId) implements Frame {}

  /** Gives up a producer; no answer. */
  record DetachProducer(int producerId) implements Frame {}

  /** How a consumer subscribes. */
  enum Subscribe {
    /** The one subscription of a queue. */
    QUEUE,
    /** A topic subscription of this consumer alone that ends with it. */
    PLAIN,
    /** A named, non-durable subscription shared by consumers. */
    SHARED,
    /** A named durable subscription with one consumer at a time. */
    DURABLE,
    /** A named durable subscription shared by consumers. */
    SHARED_DURABLE,
    /**
     * A look at what a queue has now: deliveries are in flight to nobody, and the pull that ends
     * with OK is the end of the look.
     */
    BROWSE
  }

  /**
   * Opens a consumer; answered by {@link ConsumerAttached}. It gets nothing before it pulls.
   *
   * @param subscription the name, null for QUEUE, PLAIN and BROWSE
   * @param selector the message selector, null for none
   * @param noAcknowledge whether what it is sent counts as acknowledged, before it is sent
   */
  record AttachConsumer(
      int correlation,
      int consumerId,
      int sessionId,
      DestinationName destination,
      Subscribe subscribe,
      @Nullable String subscription,
      @Nullable String selector,
      boolean noLocal,
      boolean noAcknowledge)
      implements Frame {}

  /** The consumer is open. */
  record ConsumerAttached(int correlation, long destinationId) implements Frame {}

  /** Closes a consumer; what it has in flight and has not acknowledged returns. Answer: Ok. */
  record DetachConsumer(int correlation, int consumerId) implements Frame {}

  /** Deletes a durable subscription of this client id; answered by {@link Ok}. */
  record Unsubscribe(int correlation, String subscription) implements Frame {}

  /**
   * Creates a temporary destination of this connection; answered by {@link TemporaryCreated}.
   *
   * @param number which one of the link's, from 1 on: the same number gives the same name; 0 where
   *     {@link Protocol#TEMPORARY_BY_LINK} is not agreed
   */
  record CreateTemporary(int correlation, DestinationKind kind, long number) implements Frame {
    /** What a client sends that does not know the feature. */
    public CreateTemporary(int correlation, DestinationKind kind) {
      this(correlation, kind, 0);
    }
  }

  /** The temporary destination's generated name. */
  record TemporaryCreated(int correlation, DestinationName destination) implements Frame {}

  /** Deletes a temporary destination of this connection; answered by {@link Ok}. */
  record DeleteTemporary(int correlation, DestinationName destination) implements Frame {}

  // ---- publishing ----

  /**
   * A run: messages of one producer for one destination.
   *
   * @param number the link's number of a persistent run, from 1; 0 for a run of non-persistent ones
   * @param count messages in the run, 1 to 20,000
   * @param messages each an int length and that many bytes of encoded message
   */
  record Publish(int correlation, long destinationId, long number, int count, ByteBuf messages)
      implements Frame {}

  /**
   * Batched answers to {@link Publish} and {@link Commit}: the runs of correlation ids that were
   * done, and the single ones that were refused.
   */
  record Receipts(List<Done> done, List<Fault> refused) implements Frame {}

  /** Consecutive correlation ids that were done. */
  record Done(int from, int count) {}

  /** Publish credit: the client may have sent so many bytes of Publish frames since Attached. */
  record Credit(long totalBytes) implements Frame {}

  /**
   * Commits a transaction, atomically: its sends, its acknowledgements, and what was staged of it
   * before; answered through {@link Receipts}. Needs no credit.
   *
   * @param number the link's number, as for a run; 0 if it has neither a send nor an
   *     acknowledgement nor anything staged
   * @param staged what was staged of it before, which has to be there whole; null if nothing was,
   *     or {@link Protocol#TRANSACTIONS} is not agreed
   */
  record Commit(
      int correlation,
      int sessionId,
      long number,
      List<StagedRun> runs,
      List<Acked> acked,
      @Nullable Part staged)
      implements Frame {

    /** One of which nothing was staged. */
    public Commit(
        int correlation, int sessionId, long number, List<StagedRun> runs, List<Acked> acked) {
      this(correlation, sessionId, number, runs, acked, null);
    }
  }

  /**
   * What was staged of a transaction: by which name, and which one of that name. A client that
   * names the one that it was told cannot mistake one that was begun anew for its own.
   *
   * @param transaction the broker's id for it, from {@link Staged}
   */
  record Part(Branch branch, long transaction) {}

  /** A run of a transaction; messages as in {@link Publish}. */
  record StagedRun(long destinationId, boolean persistent, int count, ByteBuf messages) {}

  // ---- transactions that the broker keeps: feature TRANSACTIONS ----

  /**
   * Stages a part of a transaction, visible to nobody until it is committed; answered by {@link
   * Staged}, or by a {@link Fault}: then nothing of this part is staged, and what was staged before
   * stays, unless the fault says that the transaction is rolled back. One unanswered stage a
   * session. Needs no credit.
   *
   * @param transaction the broker's id for it, if the client was told one; 0 begins it, or joins
   *     the user's branch of that name that is not prepared
   */
  record Stage(
      int correlation,
      int sessionId,
      long transaction,
      List<StagedRun> runs,
      List<Acked> acked,
      Branch branch)
      implements Frame {}

  /** It is staged; the transaction's id, the same for all that is staged of it. */
  record Staged(int correlation, long transaction) implements Frame {}

  /**
   * Prepares a branch: what it carries, and what was staged of it before. From then on only {@link
   * Decide} ends it. Answered through {@link Receipts} and asked for again by its number, as a
   * commit is. Needs no credit.
   *
   * @param number the link's number, as for a run; never 0
   * @param transaction the broker's id of what was staged, which has to be there whole; 0 if
   *     nothing was
   */
  record Prepare(
      int correlation,
      int sessionId,
      long number,
      List<StagedRun> runs,
      List<Acked> acked,
      Xid xid,
      long transaction)
      implements Frame {}

  /**
   * Decides a prepared branch of this user, whichever link has prepared it; answered through {@link
   * Receipts}.
   *
   * @param number the link's number, as for a run; never 0
   */
  record Decide(int correlation, long number, Xid xid, BranchDecision decision) implements Frame {}

  /**
   * Drops what was staged under a name and is not prepared; answered by {@link Ok}.
   *
   * @param attempted whether that is a failed attempt of what was acknowledged in it
   */
  record Abandon(int correlation, Branch branch, boolean attempted) implements Frame {}

  /**
   * Asks for the branches of this user that are prepared, or decided by an administrator and not
   * forgotten; answered by {@link Recovered}.
   *
   * @param most at most so many, 1 to {@link Protocol#MAX_RECOVERED}
   * @param after the last one of the answer before, null for the first ones
   */
  record Recover(int correlation, int most, @Nullable Xid after) implements Frame {}

  /**
   * Branches in an order of the broker's own.
   *
   * @param more whether there are others behind the last one
   */
  record Recovered(int correlation, List<RecoveredBranch> branches, boolean more)
      implements Frame {}

  /** A branch that the broker remembers. */
  record RecoveredBranch(Xid xid, BranchState state) {}

  // ---- consuming ----

  /** Asks for messages for one or more consumers; each replaces an earlier pull of its consumer. */
  record Pull(List<PullOne> pulls) implements Frame {}

  /**
   * One consumer's pull. It is answered by one {@link Deliver} or one {@link PullDone}.
   *
   * @param pullId chosen by the client, comes back in the answer
   * @param messages at most so many
   * @param bytes at most so many bytes of entries, but at least one message
   * @param parkMillis how long the broker may wait for a first message; 0 asks for an answer now
   */
  record PullOne(int consumerId, int pullId, int messages, int bytes, int parkMillis) {}

  /** Pulls that ended without a message: the time is over, or retry later after a delay. */
  record PullDone(List<PullEnd> ends) implements Frame {}

  /** One ended pull; the code is OK (nothing there), RETRY_LATER, or why the consumer has ended. */
  record PullEnd(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {}

  /**
   * Messages for one consumer: whole entries, as they are stored, back to back.
   *
   * @param seen exceptions from "delivered for the first time", ordered by index
   * @param references entries whose sequence is not the one in their bytes, ordered by index
   */
  record Deliver(
      int consumerId,
      int pullId,
      int count,
      List<Seen> seen,
      List<Reference> references,
      ByteBuf entries)
      implements Frame {}

  /**
   * {@code count} entries from an index on were delivered before, {@code deliveries} times at most
   * 255.
   */
  record Seen(int index, int count, int deliveries) {}

  /** {@code count} entries from an index on have the sequence {@code base + number - from}. */
  record Reference(int index, int count, long holderId, long base, long from) {}

  /**
   * Acknowledges messages; answered by {@link Ok} or {@link Fault} if the correlation is above 0.
   */
  record Acknowledge(int correlation, List<Acked> acked) implements Frame {}

  /** The sequences that one consumer has processed. */
  record Acked(int consumerId, long destinationId, List<SequenceRange> ranges) {}

  /**
   * Gives messages back: after rollback, recover or close.
   *
   * @param attempted whether the application had begun to process them, which counts an attempt
   * @param cause what the application failed with, at most {@link Protocol#MAX_CAUSE_CHARS}
   *     characters; null if that is not known
   */
  record Return(int correlation, List<Acked> returned, boolean attempted, @Nullable String cause)
      implements Frame {}

  /**
   * Tells what a session has handed to its application, so that the broker knows what was begun if
   * the connection is lost. Without messages it says only that the session hands messages over
   * before it acknowledges them: then what it has begun is the oldest that it has not acknowledged.
   * No answer; sent when convenient, not awaited.
   *
   * @param alone whether what the session had begun before is done, acknowledged or not
   */
  record Begun(int sessionId, boolean alone, List<Acked> messages) implements Frame {}

  // ---- administration ----

  /** An admin verb, such as {@code destination.create}, with its arguments. */
  record Admin(int correlation, String verb, Map<String, String> arguments) implements Frame {}

  /** The verb's result as JSON. */
  record AdminResult(int correlation, String json) implements Frame {}
}
