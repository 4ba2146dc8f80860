package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkStatus;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a session does within one transaction. Sends and acknowledgements stay here until it is
 * committed, but no more than fit into one frame: then the broker keeps them, visible to nobody. An
 * old broker cannot, and the transaction has that limit.
 *
 * <p>Messages for temporary destinations are never in a record of the broker, so they stay here,
 * also if the rest is sent ahead. Its lock is held while the broker is waited for: who sends in the
 * same transaction comes behind.
 */
final class UnitOfWork {
  /** So many sends are kept here at most, however short they are. */
  private static final int MAX_SENDS = Protocol.MAX_RUN_MESSAGES;

  /** Acknowledged places that are sent ahead together; more go in several parts. */
  private static final int MAX_PLACES = Protocol.MAX_ITEMS / 2;

  /** The rest of it, which goes out with what ends it. */
  record Rest(List<BrokerLink.Staged> sends, HandedOver.Taken received) {
    boolean isEmpty() {
      return sends.isEmpty() && received.open().isEmpty() && !received.isLost();
    }
  }

  private final BrokerLink link;
  private final int sessionId;
  private final Inbox inbox;
  private final KeptPart kept;
  private List<BrokerLink.Staged> sends = new ArrayList<>();
  private long bytes;
  private boolean acknowledgedAhead;
  private boolean entered = true;
  private boolean closing;

  /** What was received before the session left it, or before it failed. */
  private HandedOver.Taken before = HandedOver.Taken.NOTHING;

  private @Nullable JMSException failure;

  UnitOfWork(BrokerLink link, int sessionId, Inbox inbox, KeptPart kept) {
    this.link = link;
    this.sessionId = sessionId;
    this.inbox = inbox;
    this.kept = kept;
  }

  /**
   * Adds a send.
   *
   * @throws JMSException if it is not part of the transaction: there is no room for it here or in
   *     the broker, or the transaction cannot be committed any more
   */
  synchronized void add(BrokerLink.Staged send) throws JMSException {
    requireGoing();
    int length = send.message().length;
    long limit = link.limits().maxTransactionBytes();
    boolean ahead = link.limits().keepsTransactions();
    if (bytes + length > limit || (ahead && sends.size() >= MAX_SENDS)) {
      if (!ahead) {
        throw tooLarge(length, limit, "");
      }
      stage(stageable());
      if (length > limit && isStageable(send)) {
        stage(List.of(send));
        return;
      }
      if (bytes + length > limit) {
        throw tooLarge(length, limit, " of messages for temporary destinations");
      }
    }
    sends.add(send);
    bytes += length;
  }

  private JMSException tooLarge(int length, long limit, String what) {
    return JmsFaults.of(
        FaultCode.TRANSACTION_TOO_LARGE,
        "the transaction has "
            + bytes
            + " bytes in "
            + sends.size()
            + " sends"
            + what
            + ", this message adds "
            + length
            + "; the limit is "
            + limit
            + "; commit more often",
        null);
  }

  private static boolean isStageable(BrokerLink.Staged send) {
    return !send.target().destination().kind().isTemporary();
  }

  private List<BrokerLink.Staged> stageable() {
    return sends.stream().filter(UnitOfWork::isStageable).toList();
  }

  private void requireGoing() throws JMSException {
    JMSException cause = failure;
    if (cause != null) {
      throw rolledBack(cause);
    }
  }

  private static JMSException rolledBack(JMSException cause) {
    return JmsFaults.of(
        FaultCode.TRANSACTION_ROLLED_BACK,
        "the transaction is rolled back: " + cause.getMessage(),
        cause);
  }

  /** The session works in it again. */
  synchronized void enter() {
    entered = true;
    inbox.unsettled().handedOver().enter();
  }

  /** The session works in it no more, for a while or for good. */
  synchronized void leave() {
    entered = false;
    before = HandedOver.Taken.of(before, inbox.unsettled().handedOver().leave());
  }

  /** Whether nothing was done in it that the broker does not keep already. */
  synchronized boolean isDone() {
    return sends.isEmpty() && before.open().isEmpty() && !before.isLost() && failure == null;
  }

  /** Has the broker keep all of it, so that another session can end it. */
  synchronized void stageAll() throws JMSException {
    requireGoing();
    stage(stageable());
    if (!sends.isEmpty()) {
      throw JmsFaults.of(
          FaultCode.TRANSACTION_TOO_LARGE,
          "the transaction has messages for temporary destinations, and they are of several"
              + " sessions or of one that is closed",
          null);
    }
  }

  /**
   * The session is closed: the broker keeps what it has done, and whoever ends the transaction does
   * that without it.
   *
   * @throws JMSException if the broker does not keep it: then the transaction can only be rolled
   *     back
   */
  synchronized void close() throws JMSException {
    closing = true;
    try {
      stageAll();
    } finally {
      leave();
    }
  }

  private HandedOver.Taken takeReceived() throws JMSException {
    HandedOver.Taken taken = before;
    before = HandedOver.Taken.NOTHING;
    if (!entered) {
      return taken;
    }
    HandedOver.Taken now = inbox.unsettled().take();
    return taken.open().isEmpty() && !taken.isLost() ? now : HandedOver.Taken.of(taken, now);
  }

  private void putBack(HandedOver.Taken taken) {
    if (entered) {
      inbox.unsettled().untake(taken);
    } else {
      before = taken;
    }
  }

  /** Has the broker keep these sends, and what was received so far. */
  private void stage(List<BrokerLink.Staged> batch) throws JMSException {
    HandedOver.Taken taken = takeReceived();
    if (taken.isLost()) {
      fails(Settling.comeAgain("the transaction had received messages"), taken);
    }
    List<List<Arrived>> pieces = pieces(taken.open());
    for (int i = 0; i < pieces.size(); i++) {
      boolean last = i == pieces.size() - 1;
      List<BrokerLink.Staged> with = last ? batch : List.of();
      List<Frame.Acked> places = Arrived.places(pieces.get(i));
      if (with.isEmpty() && places.isEmpty()) {
        return;
      }
      try {
        kept.stage(link, sessionId, with, places, taken.stale(), closing);
      } catch (JMSException e) {
        HandedOver.Taken left = taken.only(pieces.subList(i, pieces.size()));
        if (!Outcomes.isRefused(e.getCause())
            || JmsFaults.isOf(FaultCode.TRANSACTION_ROLLED_BACK, e)) {
          fails(e, left);
        }
        putBack(left);
        throw e;
      }
      acknowledgedAhead |= !places.isEmpty();
      inbox.unsettled().settled(pieces.get(i));
    }
    sends.removeIf(UnitOfWork::isStageable);
    bytes = sends.stream().mapToLong(send -> send.message().length).sum();
  }

  /** What was received, in pieces of at most {@value #MAX_PLACES} places; at least one piece. */
  private static List<List<Arrived>> pieces(List<Arrived> received) {
    if (items(Arrived.places(received)) <= MAX_PLACES) {
      return List.of(received);
    }
    int half = received.size() / 2;
    List<List<Arrived>> pieces = new ArrayList<>(pieces(received.subList(0, half)));
    pieces.addAll(pieces(received.subList(half, received.size())));
    return pieces;
  }

  /** How many items of a frame these places are. */
  static int items(List<Frame.Acked> places) {
    return places.stream().mapToInt(place -> 1 + place.ranges().size()).sum();
  }

  /** It cannot be committed any more: nothing of it is kept here but what has to go back. */
  private void fails(JMSException cause, HandedOver.Taken taken) throws JMSException {
    failure = cause;
    before = taken;
    sends = new ArrayList<>();
    bytes = 0;
    throw rolledBack(cause);
  }

  /** Why it cannot be committed any more; null if it can. */
  synchronized @Nullable JMSException failure() {
    return failure == null ? null : rolledBack(failure);
  }

  /** Whether the link that it was done on has ended, and with that what the broker kept of it. */
  boolean hasLostItsLink() {
    return link.status().phase() == LinkStatus.Phase.ENDED;
  }

  /** What the broker keeps of it; null if nothing. */
  Frame.@Nullable Part part() {
    return kept.part();
  }

  /** Whether the broker keeps acknowledgements of it. */
  synchronized boolean hasAcknowledgedAhead() {
    return acknowledgedAhead;
  }

  /** Takes the rest, for what ends it. */
  synchronized Rest takeRest() throws JMSException {
    Rest rest = new Rest(sends, takeReceived());
    sends = new ArrayList<>();
    bytes = 0;
    return rest;
  }

  /** As {@link #abandon}, when the session is closed and nobody waits. */
  void abandonLast(boolean attempted) {
    kept.abandonLast(link, attempted);
  }

  /**
   * The broker drops what it keeps of it.
   *
   * @param attempted whether an attempt of what was acknowledged in it has failed
   */
  void abandon(boolean attempted) throws JMSException {
    kept.abandon(link, attempted);
  }
}
