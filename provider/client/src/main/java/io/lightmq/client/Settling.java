package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import jakarta.jms.TransactionRolledBackException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What becomes of the messages that a session has handed over: the application's word on them. */
final class Settling {
  private final AckMode mode;
  private final BrokerLink link;
  private final int sessionId;
  private final Inbox inbox;
  private final CurrentUnit units;
  private final AtomicLong transaction = new AtomicLong(1);
  private final Refusals refusals;
  private final RefusalPause pause = new RefusalPause();

  Settling(
      AckMode mode,
      BrokerLink link,
      int sessionId,
      Inbox inbox,
      CurrentUnit units,
      Refusals refusals) {
    this.mode = mode;
    this.link = link;
    this.sessionId = sessionId;
    this.inbox = inbox;
    this.units = units;
    this.refusals = refusals;
  }

  /** Acknowledges one message, in mode INDIVIDUAL_ACKNOWLEDGE; one that is settled is no error. */
  void acknowledge(Arrived place) throws JMSException {
    HandedOver.Taken taken = inbox.unsettled().take(place);
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
    HandedOver.Taken taken = inbox.unsettled().take();
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
      settled = isCode(e, FaultCode.NOT_IN_FLIGHT) || !Outcomes.isRefused(e.getCause());
      throw e;
    } finally {
      if (settled) {
        refusals.forget();
        inbox.unsettled().settled(delivered);
      } else {
        inbox.unsettled().untake(taken); // the next acknowledgement or recover settles them
      }
    }
  }

  /** Gives back what is not acknowledged; section 6.2.10 of the specification. */
  void recover() throws JMSException {
    if (mode.isTransacted()) {
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
    HandedOver.Taken taken = inbox.unsettled().take();
    inbox.unsettled().recover(taken, refusal == null);
    if (!taken.open().isEmpty()) {
      pause.failed(refusal);
    }
  }

  /** The number of the current transaction, from 1. */
  long transaction() {
    return transaction.get();
  }

  /** Sends the last of a transaction, with what ends it. */
  interface Ending {
    CompletableFuture<Void> send(
        List<BrokerLink.Staged> sends,
        List<Frame.Acked> places,
        BooleanSupplier stale,
        Frame.@Nullable Part staged);
  }

  /** Commits; the asynchronous sends are complete. */
  void commit() throws JMSException {
    transaction.incrementAndGet();
    refusals.forget(); // the transaction ends here, whatever comes of it
    end(
        units.end(),
        (sends, places, stale, staged) ->
            link.commit(sessionId, sends, places, stale, staged, null));
  }

  /**
   * Ends a transaction well. One that has received a message which was lost with a connection is
   * rolled back, for that message comes again. After a refusal, here or by the broker, what it had
   * received comes again, as after a rollback; if there was no room for it this returns a little
   * later, see {@link RefusalPause}.
   */
  void end(UnitOfWork unit, Ending ending) throws JMSException {
    UnitOfWork.Rest rest = unit.takeRest();
    HandedOver.Taken taken = rest.received();
    JMSException failure = unit.failure();
    if (failure == null && taken.isLost()) {
      failure = comeAgain("the transaction had received messages");
    }
    if (failure != null) {
      throw givenBack(unit, taken, false, failure);
    }
    List<Arrived> delivered = taken.open();
    Frame.Part staged = unit.part();
    if (rest.isEmpty() && staged == null) {
      return;
    }
    List<Frame.Acked> places = Arrived.places(delivered);
    int items = rest.sends().size() + UnitOfWork.items(places);
    if (items > Protocol.MAX_ITEMS) {
      throw givenBack(
          unit,
          taken,
          true,
          JmsFaults.of(
              FaultCode.TRANSACTION_ROLLED_BACK,
              String.format(
                  "the transaction is rolled back: %d sends and %d received messages in separate"
                      + " places of their queues make %d items, a commit has at most %d; commit"
                      + " more often",
                  rest.sends().size(), delivered.size(), items, Protocol.MAX_ITEMS),
              null));
    }
    try {
      Awaiting.answer(
          ending.send(rest.sends(), places, taken.stale(), staged),
          "committing "
              + rest.sends().size()
              + " sends and "
              + delivered.size()
              + " acknowledgements");
      inbox.unsettled().settled(delivered);
      pause.succeeded();
    } catch (JMSException e) {
      undo(unit, e, taken);
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
  private void undo(UnitOfWork unit, JMSException failure, HandedOver.Taken taken) {
    if (Outcomes.isRefused(failure.getCause(), true)) {
      boolean counted = NoRoom.isOfTheApplication(failure.getCause());
      var unused = givenBack(unit, taken, counted, failure);
      return;
    }
    inbox.unsettled().settled(taken.open());
    if ((!taken.open().isEmpty() || unit.hasAcknowledgedAhead())
        && Outcomes.isRefused(failure.getCause(), false)) {
      HandedOver.Taken nothing = new HandedOver.Taken(List.of(), false, false, taken.stale());
      var unused = givenBack(nothing, true, failure);
    }
  }

  /** What was received, and what was sent ahead, goes back because of a failure. */
  private JMSException givenBack(
      UnitOfWork unit, HandedOver.Taken taken, boolean counted, JMSException failure) {
    try {
      unit.abandon(counted);
    } catch (JMSException e) {
      failure.addSuppressed(e);
    }
    return givenBack(taken, counted, failure);
  }

  /** What was received goes back because of a failure, which is not hidden by another. */
  private JMSException givenBack(HandedOver.Taken taken, boolean counted, JMSException failure) {
    try {
      inbox.unsettled().recover(taken, counted);
    } catch (JMSException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }

  /** Why a transaction is rolled back that a connection was lost of. */
  static JMSException comeAgain(String what) {
    return comeAgain(FaultCode.TRANSACTION_ROLLED_BACK, what);
  }

  /** Messages were lost with a connection; what came after it has gone back to them. */
  private static JMSException comeAgain(FaultCode code, String what) {
    return JmsFaults.of(
        code,
        "the connection was lost after " + what + "; they come again",
        LinkException.connectionLost());
  }

  private static boolean isCode(JMSException e, FaultCode code) {
    return ("LMQ-" + code.code()).equals(e.getErrorCode());
  }

  /**
   * A commit that was refused, for whatever reason, is undone as a whole (section 10.3 of the
   * specification); the reason with its code is the cause.
   */
  private static JMSException rolledBack(JMSException e) {
    return Outcomes.isRefused(e.getCause()) && !(e instanceof TransactionRolledBackException)
        ? JmsFaults.of(FaultCode.TRANSACTION_ROLLED_BACK, String.valueOf(e.getMessage()), e)
        : e;
  }

  /** Rolls back; the asynchronous sends are complete. */
  void rollback() throws JMSException {
    transaction.incrementAndGet();
    rollback(units.end(), refusals.take());
  }

  /** Gives back what was done in a branch. */
  void drop(UnitOfWork unit) throws JMSException {
    rollback(unit, refusals.take());
  }

  private void rollback(UnitOfWork unit, @Nullable JMSException refusal) throws JMSException {
    HandedOver.Taken taken = unit.takeRest().received();
    try {
      unit.abandon(refusal == null);
    } finally {
      inbox.unsettled().recover(taken, refusal == null);
    }
    if (!taken.open().isEmpty() || unit.hasAcknowledgedAhead()) {
      pause.failed(refusal);
    }
  }
}
