package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.transaction.Link;
import io.lightmq.spi.Journal;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Takes runs and transactions in the order of their numbers, each once, and holds what there is no
 * room for yet.
 */
@OwnedBy("shard")
final class Publishing {
  /**
   * A run waits so long for memory. Acknowledgements, which free it, may stand behind more runs of
   * the same connection, which are not read before this one has given its credit back.
   */
  static final long MAX_HELD_MILLIS = 10_000;

  /** Whether there is room for what is about to be recorded. */
  interface Admission {
    /**
     * Makes room in the turn's batch.
     *
     * @param publishes whether it takes room on the disk and not only frees some
     * @return false if it has to wait for a later turn
     */
    boolean admit(long bytes, boolean publishes);
  }

  private final BrokerSettings settings;
  private final ShardState state;
  private final Recorder recorder;
  private final Sessions sessions;
  private final Settlements settlements;
  private final Ready ready;
  private final Placing placing;
  private final Receipts receipts;
  private final Transactions transactions;
  private final Admission admission;
  private final Set<PeerSession> holding = new LinkedHashSet<>();

  Publishing(
      BrokerSettings settings,
      ShardState state,
      Recorder recorder,
      Sessions sessions,
      Settlements settlements,
      Ready ready,
      Placing placing,
      Receipts receipts,
      Transactions transactions,
      Admission admission) {
    this.admission = admission;
    this.settings = settings;
    this.state = state;
    this.recorder = recorder;
    this.sessions = sessions;
    this.settlements = settlements;
    this.ready = ready;
    this.placing = placing;
    this.receipts = receipts;
    this.transactions = transactions;
  }

  // ---- runs ----

  /** Takes a run, or holds it while memory for volatile messages is short. */
  void publish(Command.Publish command) {
    PeerSession session = sessions.find(command.peer());
    if (session == null || session.link() == null || session.fenced()) {
      command.messages().release();
      return;
    }
    if (!session.heldPublishes().isEmpty() || !take(session, command, false)) {
      session.heldPublishes().add(new PeerSession.Held(command, time.nanos()));
      holding.add(session);
    }
  }

  /** Tries again what was held. */
  void retryHeld() {
    for (PeerSession session : List.copyOf(holding)) {
      takeWaiting(session);
      PeerSession.Held next = session.heldPublishes().poll();
      while (next != null && take(session, next.publish(), isOverdue(next))) {
        next = session.heldPublishes().poll();
      }
      if (next != null) {
        session.heldPublishes().addFirst(next);
      }
      if (next == null && !waitsForRoom(session)) {
        holding.remove(session);
      }
    }
  }

  private boolean isOverdue(PeerSession.Held held) {
    return time.nanos() - held.sinceNanos() >= MAX_HELD_MILLIS * 1_000_000;
  }

  /** Whether there is room; what is too long for any batch is let through and refused then. */
  private boolean admitted(long bytes, boolean publishes) {
    return admission.admit(Math.min(bytes, settings.maxBatchBytes()), publishes);
  }

  /** Whether a commit is next and waits only for room. */
  private static boolean waitsForRoom(PeerSession session) {
    return session.waitingCommits().containsKey(linkOf(session).last() + 1);
  }

  /** Whether runs wait for memory. */
  boolean isHolding() {
    return !holding.isEmpty();
  }

  /**
   * Decides a run; false if it has to wait for memory.
   *
   * @param overdue whether it has waited so long that it is refused instead
   */
  private boolean take(PeerSession session, Command.Publish command, boolean overdue) {
    Link link = linkOf(session);
    long number = command.number();
    if (waitsForRoom(session)
        || (number > 0 && !admitted(RecordBytes.of(command, session.user().length), true))) {
      return false;
    }
    if (number > 0 && link.judge(number) == Link.Verdict.REPEAT) {
      receipts.answerRepeat(session, link, number, command.correlation());
      finish(session, command.messages());
      return true;
    }
    if (number < 0 || (number > 0 && link.judge(number) == Link.Verdict.EARLY)) {
      command.messages().release();
      sessions.expel(
          session,
          FaultCode.PROTOCOL_ERROR,
          "run " + number + " does not follow " + link.last() + ", the last that was taken");
      return true;
    }
    try {
      if (!decide(session, link, command, overdue)) {
        return false;
      }
    } catch (Refusal refusal) {
      receipts.refuse(session, link, number, command.correlation(), refusal);
    }
    finish(session, command.messages());
    takeWaiting(session);
    return true;
  }

  private boolean decide(PeerSession session, Link link, Command.Publish command, boolean overdue) {
    ByteBuffer messages = command.messages().buffer();
    long entryBytes = placing.check(session, command.count(), messages);
    Destination destination = state.destinations().find(command.destinationId());
    if (destination == null) {
      throw new Refusal(
          FaultCode.DESTINATION_GONE,
          goneText(command.destinationId()) + "; attach the producer again");
    }
    boolean persistent = command.number() > 0;
    Placement placement = destination.placement(persistent);
    if (placement == Placement.DURABLE) {
      placing.checkDisk();
      recorder.publish(
          link.id(),
          command.number(),
          destination,
          placing.stamp(session, destination, Destination.DURABLE_LANE, true),
          command.count(),
          messages);
      receipts.answer(destination.settings().tier().mark(), session.peer(), command.correlation());
    } else {
      if (placement == Placement.VOLATILE && !fits(command.count(), entryBytes)) {
        if (overdue) {
          throw memoryFull(entryBytes);
        }
        return false;
      }
      if (placement == Placement.VOLATILE) {
        placing.storeVolatile(session, destination, persistent, command.count(), messages);
        destination.swift().show();
        ready.add(destination);
      }
      if (persistent) {
        state.links().taken(link.id(), command.number());
      }
      receipts.answerBehind(awaited, session.peer(), command.correlation());
    }
    placing.count(destination, command.count(), entryBytes, placement == Placement.DURABLE);
    return true;
  }

  private static String goneText(long destinationId) {
    return destinationId == Command.NO_DESTINATION
        ? "no producer of this connection is attached to the destination"
        : "destination " + destinationId + " was deleted";
  }

  private void checkDisk() {
    if (diskFull) {
      throw new Refusal(
          FaultCode.DISK_FULL,
          "less than "
              + settings.minFreeBytes()
              + " bytes are free on the broker's disk; persistent messages are refused until"
              + " there is room");
    }
  }

  private Refusal memoryFull(long entryBytes) {
    return new Refusal(
        FaultCode.MEMORY_FULL,
        "a run of "
            + entryBytes
            + " bytes found no room for "
            + MAX_HELD_MILLIS
            + " ms: "
            + state.destinations().store().usedBytes()
            + " of "
            + settings.volatileBytes()
            + " bytes for non-persistent messages are used; consume some or send fewer");
  }

  private boolean fits(int count, long entryBytes) {
    if (entryBytes > settings.volatileBytes() / 2) {
      throw new Refusal(
          FaultCode.MEMORY_FULL,
          "a run of "
              + entryBytes
              + " bytes is more than half of the "
              + settings.volatileBytes()
              + " bytes for non-persistent messages");
    }
    return state.destinations().store().fits(count, entryBytes);
  }

  private void storeVolatile(
      PeerSession session,
      Destination destination,
      boolean persistent,
      int count,
      ByteBuffer messages) {
    long first = recorder.firstSequence(destination.swift(), count);
    EntryStamp stamp = stamp(session, destination, Destination.VOLATILE_LANE, persistent);
    runs.store(destination.swift(), first, stamp, count, messages);
  }

  private EntryStamp stamp(
      PeerSession session, Destination destination, int lane, boolean persistent) {
    return new EntryStamp(
        lane,
        persistent ? Entry.PERSISTENT : 0,
        destination.id(),
        time.millis(),
        session.peer().connectionId(),
        session.user());
  }

  // ---- answers ----

  private void answer(Mark mark, Peer peer, int correlation) {
    recorder.effect(mark, () -> peer.receipt(correlation, FaultCode.OK, ""));
  }

  private void answerNow(Peer peer, int correlation) {
    recorder.after(() -> peer.receipt(correlation, FaultCode.OK, ""));
  }

  private void answerRepeat(PeerSession session, Link link, long number, int correlation) {
    Outcome outcome = link.outcome(number);
    FaultCode code = outcome == null ? FaultCode.OK : outcome.code();
    String text = outcome == null ? "" : outcome.text();
    Peer peer = session.peer();
    // Taken is not yet durable; the repetition must not be told more than the first would be.
    recorder.whenDurable(() -> peer.receipt(correlation, code, text));
  }

  private void refuse(
      PeerSession session, Link link, long number, int correlation, Refusal refusal) {
    Peer peer = session.peer();
    if (refusal.code() == FaultCode.PROTOCOL_ERROR) {
      sessions.expel(session, refusal.code(), refusal.text());
    } else if (number == 0) {
      recorder.after(() -> peer.receipt(correlation, refusal.code(), refusal.text()));
    } else if (link.full()) {
      sessions.expel(
          session,
          FaultCode.LIMIT_REACHED,
          Link.MAX_OUTCOMES + " refusals are kept for this link; attach again to release them");
    } else {
      recorder.record(new Refused(link.id(), number, refusal.code(), refusal.text()));
      // Durable, so that a client that was told never has to repeat this number.
      recorder.effect(
          Mark.DURABLE, () -> peer.receipt(correlation, refusal.code(), refusal.text()));
    }
  }

  /** A run's bytes have left the budget: copied, refused or known. */
  private static void finish(PeerSession session, Command.Bytes messages) {
    int bytes = messages.buffer().remaining();
    messages.release();
    session.peer().credit(bytes);
  }

  private static Link linkOf(PeerSession session) {
    Link link = session.link();
    if (link == null) {
      throw new IllegalStateException(
          "connection " + session.peer().connectionId() + " has no link");
    }
    return link;
  }

  // ---- transactions ----

  /** Takes a commit, once all runs before it are taken. */
  void commit(Command.Commit command) {
    PeerSession session = sessions.find(command.peer());
    if (session == null || session.link() == null || session.fenced()) {
      release(command);
      return;
    }
    Link link = linkOf(session);
    if (command.number() == 0 && command.runs().isEmpty() && command.acked().isEmpty()) {
      receipts.answerNow(session.peer(), command.correlation());
      return;
    }
    if (command.number() <= 0) {
      release(command);
      sessions.expel(
          session,
          FaultCode.PROTOCOL_ERROR,
          "a commit with content has number " + command.number());
      return;
    }
    if (link.judge(command.number()) == Link.Verdict.REPEAT) {
      release(command);
      receipts.answerRepeat(session, link, command.number(), command.correlation());
      return;
    }
    if (session.waitingCommits().size() >= PeerSession.MAX_WAITING_COMMITS) {
      release(command);
      sessions.expel(
          session,
          FaultCode.LIMIT_REACHED,
          PeerSession.MAX_WAITING_COMMITS + " commits wait for runs that have not come");
      return;
    }
    Command.Commit other = session.waitingCommits().put(command.number(), command);
    if (other != null) {
      release(other);
    }
    takeWaiting(session);
  }

  private static void release(Command.Commit command) {
    command.runs().forEach(run -> run.messages().release());
  }

  private void takeWaiting(PeerSession session) {
    Link link = linkOf(session);
    Command.Commit next = session.waitingCommits().get(link.last() + 1);
    while (next != null) {
      long bytes = RecordBytes.of(next, session.user().length);
      if (!admitted(bytes, !next.runs().isEmpty())) {
        holding.add(session);
        return;
      }
      session.waitingCommits().remove(next.number());
      take(session, link, next);
      next = session.waitingCommits().get(link.last() + 1);
    }
  }

  private void take(PeerSession session, Link link, Command.Commit command) {
    try {
      transactions.decide(session, link, command);
    } catch (Refusal refusal) {
      for (Command.Acked acked : command.acked()) {
        Subscription subscription = settlements.giveBack(session, acked, true);
        if (subscription != null) {
          ready.add(subscription);
        }
      }
      receipts.refuse(session, link, command.number(), command.correlation(), refusal);
    }
    release(command);
  }

  private void decide(PeerSession session, Link link, Command.Commit command) {
    TransactionPlan plan = new TransactionPlan();
    for (Command.StagedRun run : command.runs()) {
      plan(session, run, plan);
    }
    checkSize(command);
    plan.durableBytes += RecordBytes.of(command.acked());
    checkBatch(plan);
    for (Command.Acked acked : command.acked()) {
      plan(session, acked, plan);
    }
    if (plan.volatileCount > 0 && !fits(plan.volatileCount, plan.volatileBytes)) {
      throw rolledBack(
          "its "
              + plan.volatileBytes
              + " bytes of non-persistent messages find no room beside "
              + state.destinations().store().usedBytes()
              + " of "
              + settings.volatileBytes());
    }
    apply(session, link, command, plan);
  }

  private void plan(PeerSession session, Command.StagedRun run, TransactionPlan plan) {
    long bytes = runs.check(run.count(), run.messages().buffer(), session.user().length);
    Destination destination = state.destinations().find(run.destinationId());
    if (destination == null) {
      throw rolledBack(goneText(run.destinationId()));
    }
    switch (destination.placement(run.persistent())) {
      case DURABLE -> {
        if (diskFull) {
          throw rolledBack(
              "less than " + settings.minFreeBytes() + " bytes are free on the broker's disk");
        }
        plan.durable.put(run, destination);
        plan.needs(destination);
        plan.counts.merge(destination, run.count(), Integer::sum);
        plan.durableBytes += bytes + Entry.HEADER_BYTES;
        plan.records++;
      }
      case VOLATILE -> {
        plan.swift.put(run, destination);
        plan.volatileCount += run.count();
        plan.volatileBytes += bytes;
      }
      case NOWHERE -> {}
    }
  }

  private void checkBatch(TransactionPlan plan) {
    if (plan.durableBytes > settings.maxBatchBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "its entries and acknowledgements take "
              + plan.durableBytes
              + " bytes, more than "
              + settings.maxBatchBytes()
              + ", the journal's longest batch");
    }
  }

  private void checkSize(Command.Commit command) {
    long bytes = 0;
    for (Command.StagedRun run : command.runs()) {
      bytes += run.messages().buffer().remaining() - 4L * run.count();
    }
    if (bytes > settings.maxTransactionBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "the transaction has "
              + bytes
              + " bytes of messages, the limit is "
              + settings.maxTransactionBytes());
    }
  }

  private void plan(PeerSession session, Command.Acked acked, TransactionPlan plan) {
    Settlements.Accepted accepted = settlements.look(session, acked);
    if (accepted == null) {
      throw rolledBack(
          "consumer "
              + acked.consumerId()
              + " or destination "
              + acked.destinationId()
              + " is gone");
    }
    if (accepted.refused() > 0) {
      throw rolledBack(
          accepted.refused()
              + " messages received by consumer "
              + acked.consumerId()
              + " are not in flight to it any more");
    }
    plan.acked.add(accepted);
    if (!accepted.recorded().isEmpty()) {
      plan.needs(accepted.subscription().destination());
      plan.records += accepted.records(Reason.ACKNOWLEDGED).size();
    }
  }

  private static Refusal rolledBack(String why) {
    return new Refusal(FaultCode.TRANSACTION_ROLLED_BACK, "the transaction is rolled back: " + why);
  }

  private void apply(PeerSession session, Link link, Command.Commit command, TransactionPlan plan) {
    Mark mark = plan.mark;
    if (mark != null) {
      record(session, link.id(), command.number(), plan, mark);
    } else {
      state.links().taken(link.id(), command.number());
    }
    plan.swift.forEach(
        (run, destination) ->
            storeVolatile(
                session, destination, run.persistent(), run.count(), run.messages().buffer()));
    for (Destination destination : new LinkedHashSet<>(plan.swift.values())) {
      if (mark != null) {
        recorder.show(destination.swift(), mark);
      } else {
        destination.swift().show();
        ready.add(destination);
      }
    }
    for (Settlements.Accepted accepted : plan.acked) {
      settlements.settle(accepted);
      counters.acknowledged(
          accepted.subscription().destination().id(),
          accepted.subscription().id(),
          accepted.count());
    }
    count(plan.durable);
    count(plan.swift);
    if (mark != null) {
      answer(mark, session.peer(), command.correlation());
    } else {
      answerNow(session.peer(), command.correlation());
    }
  }

  private void count(Map<Command.StagedRun, Destination> published) {
    published.forEach(
        (run, destination) -> count(destination, run.count(), run.messages().buffer().remaining()));
  }

  private void count(Destination destination, int messages, long bytes) {
    counters.published(destination.id(), messages, bytes, time.millis());
    long last = destination.durable().last();
    if (last >= 0) {
      counters.published(destination.id()).ages.sample(last, time.millis());
    }
  }

  private void record(
      PeerSession session, UUID link, long number, TransactionPlan plan, Mark mark) {
    // Another shard epoch, if one is needed, has to begin before the transaction's record does.
    plan.counts.forEach(
        (destination, count) -> recorder.firstSequence(destination.durable(), count));
    Recorder.Transaction transaction = recorder.begin(link, number, plan.records, mark);
    plan.durable.forEach(
        (run, destination) ->
            transaction.publish(
                destination,
                stamp(session, destination, Destination.DURABLE_LANE, true),
                run.count(),
                run.messages().buffer()));
    for (Settlements.Accepted accepted : plan.acked) {
      accepted.records(Reason.ACKNOWLEDGED).forEach(transaction::acknowledge);
    }
    transaction.commit();
  }
}
