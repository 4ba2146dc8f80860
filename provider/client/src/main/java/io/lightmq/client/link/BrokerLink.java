package io.lightmq.client.link;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Xid;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All that the JMS objects know of the network. Requests answer through stages that end with a
 * {@link LinkException} at the latest when the request timeout is over; sessions, consumers,
 * targets and unconfirmed persistent sends survive the loss of a connection. Any thread.
 */
public interface BrokerLink {

  /** Connects, authenticates and attaches; blocks for at most the connect timeout per address. */
  static BrokerLink open(LinkSettings settings, LinkListener listener) throws LinkException {
    return NettyLink.open(settings, listener);
  }

  /** The limits that the broker told. */
  Limits limits();

  /** Whose branches of distributed transactions those of this link are. */
  Owner owner();

  /** The identity of the link, the same through all its connections. */
  UUID id();

  /** How it is now. */
  LinkStatus status();

  /** Sets the client id of a link that has none. */
  CompletableFuture<Void> setClientId(String clientId);

  /** Opens a session; its id. */
  CompletableFuture<Integer> openSession();

  /** Closes a session with its consumers and targets. */
  CompletableFuture<Void> closeSession(int sessionId);

  /** Resolves a destination to send to. */
  CompletableFuture<Target> openTarget(int sessionId, DestinationName destination);

  /** Gives up a target. */
  void closeTarget(Target target);

  /**
   * Opens a consumer, whose id is from {@link #nextConsumerId}; deliveries come once it pulls.
   *
   * @return the destination id
   */
  CompletableFuture<Long> openConsumer(ConsumerSpec spec);

  /** A fresh consumer id. */
  int nextConsumerId();

  /** Closes a consumer. */
  CompletableFuture<Void> closeConsumer(int consumerId);

  /** Deletes a durable subscription. */
  CompletableFuture<Void> unsubscribe(String subscription);

  /** Creates a temporary destination, which the link asks for again after a lost connection. */
  CompletableFuture<Temporary> createTemporary(DestinationKind kind);

  /** Deletes a temporary destination. */
  CompletableFuture<Void> deleteTemporary(Temporary temporary);

  /**
   * Sends a message. Waits for publish credit; the stage ends with the broker's receipt.
   *
   * @param message the encoded message, not touched any more
   * @throws LinkException if there is no credit within the send timeout, or the link is closed
   */
  Sending publish(Target target, boolean persistent, byte[] message) throws LinkException;

  /**
   * Commits sends and acknowledgements as one, or prepares them.
   *
   * @param stale whether a connection was lost since the places were taken, so that they are not
   *     these messages' any more; asked on the link's thread, in step with {@link
   *     LinkListener#lost}. Then nothing goes out, and the transaction is rolled back.
   * @param staged what was staged of the transaction before; null if nothing was
   * @param prepared the branch, if it is only to be prepared; null to commit
   */
  CompletableFuture<Void> commit(
      int sessionId,
      List<Staged> sends,
      List<Frame.Acked> acked,
      BooleanSupplier stale,
      Frame.@Nullable Part staged,
      @Nullable Xid prepared);

  /** Decides a prepared branch, whoever has prepared it. */
  CompletableFuture<Void> decide(Xid xid, BranchDecision decision);

  /**
   * Has the broker keep a part of a transaction until it is committed. If the connection is lost
   * before the answer comes, the transaction is rolled back.
   *
   * @param stale as for {@link #commit}
   * @param part of which transaction; without an id the broker begins it
   * @return the broker's id for it
   */
  CompletableFuture<Long> stage(
      int sessionId,
      List<Staged> sends,
      List<Frame.Acked> acked,
      BooleanSupplier stale,
      Frame.Part part);

  /** A fresh number of a local transaction that is staged. */
  long nextTransaction();

  /**
   * Drops what the broker keeps under a name; the loss of the connection has done that.
   *
   * @param attempted whether an attempt of what was acknowledged in it has failed
   */
  CompletableFuture<Void> abandon(Branch branch, boolean attempted);

  /** The branches that the broker remembers for the user of this link, behind one of them. */
  CompletableFuture<Frame.Recovered> recover(@Nullable Xid after);

  /**
   * Asks for messages; dropped while the connection is lost (see {@link LinkListener#restored}).
   */
  void pull(Frame.PullOne pull);

  /** Acknowledges without waiting for an answer; lost with the connection. */
  void acknowledge(List<Frame.Acked> acked);

  /**
   * Acknowledges; ends when the broker has taken it.
   *
   * @param stale as for {@link #commit}: then it fails, for the messages come again
   */
  CompletableFuture<Void> acknowledgeSurely(List<Frame.Acked> acked, BooleanSupplier stale);

  /**
   * Gives messages back; ends at once if the connection is lost, since that gives them back.
   *
   * @param cause what the application failed with, if that is known
   * @param stale as for {@link #commit}: then there is nothing to do
   */
  CompletableFuture<Void> giveBack(
      List<Frame.Acked> returned, boolean attempted, @Nullable String cause, BooleanSupplier stale);

  /**
   * Tells what a session has handed to its application, when the link comes to it; dropped while
   * the connection is lost.
   *
   * @param alone whether what it had begun before is done
   * @param messages asked on the link's thread, so that what comes in between goes along
   */
  void begun(int sessionId, boolean alone, Supplier<List<Frame.Acked>> messages);

  /** Runs a short task on the link's thread after a delay. */
  void later(long delayMillis, Runnable task);

  /** Ends the link with its thread's share. Open requests fail. Blocks briefly. */
  void close();

  /**
   * The broker's limits.
   *
   * @param maxMessageBytes of an encoded message
   * @param maxTransactionBytes of the sends of a transaction in one frame
   * @param keepsTransactions whether the broker keeps the rest of a longer one, and branches
   */
  record Limits(int maxMessageBytes, int maxTransactionBytes, boolean keepsTransactions) {}

  /**
   * Who the broker takes this client for, and which broker it is.
   *
   * @param storeId the same as long as the broker has its data
   */
  record Owner(UUID storeId, String user) {}

  /** A consumer to open, and to open again after a lost connection. */
  record ConsumerSpec(
      int consumerId,
      int sessionId,
      DestinationName destination,
      Frame.Subscribe subscribe,
      @Nullable String subscription,
      @Nullable String selector,
      boolean noLocal,
      boolean noAcknowledge) {}

  /** A send of a transaction. */
  record Staged(Target target, boolean persistent, byte[] message) {}

  /** A resolved destination. Its id may change when the broker comes back without it. */
  final class Target {
    private final int producerId;
    private final int sessionId;
    private final DestinationName destination;
    private volatile long destinationId;
    private volatile @Nullable LinkException refusal;

    Target(int producerId, int sessionId, DestinationName destination) {
      this.producerId = producerId;
      this.sessionId = sessionId;
      this.destination = destination;
    }

    int producerId() {
      return producerId;
    }

    int sessionId() {
      return sessionId;
    }

    /** The destination. */
    public DestinationName destination() {
      return destination;
    }

    long destinationId() {
      return destinationId;
    }

    void resolved(long id) {
      destinationId = id;
      refusal = null;
    }

    /** Why nothing is sent to it any more; null if it is open. */
    @Nullable LinkException refusal() {
      return refusal;
    }

    void refused(LinkException cause) {
      refusal = cause;
    }
  }

  /** A temporary destination of this link. */
  final class Temporary {
    private final DestinationName firstName;
    private final long number;
    private volatile DestinationName name;

    Temporary(DestinationName name, long number) {
      this.firstName = name;
      this.number = number;
      this.name = name;
    }

    /** The link's number for it. */
    long number() {
      return number;
    }

    /** The name it has now; brokers before numbers give another one to each connection. */
    public DestinationName name() {
      return name;
    }

    void renamed(DestinationName newName) {
      name = newName;
    }

    /** Whether it was made under that name or has it now. */
    boolean hadName(DestinationName other) {
      return other.equals(firstName) || other.equals(name);
    }
  }

  /** A send on its way: ends with the receipt. */
  final class Sending extends CompletableFuture<Void> {
    final Target target;
    final boolean persistent;
    final byte[] message;
    private final AtomicBoolean decided = new AtomicBoolean();

    Sending(Target target, boolean persistent, byte[] message) {
      this.target = target;
      this.persistent = persistent;
      this.message = message;
    }

    /** Whether it may go out; after that it cannot be withdrawn. */
    boolean leave() {
      return decided.compareAndSet(false, true);
    }

    /** Gives the send up, if it has not gone out: true means that it never will. */
    public boolean withdraw() {
      boolean withdrawn = decided.compareAndSet(false, true);
      if (withdrawn) {
        cancel(false);
      }
      return withdrawn;
    }
  }
}
