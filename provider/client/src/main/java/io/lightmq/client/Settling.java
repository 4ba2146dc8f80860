package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import jakarta.jms.TransactionRolledBackException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What becomes of the messages that a session has handed over: the application's word on them. */
final class Settling {
  /** After these nobody knows whether a request was carried out; all others refuse it. */
  private static final Set<FaultCode> UNKNOWN =
      EnumSet.of(
          FaultCode.OUTCOME_UNKNOWN,
          FaultCode.CLOSING,
          FaultCode.BROKER_FAILED,
          FaultCode.HEARTBEAT_LOST);

  private final AckMode mode;
  private final BrokerLink link;
  private final int sessionId;
  private final Inbox inbox;
  private final SessionSender sender;
  private final AtomicLong transaction = new AtomicLong(1);
  private final Refusals refusals;
  private final RefusalPause pause = new RefusalPause();

  Settling(
      AckMode mode,
      BrokerLink link,
      int sessionId,
      Inbox inbox,
      SessionSender sender,
      Refusals refusals) {
    this.mode = mode;
    this.link = link;
    this.sessionId = sessionId;
    this.inbox = inbox;
    this.sender = sender;
    this.refusals = refusals;
  }

  /** Acknowledges one message, in mode INDIVIDUAL_ACKNOWLEDGE; one that is settled is no error. */
  void acknowledge(Arrived place) throws JMSException {
    HandedOver.Taken taken = inbox.take(place);
    if (taken.isLost()) {
      throw JmsFaults.of(
          FaultCode.NOT_IN_FLIGHT,
          "the connection was lost after the message was received; it comes again",
          null);
    }
    acknowledge(taken, "acknowledging a message");
  }

  /**
   * Acknowledges all that the session has handed over, in a mode in which messages do that. If some
   * of it was lost with a connection, all comes again, and what is given back for that is not
   * counted as an attempt: no application has failed.
   */
  void acknowledge() throws JMSException {
    if (!mode.isByMessage()) {
      return;
    }
    HandedOver.Taken taken = inbox.take();
    if (taken.isLost()) {
      refusals.forget();
      throw givenBack(
          taken,
          false,
          comeAgain(FaultCode.NOT_IN_FLIGHT, "messages were received and not acknowledged"));
    }
    int count = taken.open().size();
    acknowledge(
        taken, count == 1 ? "acknowledging a message" : "acknowledging " + count + " messages");
  }

  private void acknowledge(HandedOver.Taken taken, String what) throws JMSException {
    List<Arrived> delivered = taken.open();
    if (delivered.isEmpty()) {
      return;
    }
    boolean settled = true;
    try {
      Awaiting.answer(link.acknowledgeSurely(Arrived.places(delivered), taken.stale()), what);
      pause.succeeded();
    } catch (JMSException e) {
      settled =
          isCode(e, FaultCode.NOT_IN_FLIGHT)
              || !(isRefused(e.getCause(), true) || isRefused(e.getCause(), false));
      throw e;
    } finally {
      if (settled) {
        refusals.forget();
        inbox.settled(delivered);
      } else {
        inbox.untake(taken); // the next acknowledgement or recover settles them
      }
    }
  }

  /** Gives back what is not acknowledged; section 6.2.10 of the specification. */
  void recover() throws JMSException {
    if (mode == AckMode.TRANSACTED) {
      throw JmsFaults.illegalState("a transacted session cannot recover; use rollback");
    }
    if (mode == AckMode.NONE) {
      return; // everything is acknowledged
    }
    JMSException refusal = refusals.take();
    if (mode.isByMessage()) {
      giveBack(refusal);
    } else {
      inbox.listening().recoverCurrent(refusal != null);
    }
  }

  /**
   * Gives back what was handed over, because the application says so. That is a failed attempt,
   * unless the broker had no room for what this session has sent since the last word: then this
   * returns a little later, see {@link RefusalPause}.
   */
  private void giveBack(@Nullable JMSException refusal) throws JMSException {
    HandedOver.Taken taken = inbox.take();
    inbox.recover(taken, refusal == null);
    if (!taken.open().isEmpty()) {
      pause.failed(refusal);
    }
  }

  /** The number of the current transaction, from 1. */
  long transaction() {
    return transaction.get();
  }

  /**
   * Commits; the asynchronous sends are complete. A transaction that has received a message which
   * was lost with a connection is rolled back, for that message comes again. After a commit that is
   * refused, here or by the broker, what it had received comes again, as after a rollback; if there
   * was no room for it this returns a little later, see {@link RefusalPause}.
   */
  void commit() throws JMSException {
    transaction.incrementAndGet();
    refusals.forget(); // the transaction ends here, whatever comes of it
    List<BrokerLink.Staged> sends = sender.takeStaged();
    HandedOver.Taken taken = inbox.take();
    if (taken.isLost()) {
      throw givenBack(
          taken,
          false,
          comeAgain(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction had received messages"));
    }
    List<Arrived> delivered = taken.open();
    if (sends.isEmpty() && delivered.isEmpty()) {
      return;
    }
    List<Frame.Acked> places = Arrived.places(delivered);
    int items = sends.size() + places.stream().mapToInt(place -> 1 + place.ranges().size()).sum();
    if (items > Protocol.MAX_ITEMS) {
      throw givenBack(
          taken,
          true,
          JmsFaults.of(
              FaultCode.TRANSACTION_ROLLED_BACK,
              String.format(
                  "the transaction is rolled back: %d sends and %d received messages in separate"
                      + " places of their queues make %d items, a commit has at most %d; commit"
                      + " more often",
                  sends.size(), delivered.size(), items, Protocol.MAX_ITEMS),
              null));
    }
    try {
      Awaiting.answer(
          link.commit(sessionId, sends, places, taken.stale()),
          "committing " + sends.size() + " sends and " + delivered.size() + " acknowledgements");
      inbox.settled(delivered);
      pause.succeeded();
    } catch (JMSException e) {
      undo(e, taken);
      pause.failed(e.getCause());
      throw rolledBack(e);
    }
  }

  /**
   * Undoes a commit that has failed. What it had received goes back, if it has not gone out; if the
   * broker has refused it, it is back there. It counts as an attempt unless there was no room for
   * it, or no connection. Either way all that waits behind it goes back too, so that the order
   * holds. Of a commit whose outcome is unknown nothing is touched.
   */
  private void undo(JMSException failure, HandedOver.Taken taken) {
    if (isRefused(failure.getCause(), true)) {
      var unused = givenBack(taken, NoRoom.isOfTheApplication(failure.getCause()), failure);
      return;
    }
    inbox.settled(taken.open());
    if (!taken.open().isEmpty() && isRefused(failure.getCause(), false)) {
      var unused =
          givenBack(new HandedOver.Taken(List.of(), false, false, taken.stale()), true, failure);
    }
  }

  /** What was received goes back because of a failure, which is not hidden by another. */
  private JMSException givenBack(HandedOver.Taken taken, boolean counted, JMSException failure) {
    try {
      inbox.recover(taken, counted);
    } catch (JMSException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }

  /** Messages were lost with a connection; what came after it has gone back to them. */
  private static JMSException comeAgain(FaultCode code, String what) {
    return JmsFaults.of(code, "the connection was lost after " + what + "; they come again", null);
  }

  /**
   * Whether a request was certainly not carried out, on a link that goes on.
   *
   * @param here by this client, so that nothing has gone out; else by the broker
   */
  private static boolean isRefused(@Nullable Throwable cause, boolean here) {
    return cause instanceof LinkException refusal
        && refusal.isUnsent() == here
        && !UNKNOWN.contains(refusal.code());
  }

  private static boolean isCode(JMSException e, FaultCode code) {
    return ("LMQ-" + code.code()).equals(e.getErrorCode());
  }

  /**
   * A commit that was refused, for whatever reason, is undone as a whole (section 10.3 of the
   * specification); the reason with its code is the cause.
   */
  private static JMSException rolledBack(JMSException e) {
    boolean refused = isRefused(e.getCause(), true) || isRefused(e.getCause(), false);
    return refused && !(e instanceof TransactionRolledBackException)
        ? JmsFaults.of(FaultCode.TRANSACTION_ROLLED_BACK, String.valueOf(e.getMessage()), e)
        : e;
  }

  /** Rolls back; the asynchronous sends are complete. */
  void rollback() throws JMSException {
    transaction.incrementAndGet();
    sender.takeStaged();
    giveBack(refusals.take());
  }
}
