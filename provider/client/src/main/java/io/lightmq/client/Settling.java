package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** What becomes of the messages that a session has handed over: the application's word on them. */
final class Settling {
  private static final Set<FaultCode> REFUSED_COMMIT =
      Set.of(FaultCode.NOT_IN_FLIGHT, FaultCode.TRANSACTION_TOO_LARGE, FaultCode.MEMORY_FULL);

  private final AckMode mode;
  private final BrokerLink link;
  private final int sessionId;
  private final Inbox inbox;
  private final Outbound outbound;
  private final AtomicLong transaction = new AtomicLong(1);

  Settling(AckMode mode, BrokerLink link, int sessionId, Inbox inbox, Outbound outbound) {
    this.mode = mode;
    this.link = link;
    this.sessionId = sessionId;
    this.inbox = inbox;
    this.outbound = outbound;
  }

  /** Acknowledges one message, in mode INDIVIDUAL_ACKNOWLEDGE; one that is settled is no error. */
  void acknowledge(Arrived place) throws JMSException {
    if (inbox.takeLost(place)) {
      throw JmsFaults.of(
          FaultCode.NOT_IN_FLIGHT,
          "the connection was lost after the message was received; it comes again",
          null);
    }
    if (inbox.takeDelivered(place)) {
      try {
        Awaiting.answer(
            link.acknowledgeSurely(Arrived.places(List.of(place))), "acknowledging a message");
      } finally {
        inbox.settled(List.of(place));
      }
    }
  }

  /** Acknowledges all that the session has handed over, in a mode in which messages do that. */
  void acknowledge() throws JMSException {
    if (!mode.isByMessage()) {
      return;
    }
    if (inbox.takeLost()) {
      throw comeAgain(FaultCode.NOT_IN_FLIGHT, "messages were received and not acknowledged");
    }
    List<Arrived> delivered = inbox.takeDelivered();
    if (!delivered.isEmpty()) {
      try {
        Awaiting.answer(
            link.acknowledgeSurely(Arrived.places(delivered)),
            "acknowledging " + delivered.size() + " messages");
      } finally {
        inbox.settled(delivered);
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
    if (mode.isByMessage()) {
      inbox.takeLost();
      inbox.recover(inbox.takeDelivered());
    } else {
      inbox.recoverCurrent();
    }
  }

  /** The number of the current transaction, from 1. */
  long transaction() {
    return transaction.get();
  }

  /** Commits; the asynchronous sends are complete. */
  void commit() throws JMSException {
    transaction.incrementAndGet();
    List<BrokerLink.Staged> sends = outbound.takeStaged();
    if (inbox.takeLost()) {
      throw comeAgain(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction had received messages");
    }
    List<Arrived> delivered = inbox.takeDelivered();
    if (sends.isEmpty() && delivered.isEmpty()) {
      return;
    }
    List<Frame.Acked> places = Arrived.places(delivered);
    int items = sends.size() + places.stream().mapToInt(place -> 1 + place.ranges().size()).sum();
    if (items > Protocol.MAX_ITEMS) {
      inbox.recover(delivered);
      throw JmsFaults.of(
          FaultCode.TRANSACTION_ROLLED_BACK,
          String.format(
              "the transaction is rolled back: %d sends and %d received messages in separate places"
                  + " of their queues make %d items, a commit has at most %d; commit more often",
              sends.size(), delivered.size(), items, Protocol.MAX_ITEMS),
          null);
    }
    try {
      Awaiting.answer(
          link.commit(sessionId, sends, places),
          "committing " + sends.size() + " sends and " + delivered.size() + " acknowledgements");
    } catch (JMSException e) {
      throw rolledBack(e);
    } finally {
      inbox.settled(delivered);
    }
  }

  /** Messages were lost with a connection; what came after it goes back to them. */
  private JMSException comeAgain(FaultCode code, String what) throws JMSException {
    inbox.recover(inbox.takeDelivered());
    return JmsFaults.of(code, "the connection was lost after " + what + "; they come again", null);
  }

  /** A commit that the broker has refused is undone as a whole. */
  private static JMSException rolledBack(JMSException e) {
    for (FaultCode refusal : REFUSED_COMMIT) {
      if (("LMQ-" + refusal.code()).equals(e.getErrorCode())) {
        return JmsFaults.of(FaultCode.TRANSACTION_ROLLED_BACK, String.valueOf(e.getMessage()), e);
      }
    }
    return e;
  }

  /** Rolls back; the asynchronous sends are complete. */
  void rollback() throws JMSException {
    transaction.incrementAndGet();
    outbound.takeStaged();
    inbox.takeLost();
    inbox.recover(inbox.takeDelivered());
  }
}
