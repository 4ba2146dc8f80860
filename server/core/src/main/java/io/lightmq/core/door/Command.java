package io.lightmq.core.door;

import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a connection may ask a shard. Commands are immutable and already authorised; those of one
 * peer are executed in the order in which they were submitted, but for publishes, which may be
 * overtaken by the others.
 */
public sealed interface Command {

  /**
   * The destination id of a run whose sender may not publish where it says; refused like one that
   * is gone.
   */
  long NO_DESTINATION = 0;

  /** Who asks. */
  Peer peer();

  /** The number that its answer names; 0 if it wants none. */
  default int correlation() {
    return 0;
  }

  /** The sequences that it names. */
  default List<Acked> named() {
    return List.of();
  }

  /** The same command, which arrived at a time; only what sends messages remembers it. */
  default Command arrivedAt(long millis) {
    return this;
  }

  /** Whether no answer tells that it is carried out, so that its peer is told otherwise. */
  default boolean isUnanswered() {
    return this instanceof Pull
        || this instanceof Begun
        || ((this instanceof Acknowledge || this instanceof Return) && correlation() == 0);
  }

  /** It is done with, carried out or not: whoever has sent it counts it no more. */
  default void done() {
    if (isUnanswered()) {
      peer().carriedOut();
    }
  }

  /** Gives back what the command keeps: its messages, and what it names. To be called once. */
  default void release() {
    if (!named().isEmpty()) {
      peer().letGo(named());
    }
  }

  /**
   * What brings messages. Whoever takes it answers it, refusals too, with a receipt or, a {@link
   * Stage}, by {@link Peer#reply}, and releases it when its messages are copied; all other commands
   * are answered by {@link Peer#reply} and released when they are carried out.
   */
  sealed interface Sending extends Command {
    @Override
    Sending arrivedAt(long millis);
  }

  /**
   * Binds the peer to its link; answered by {@link Peer.Reply.Attached}.
   *
   * @param learnsSince whether the client learns since when the broker knows the link, so that it
   *     sends nothing twice to a broker that has forgotten it
   */
  record Attach(
      Peer peer,
      int correlation,
      UUID linkId,
      long linkEpoch,
      long answersFrom,
      @Nullable String clientId,
      boolean learnsSince)
      implements Command {
    /** The attach of a client that learns it. */
    public Attach(
        Peer peer,
        int correlation,
        UUID linkId,
        long linkEpoch,
        long answersFrom,
        @Nullable String clientId) {
      this(peer, correlation, linkId, linkEpoch, answersFrom, clientId, true);
    }
  }

  /** Sets the JMS client id. */
  record SetClientId(Peer peer, int correlation, String clientId) implements Command {}

  /** The connection has ended. After a clean close nothing of the link is kept. */
  record Detach(Peer peer, boolean clean) implements Command {}

  /** Closes all consumers of a session. */
  record CloseSession(Peer peer, int correlation, int sessionId) implements Command {}

  /** Resolves a destination to send to, creating it if missing and permitted. */
  record AttachProducer(Peer peer, int correlation, DestinationName destination, boolean mayCreate)
      implements Command {}

  /** How a consumer subscribes; see section 4.2 and 8.3 of the specification. */
  enum Subscribe {
    QUEUE,
    PLAIN,
    SHARED,
    DURABLE,
    SHARED_DURABLE,
    /** A look at a queue, which takes nothing; section 4.8. */
    BROWSE
  }

  /**
   * Opens a consumer.
   *
   * @param noAcknowledge whether what it gets is acknowledged before it is sent
   */
  record AttachConsumer(
      Peer peer,
      int correlation,
      int consumerId,
      int sessionId,
      DestinationName destination,
      Subscribe subscribe,
      @Nullable String subscription,
      @Nullable String selector,
      boolean noLocal,
      boolean noAcknowledge,
      boolean mayCreate)
      implements Command {}

  /** Closes a consumer; what it has in flight returns. */
  record DetachConsumer(Peer peer, int correlation, int consumerId) implements Command {}

  /** Deletes a durable subscription. */
  record Unsubscribe(Peer peer, int correlation, String subscription) implements Command {}

  /**
   * Creates a temporary destination, or gets back the one that this link has with its number.
   *
   * @param number counted by the link, from 1; 0 from clients that do not ask for it again
   */
  record CreateTemporary(Peer peer, int correlation, DestinationKind kind, long number)
      implements Command {
    /** One without a number. */
    public CreateTemporary(Peer peer, int correlation, DestinationKind kind) {
      this(peer, correlation, kind, 0);
    }
  }

  /** Deletes a temporary destination of this peer. */
  record DeleteTemporary(Peer peer, int correlation, DestinationName destination)
      implements Command {}

  /**
   * Messages of one producer for one destination.
   *
   * @param number the link's number, 0 for non-persistent messages
   * @param messages each an int length and so many bytes of encoded message
   * @param arrivedMillis when the broker was given it, from which delays and times to live count
   */
  record Publish(
      Peer peer,
      int correlation,
      long destinationId,
      long number,
      int count,
      Bytes messages,
      long arrivedMillis)
      implements Sending {
    /** Messages that have not arrived yet. */
    public Publish(
        Peer peer, int correlation, long destinationId, long number, int count, Bytes messages) {
      this(peer, correlation, destinationId, number, count, messages, 0);
    }

    @Override
    public Publish arrivedAt(long millis) {
      return new Publish(peer, correlation, destinationId, number, count, messages, millis);
    }

    @Override
    public void release() {
      messages.release();
    }
  }

  /**
   * Takes a numbered step of a transaction; mostly it commits one, whole.
   *
   * @param step which
   * @param arrivedMillis when the broker was given it, from which delays and times to live count;
   *     for the client they count from the send, which was before
   */
  record Commit(
      Peer peer,
      int correlation,
      int sessionId,
      long number,
      List<StagedRun> runs,
      List<Acked> acked,
      Step step,
      long arrivedMillis)
      implements Sending {
    @Override
    public List<Acked> named() {
      return acked;
    }

    /** Whether it commits what it carries, of a transaction of which nothing was staged. */
    public boolean isWhole() {
      return step instanceof Step.Commits commits && commits.staged() == null;
    }

    /** A step that has not arrived yet. */
    public Commit(
        Peer peer,
        int correlation,
        int sessionId,
        long number,
        List<StagedRun> runs,
        List<Acked> acked,
        Step step) {
      this(peer, correlation, sessionId, number, runs, acked, step, 0);
    }

    /** The commit of a transaction of which nothing was staged, that has not arrived yet. */
    public Commit(
        Peer peer,
        int correlation,
        int sessionId,
        long number,
        List<StagedRun> runs,
        List<Acked> acked) {
      this(peer, correlation, sessionId, number, runs, acked, Step.COMMIT_WHOLE);
    }

    @Override
    public Commit arrivedAt(long millis) {
      return new Commit(peer, correlation, sessionId, number, runs, acked, step, millis);
    }

    @Override
    public void release() {
      runs.forEach(run -> run.messages().release());
      Sending.super.release();
    }
  }

  /** What a numbered step does with its transaction, and with what it carries itself. */
  sealed interface Step {
    /** Commits what it carries, of a transaction of which nothing was staged. */
    Step COMMIT_WHOLE = new Commits(null);

    /**
     * Commits what it carries.
     *
     * @param staged what was staged of the transaction before; null if nothing was
     */
    record Commits(@Nullable Staged staged) implements Step {}

    /**
     * Prepares a branch: what it carries and what was staged of it.
     *
     * @param transaction the shard's id of what was staged; 0 if nothing was
     */
    record Prepares(Xid xid, long transaction) implements Step {}

    /** Decides a prepared branch of the peer's user; carries nothing. */
    record Decides(Xid xid, BranchDecision decision) implements Step {}
  }

  /**
   * What was staged of a transaction, which has to be there whole.
   *
   * @param branch by what name
   * @param transaction the shard's id for it, from {@link Peer.Reply.Staged}
   */
  record Staged(Branch branch, long transaction) {}

  /**
   * Stages a part of a transaction, visible to nobody until that is committed; answered by {@link
   * Peer.Reply.Staged}. After {@link Peer.Reply.Failed} nothing of this part is staged, and what
   * was staged before stays, unless the code is TRANSACTION_ROLLED_BACK.
   *
   * @param transaction the shard's id for it, if the peer was told one; 0 begins it, or joins the
   *     branch of the user that has this name and is not prepared
   */
  record Stage(
      Peer peer,
      int correlation,
      int sessionId,
      long transaction,
      List<StagedRun> runs,
      List<Acked> acked,
      Branch branch,
      long arrivedMillis)
      implements Sending {
    /** A part that has not arrived yet. */
    public Stage(
        Peer peer,
        int correlation,
        int sessionId,
        long transaction,
        List<StagedRun> runs,
        List<Acked> acked,
        Branch branch) {
      this(peer, correlation, sessionId, transaction, runs, acked, branch, 0);
    }

    @Override
    public List<Acked> named() {
      return acked;
    }

    @Override
    public Stage arrivedAt(long millis) {
      return new Stage(peer, correlation, sessionId, transaction, runs, acked, branch, millis);
    }

    @Override
    public void release() {
      runs.forEach(run -> run.messages().release());
      Sending.super.release();
    }
  }

  /** Drops what was staged under a name and is not prepared; answered by {@link Peer.Reply.Ok}. */
  record Abandon(Peer peer, int correlation, Branch branch, boolean attempted) implements Command {}

  /**
   * Asks for the branches of the peer's user that are prepared, or decided by an administrator and
   * not forgotten; answered by {@link Peer.Reply.Recovered}.
   *
   * @param most at most so many
   * @param after the last one of the answer before, null for the first ones
   */
  record Recover(Peer peer, int correlation, int most, @Nullable Xid after) implements Command {}

  /** A run within a part of a transaction. */
  record StagedRun(long destinationId, boolean persistent, int count, Bytes messages) {}

  /** Asks for messages for one consumer. */
  record Pull(Peer peer, int consumerId, int pullId, int messages, int bytes, int parkMillis)
      implements Command {}

  /** The peer's outbound buffer takes deliveries again. */
  record Writable(Peer peer) implements Command {}

  /** Acknowledges messages; a correlation of 0 wants no answer. */
  record Acknowledge(Peer peer, int correlation, List<Acked> acked) implements Command {
    @Override
    public List<Acked> named() {
      return acked;
    }
  }

  /**
   * Gives messages back undone.
   *
   * @param cause what the application failed with, if that is known
   */
  record Return(
      Peer peer, int correlation, List<Acked> returned, boolean attempted, @Nullable String cause)
      implements Command {
    @Override
    public List<Acked> named() {
      return returned;
    }

    /** A return whose cause is not known. */
    public Return(Peer peer, int correlation, List<Acked> returned, boolean attempted) {
      this(peer, correlation, returned, attempted, null);
    }
  }

  /**
   * Tells what a session has handed to its application; see {@code Frame.Begun}.
   *
   * @param alone whether what the session had begun before is done
   */
  record Begun(Peer peer, int sessionId, boolean alone, List<Acked> messages) implements Command {
    @Override
    public List<Acked> named() {
      return messages;
    }
  }

  /** Sequences of one consumer. */
  record Acked(int consumerId, long destinationId, List<SequenceRange> ranges) {
    /** How many consumers and ranges these name. */
    public static long places(List<Acked> acked) {
      long places = acked.size();
      for (Acked each : acked) {
        places += each.ranges().size();
      }
      return places;
    }
  }

  /** An admin verb; answered by {@link Peer.Reply.Json} or {@link Peer.Reply.Failed}. */
  record Admin(Peer peer, int correlation, String verb, Map<String, String> arguments)
      implements Command {}

  /** Ends the connection of a silent peer and returns what it held. */
  record Expel(Peer peer, FaultCode code, String text) implements Command {}

  /** Bytes of the network layer whose ownership has moved to the shard. */
  interface Bytes {
    /** The bytes, from position to limit. */
    ByteBuffer buffer();

    /** To be called once, on any thread, when they are not needed any more. */
    void release();
  }
}
