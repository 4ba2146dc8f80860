package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.Sending;
import io.lightmq.client.link.BrokerLink.Target;
import io.lightmq.client.link.Item.Commit;
import io.lightmq.client.link.Item.Run;
import io.lightmq.client.link.Item.Settlement;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything numbered: gathers sends into runs, keeps what is unconfirmed, and sends it again on
 * the next connection, first and in order. Belongs to the link's loop.
 *
 * <p>Gathered sends leave when {@code batchBytes} are together, when nothing is on its way, or
 * {@code lingerMillis} after the oldest arrived. A run leaves while less has been sent than the
 * broker's credit; the last one may go beyond it.
 *
 * <p>Tiers are mixed on one link, so the answer to a number may come before that to a lower one,
 * and a power cut may then take both from the broker. Numbers have to be consecutive, so what has a
 * number is kept, answered or not, until all lower numbers are answered. {@link Outbox} bounds the
 * bytes of runs, kept ones included. Unanswered commits are at most one per session; answered ones
 * that are kept have at most {@code maxUnconfirmedBytes} together, and at that limit a session
 * hears of its commit only when all lower numbers are answered.
 */
final class Publishing {
  private static final int MAX_RUN_BYTES = 256 * 1024;

  private final LinkSettings settings;
  private final EventLoop loop;
  private final ByteBufAllocator allocator;
  private final Consumer<Frame> writer;
  private final Outbox outbox;
  private final ArrayDeque<Sending> gathered = new ArrayDeque<>();
  private long gatheredBytes;

  /** What waits for its answer, by correlation, in the order of sending. */
  private final LinkedHashMap<Integer, Item> unconfirmed = new LinkedHashMap<>();

  /** What has a number, from the lowest unanswered one on. */
  private final ArrayDeque<Item> numbered = new ArrayDeque<>();

  private long keptCommitBytes;
  private long givenUpCommitBytes;
  private final ArrayDeque<Item> toResend = new ArrayDeque<>();
  private @Nullable Future<?> linger;
  private @Nullable Runnable onResent;
  private long resentBelow;

  /** The number that the broker takes next, as the last attach told. */
  private long resumeFrom = 1;

  private boolean open;
  private boolean keepsTransactions;

  /** That of the newest attach. */
  private long linkEpoch;

  private long nextNumber = 1;
  private int lastCorrelation = Requests.FIRST_RUN_CORRELATION;
  private long sentBytes;
  private long creditBytes;

  Publishing(
      LinkSettings settings, EventLoop loop, ByteBufAllocator allocator, Consumer<Frame> writer) {
    this.settings = settings;
    this.loop = loop;
    this.allocator = allocator;
    this.writer = writer;
    this.outbox = new Outbox(settings, loop, this::drain);
  }

  /** The door for the applications' threads. */
  Outbox outbox() {
    return outbox;
  }

  /** Whether there is a connection on which what was unconfirmed has been sent again. */
  boolean isOpen() {
    return open;
  }

  // ---- gathering ----

  private void drain() {
    OnLoop.check(loop);
    ArrayDeque<Sending> arrived = outbox.take();
    for (Sending sending : arrived) {
      gathered.add(sending);
      gatheredBytes += sending.message.length;
    }
    flushWhenDue();
  }

  private void flushWhenDue() {
    if (!open || gathered.isEmpty()) {
      return;
    }
    if (gatheredBytes >= settings.batching().batchBytes()
        || unconfirmed.isEmpty()
        || settings.batching().lingerMillis() == 0) {
      flush();
    } else if (linger == null) {
      linger =
          loop.schedule(this::lingered, settings.batching().lingerMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void lingered() {
    linger = null;
    flush();
  }

  private void flush() {
    if (linger != null) {
      linger.cancel(false);
      linger = null;
    }
    while (open && !toResend.isEmpty() && mayWrite(toResend.peek())) {
      write(toResend.remove());
    }
    while (open && !gathered.isEmpty() && toResend.isEmpty() && sentBytes < creditBytes) {
      Run run = nextRun();
      if (run != null) {
        run.number = run.persistent ? nextNumber++ : 0;
        run.correlation = nextCorrelation();
        unconfirmed.put(run.correlation, run);
        if (run.number > 0) {
          numbered.add(run);
        }
        write(run);
      }
    }
    outbox.starved(open && !(gathered.isEmpty() && toResend.isEmpty()));
  }

  private boolean mayWrite(Item item) {
    return item instanceof Settlement || sentBytes < creditBytes;
  }

  private void write(Item item) {
    Frame frame = item.frame(allocator);
    if (item.sentEpoch == 0) {
      item.sentEpoch = linkEpoch;
    }
    if (frame instanceof Frame.Publish publish) {
      sentBytes += publish.messages().readableBytes();
    }
    writer.accept(frame);
  }

  /** The gathered messages that go to one destination in a row; null if all were withdrawn. */
  private @Nullable Run nextRun() {
    Run run = null;
    while (!gathered.isEmpty()) {
      Sending next = gathered.peek();
      LinkException refusal = next.target.refusal();
      if (refusal != null) {
        next.completeExceptionally(refusal.here());
      }
      if (next.isDone()) {
        drop(next);
        continue;
      }
      if (run == null) {
        run = new Run(next.target, next.persistent);
      } else if (run.destinationId != next.target.destinationId()
          || run.persistent != next.persistent
          || run.bytes + next.message.length > MAX_RUN_BYTES
          || run.sendings.size() >= Item.MAX_RUN_MESSAGES) {
        break;
      }
      if (!next.leave()) {
        drop(next);
        continue;
      }
      gathered.remove();
      gatheredBytes -= next.message.length;
      run.sendings.add(next);
      run.bytes += next.message.length;
    }
    return run == null || run.sendings.isEmpty() ? null : run;
  }

  private void drop(Sending withdrawn) {
    gathered.remove();
    gatheredBytes -= withdrawn.message.length;
    outbox.settled(withdrawn.message.length);
  }

  private int nextCorrelation() {
    do {
      lastCorrelation =
          lastCorrelation == Integer.MAX_VALUE
              ? Requests.FIRST_RUN_CORRELATION
              : lastCorrelation + 1;
    } while (unconfirmed.containsKey(lastCorrelation));
    return lastCorrelation;
  }

  /**
   * Settles a transaction at once; without a connection, first thing on the next. Without an answer
   * in the request timeout it fails: a commit that has gone out has an unknown outcome then, and
   * counts with its bytes against {@code maxUnconfirmedBytes} until it is answered.
   */
  CompletableFuture<Void> settle(Settlement commit) {
    OnLoop.check(loop);
    LinkException refusal = refusal(commit);
    if (refusal != null) {
      commit.done(refusal);
      return commit.answer;
    }
    commit.deadline =
        loop.schedule(
            () -> giveUp(commit), settings.timeouts().requestMillis(), TimeUnit.MILLISECONDS);
    commit.number = nextNumber++;
    commit.correlation = nextCorrelation();
    unconfirmed.put(commit.correlation, commit);
    numbered.add(commit);
    if (open && toResend.isEmpty()) {
      write(commit);
    } else if (open) {
      toResend.add(commit);
    }
    return commit.answer;
  }

  private @Nullable LinkException refusal(Settlement commit) {
    for (Target target : commit.targets()) {
      LinkException refusal = target.refusal();
      if (refusal != null) {
        return LinkException.unsent(
            FaultCode.TRANSACTION_ROLLED_BACK,
            "the transaction is rolled back: " + refusal.getMessage(),
            refusal);
      }
    }
    return givenUpCommitBytes > 0
            && givenUpCommitBytes + commit.keptBytes() > settings.batching().maxUnconfirmedBytes()
        ? LinkException.unsent(
            FaultCode.TRANSACTION_ROLLED_BACK,
            "the transaction is rolled back: "
                + givenUpCommitBytes
                + " bytes of commits have no answer, the limit is "
                + settings.batching().maxUnconfirmedBytes()
                + " (option maxUnconfirmedBytes)",
            null)
        : null;
  }

  private void giveUp(Settlement commit) {
    String late =
        "no answer within "
            + settings.timeouts().requestMillis()
            + " ms (option requestTimeoutMillis); the transaction ";
    if (!open && !commit.wasSent()) {
      numbered.remove(commit); // the next connection numbers anew what comes behind it
      unconfirmed.remove(commit.correlation, commit);
      commit.done(commit.unsent(late));
      return;
    }
    if (!commit.answered && !commit.givenUp) {
      commit.givenUp = true;
      givenUpCommitBytes += commit.keptBytes();
    }
    commit.done(new LinkException(FaultCode.OUTCOME_UNKNOWN, late + "may be committed or not"));
  }

  /** Runs a task once no send to the target is gathered or unconfirmed any more. */
  void whenUnused(Target target, Runnable task) {
    OnLoop.check(loop);
    List<CompletableFuture<?>> open = new ArrayList<>();
    drain();
    gathered.stream().filter(sending -> sending.target == target).forEach(open::add);
    for (Item item : unconfirmed.values()) {
      if (item instanceof Run run && run.target == target) {
        open.addAll(run.sendings);
      }
    }
    if (open.isEmpty()) {
      task.run();
    } else {
      var unused =
          CompletableFuture.allOf(open.toArray(new CompletableFuture<?>[0]))
              .whenComplete((done, failure) -> loop.execute(task));
    }
  }

  // ---- answers ----

  void credit(long totalBytes) {
    OnLoop.check(loop);
    creditBytes = Math.max(creditBytes, totalBytes);
    if (!gathered.isEmpty() || !toResend.isEmpty()) {
      flush();
    }
  }

  /** Takes receipts. */
  void receipts(Frame.Receipts receipts) {
    OnLoop.check(loop);
    for (Frame.Done done : receipts.done()) {
      long end = (long) done.from() + done.count();
      if (done.count() > unconfirmed.size()) {
        // Older than a request timeout or made up; look at ours instead of counting to its end.
        List<Integer> known = new ArrayList<>(unconfirmed.keySet());
        known.stream().filter(c -> c >= done.from() && c < end).forEach(c -> settle(c, null));
        continue;
      }
      for (long correlation = done.from(); correlation < end; correlation++) {
        settle((int) correlation, null);
      }
    }
    for (Frame.Fault fault : receipts.refused()) {
      settle(fault.correlation(), new LinkException(fault.code(), fault.text()));
    }
    drain(); // what has arrived by now leaves together
  }

  /** A refusal that came alone; false if nothing waits for it. */
  boolean refused(Frame.Fault fault) {
    OnLoop.check(loop);
    boolean known = settle(fault.correlation(), new LinkException(fault.code(), fault.text()));
    flushWhenDue();
    return known;
  }

  private boolean settle(int correlation, @Nullable LinkException refusal) {
    Item item = unconfirmed.remove(correlation);
    if (item == null) {
      return false;
    }
    LinkException failure = item.withNames(refusal);
    item.answered = true;
    item.failure = failure;
    if (item.number == 0) {
      outbox.settled(item.bytes());
      item.done(failure);
      return true;
    }
    if (numbered.peek() != item && mayTellEarly(item)) {
      item.done(failure);
    }
    forgetAnswered();
    return true;
  }

  private boolean mayTellEarly(Item item) {
    if (item instanceof Settlement commit && !commit.kept) {
      if (keptCommitBytes + commit.keptBytes() > settings.batching().maxUnconfirmedBytes()) {
        return false;
      }
      commit.kept = true;
      keptCommitBytes += commit.keptBytes();
    }
    return true;
  }

  /** Lets go of what can never be asked for again: no number below it is unanswered. */
  private void forgetAnswered() {
    Item first = numbered.peek();
    while (first != null && first.answered) {
      numbered.remove();
      forget(first);
      first.done(first.failure);
      first = numbered.peek();
    }
    tellIfResent();
  }

  private void forget(Item item) {
    outbox.settled(item.bytes());
    if (item instanceof Settlement commit && commit.kept) {
      commit.kept = false;
      keptCommitBytes -= commit.keptBytes();
    }
    if (item instanceof Settlement commit && commit.givenUp) {
      commit.givenUp = false;
      givenUpCommitBytes -= commit.keptBytes();
    }
  }

  // ---- losing and regaining the connection ----

  /** The connection is lost: what is not persistent and on its way has an unknown fate. */
  void lost(LinkException cause) {
    OnLoop.check(loop);
    open = false;
    toResend.clear();
    onResent = null;
    if (linger != null) {
      linger.cancel(false);
      linger = null;
    }
    outbox.starved(false);
    for (Item item : new ArrayList<>(unconfirmed.values())) {
      if (item.number == 0) {
        settle(
            item.correlation,
            new LinkException(
                FaultCode.OUTCOME_UNKNOWN,
                "the connection was lost before the receipt of a non-persistent message came",
                cause));
      }
    }
  }

  /** The lowest number whose answer is still wanted. */
  private long answersFrom() {
    Item first = numbered.peek();
    return first == null ? nextNumber : first.number;
  }

  /**
   * An attach is on its way, in a link epoch: from which number on it asks for answers.
   *
   * @param keeps whether the broker of the new connection keeps transactions
   */
  long attaching(long epoch, boolean keeps) {
    OnLoop.check(loop);
    keepsTransactions = keeps;
    linkEpoch = epoch;
    resumeFrom = answersFrom();
    return resumeFrom;
  }

  /** What the broker knows of this link: takes over what it has done and renews the credit. */
  void attached(Frame.Attached attached) {
    OnLoop.check(loop);
    sentBytes = 0;
    creditBytes = attached.creditBytes();
    Map<Long, Frame.NumberedOutcome> outcomes = new HashMap<>();
    attached.outcomes().forEach(outcome -> outcomes.put(outcome.number(), outcome));
    forgotten(attached.knownSince());
    Item first = numbered.peek();
    while (first != null && first.number <= attached.last()) {
      numbered.remove();
      unconfirmed.remove(first.correlation, first);
      forget(first);
      Frame.NumberedOutcome outcome = outcomes.get(first.number);
      first.done(
          outcome == null || outcome.code() == FaultCode.OK
              ? first.failure
              : first.withNames(new LinkException(outcome.code(), outcome.text())));
      first = numbered.peek();
    }
    resumeFrom = Math.max(resumeFrom, attached.last() + 1);
  }

  /**
   * Gives up what went out before the broker began to know the link: it has forgotten what it took,
   * and what is sent again might be there twice.
   */
  private void forgotten(long knownSince) {
    for (Item item : List.copyOf(numbered)) {
      if (item.sentEpoch == 0 || item.sentEpoch >= knownSince) {
        continue;
      }
      numbered.remove(item);
      unconfirmed.remove(item.correlation, item);
      forget(item);
      item.done(
          item.answered
              ? item.failure
              : new LinkException(
                  FaultCode.OUTCOME_UNKNOWN,
                  "it may be stored or not: it was sent before the connection was lost, and the"
                      + " broker has forgotten what it took of this connection, which was away for"
                      + " long or was closed by it"));
    }
  }

  /** The targets that are needed to send again what is unconfirmed. */
  Set<Target> neededTargets() {
    OnLoop.check(loop);
    Set<Target> targets = new HashSet<>();
    numbered.forEach(item -> targets.addAll(item.targets()));
    gathered.forEach(sending -> targets.add(sending.target));
    return targets;
  }

  /** The sessions that are needed to send again what is unconfirmed. */
  Set<Integer> neededSessions() {
    Set<Integer> sessions = new LinkedHashSet<>();
    for (Item item : numbered) {
      if (item instanceof Commit commit) {
        sessions.add(commit.sessionId);
      }
    }
    neededTargets().forEach(target -> sessions.add(target.sessionId()));
    return sessions;
  }

  /**
   * Sends again, unchanged and in order, also what was answered before: the broker has taken none
   * of these numbers, and no connection that could still bring one of them is let in. So where a
   * destination has gone its run or commit fails here, and the numbers close up behind it. So they
   * do behind what was answered and may have been received, if a repetition would not be known.
   *
   * @param resent what runs once all that was sent again is answered; dropped with the connection
   */
  void resume(Set<Target> gone, Runnable resent) {
    OnLoop.check(loop);
    toResend.clear();
    long number = resumeFrom;
    for (Iterator<Item> items = numbered.iterator(); items.hasNext(); ) {
      Item item = items.next();
      LinkException failure = item.failure != null ? item.failure : item.hopeless(gone);
      if (failure == null && !keepsTransactions) {
        failure = item.unkept();
      }
      if (failure != null || (item.answered && item.isForRenewed())) {
        items.remove();
        unconfirmed.remove(item.correlation, item);
        forget(item);
        item.done(failure);
        continue;
      }
      item.number = number++;
      if (item.answered) {
        item.answered = false;
        item.correlation = nextCorrelation();
        unconfirmed.put(item.correlation, item);
      }
      toResend.add(item);
    }
    nextNumber = number;
    resentBelow = number;
    onResent = resent;
    open = true;
    flush();
    flushWhenDue();
    tellIfResent();
  }

  private void tellIfResent() {
    Item first = numbered.peek();
    Runnable task = onResent;
    if (task != null && open && (first == null || first.number >= resentBelow)) {
      onResent = null;
      task.run();
    }
  }

  /** The link has ended: everything fails. */
  void fail(LinkException cause) {
    OnLoop.check(loop);
    open = false;
    if (linger != null) {
      linger.cancel(false);
      linger = null;
    }
    outbox.end(cause);
    LinkException unknown =
        new LinkException(
            FaultCode.OUTCOME_UNKNOWN,
            "the link ended before the receipt came: " + cause.getMessage(),
            cause);
    toResend.clear();
    for (Item item : new ArrayList<>(unconfirmed.values())) {
      settle(item.correlation, unknown);
    }
    forgetAnswered();
    gathered.addAll(outbox.take());
    for (Sending sending : gathered) {
      sending.completeExceptionally(cause.here());
    }
    gathered.clear();
  }
}
