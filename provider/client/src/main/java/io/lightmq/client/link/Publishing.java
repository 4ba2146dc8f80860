package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.Sending;
import io.lightmq.client.link.BrokerLink.Staged;
import io.lightmq.client.link.BrokerLink.Target;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
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
  private static final int MAX_RUN_MESSAGES = 20_000;
  private static final int BYTES_PER_RANGE = 48;

  /** A run or a commit that is on its way. */
  private abstract static sealed class Item {
    long number;
    int correlation;
    boolean answered;
    @Nullable LinkException failure;

    /** What {@link Outbox} counts. */
    abstract long bytes();

    abstract Set<Target> targets();

    abstract Frame frame(ByteBufAllocator allocator);

    abstract void done(@Nullable LinkException failure);
  }

  private static final class Run extends Item {
    final Target target;
    final long destinationId;
    final boolean persistent;
    final List<Sending> sendings = new ArrayList<>();
    long bytes;

    Run(Target target, boolean persistent) {
      this.target = target;
      this.destinationId = target.destinationId();
      this.persistent = persistent;
    }

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    Set<Target> targets() {
      return Set.of(target);
    }

    @Override
    Frame frame(ByteBufAllocator allocator) {
      ByteBuf messages = allocator.directBuffer((int) bytes + 4 * sendings.size());
      for (Sending sending : sendings) {
        messages.writeInt(sending.message.length);
        messages.writeBytes(sending.message);
      }
      return new Frame.Publish(correlation, destinationId, number, sendings.size(), messages);
    }

    @Override
    void done(@Nullable LinkException failure) {
      for (Sending sending : sendings) {
        if (failure == null) {
          sending.complete(null);
        } else {
          sending.completeExceptionally(failure);
        }
      }
    }
  }

  private static final class Commit extends Item {
    final CompletableFuture<Void> answer = new CompletableFuture<>();
    final int sessionId;
    final List<Staged> sends;
    final List<Frame.Acked> acked;
    final long[] destinationIds;
    final long keptBytes;
    boolean kept;

    Commit(int sessionId, List<Staged> sends, List<Frame.Acked> acked) {
      this.sessionId = sessionId;
      this.sends = sends;
      this.acked = acked;
      this.destinationIds = sends.stream().mapToLong(s -> s.target().destinationId()).toArray();
      this.keptBytes =
          sends.stream().mapToLong(staged -> staged.message().length).sum()
              + (long) BYTES_PER_RANGE * AckedPieces.items(acked);
    }

    @Override
    long bytes() {
      return 0;
    }

    @Override
    Set<Target> targets() {
      Set<Target> targets = new HashSet<>();
      sends.forEach(staged -> targets.add(staged.target()));
      return targets;
    }

    @Override
    Frame frame(ByteBufAllocator allocator) {
      List<Frame.StagedRun> runs = new ArrayList<>();
      int from = 0;
      while (from < sends.size()) {
        Staged first = sends.get(from);
        int to = from;
        int bytes = 0;
        while (to < sends.size()
            && destinationIds[to] == destinationIds[from]
            && sends.get(to).persistent() == first.persistent()
            && to - from < MAX_RUN_MESSAGES) {
          bytes += 4 + sends.get(to).message().length;
          to++;
        }
        ByteBuf messages = allocator.directBuffer(bytes);
        for (Staged staged : sends.subList(from, to)) {
          messages.writeInt(staged.message().length);
          messages.writeBytes(staged.message());
        }
        runs.add(
            new Frame.StagedRun(destinationIds[from], first.persistent(), to - from, messages));
        from = to;
      }
      return new Frame.Commit(correlation, sessionId, number, runs, acked);
    }

    @Override
    void done(@Nullable LinkException failure) {
      if (failure == null) {
        answer.complete(null);
      } else {
        answer.completeExceptionally(failure);
      }
    }
  }

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
  private final ArrayDeque<Item> toResend = new ArrayDeque<>();
  private @Nullable Future<?> linger;
  private boolean open;
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

  // ---- gathering ----

  private void drain() {
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
    if (gatheredBytes >= settings.batchBytes()
        || unconfirmed.isEmpty()
        || settings.lingerMillis() == 0) {
      flush();
    } else if (linger == null) {
      linger = loop.schedule(this::lingered, settings.lingerMillis(), TimeUnit.MILLISECONDS);
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
    return item instanceof Commit || sentBytes < creditBytes;
  }

  private void write(Item item) {
    Frame frame = item.frame(allocator);
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
      if (next.isDone()) {
        drop(next);
        continue;
      }
      if (run == null) {
        run = new Run(next.target, next.persistent);
      } else if (run.destinationId != next.target.destinationId()
          || run.persistent != next.persistent
          || run.bytes + next.message.length > MAX_RUN_BYTES
          || run.sendings.size() >= MAX_RUN_MESSAGES) {
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

  /** Commits at once; without a connection, first thing on the next. */
  CompletableFuture<Void> commit(int sessionId, List<Staged> sends, List<Frame.Acked> acked) {
    Commit commit = new Commit(sessionId, List.copyOf(sends), List.copyOf(acked));
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

  /** Runs a task once no send to the target is gathered or unconfirmed any more. */
  void whenUnused(Target target, Runnable task) {
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
    creditBytes = Math.max(creditBytes, totalBytes);
    if (!gathered.isEmpty() || !toResend.isEmpty()) {
      flush();
    }
  }

  /** Takes receipts. */
  void receipts(Frame.Receipts receipts) {
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
    boolean known = settle(fault.correlation(), new LinkException(fault.code(), fault.text()));
    flushWhenDue();
    return known;
  }

  private boolean settle(int correlation, @Nullable LinkException failure) {
    Item item = unconfirmed.remove(correlation);
    if (item == null) {
      return false;
    }
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
    if (item instanceof Commit commit && !commit.kept) {
      if (keptCommitBytes + commit.keptBytes > settings.maxUnconfirmedBytes()) {
        return false;
      }
      commit.kept = true;
      keptCommitBytes += commit.keptBytes;
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
  }

  private void forget(Item item) {
    outbox.settled(item.bytes());
    if (item instanceof Commit commit && commit.kept) {
      commit.kept = false;
      keptCommitBytes -= commit.keptBytes;
    }
  }

  // ---- losing and regaining the connection ----

  /** The connection is lost: what is not persistent and on its way has an unknown fate. */
  void lost(LinkException cause) {
    open = false;
    toResend.clear();
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
  long answersFrom() {
    Item first = numbered.peek();
    return first == null ? nextNumber : first.number;
  }

  /** What the broker knows of this link: takes over what it has done and renews the credit. */
  void attached(Frame.Attached attached) {
    sentBytes = 0;
    creditBytes = attached.creditBytes();
    Map<Long, Frame.NumberedOutcome> outcomes = new HashMap<>();
    attached.outcomes().forEach(outcome -> outcomes.put(outcome.number(), outcome));
    Item first = numbered.peek();
    while (first != null && first.number <= attached.last()) {
      numbered.remove();
      unconfirmed.remove(first.correlation, first);
      forget(first);
      Frame.NumberedOutcome outcome = outcomes.get(first.number);
      first.done(
          outcome == null || outcome.code() == FaultCode.OK
              ? first.failure
              : new LinkException(outcome.code(), outcome.text()));
      first = numbered.peek();
    }
    nextNumber = Math.max(nextNumber, attached.last() + 1);
  }

  /** The targets that are needed to send again what is unconfirmed. */
  Set<Target> neededTargets() {
    Set<Target> targets = new HashSet<>();
    numbered.forEach(item -> targets.addAll(item.targets()));
    gathered.forEach(sending -> targets.add(sending.target));
    return targets;
  }

  /**
   * Sends again, unchanged and in order, also what was answered before: the broker has taken none
   * of these numbers, and no connection that could still bring one of them is let in. So where a
   * destination has gone its run fails here, and the numbers close up behind it.
   */
  void resume(Set<Target> gone) {
    long number = answersFrom();
    for (Iterator<Item> items = numbered.iterator(); items.hasNext(); ) {
      Item item = items.next();
      LinkException failure = hopeless(item, gone);
      if (failure != null) {
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
    open = true;
    flush();
    flushWhenDue();
  }

  /** Why a run is not sent again, or null: its destination has gone, or its sender was refused. */
  private static @Nullable LinkException hopeless(Item item, Set<Target> gone) {
    if (item.failure != null) {
      return item.failure;
    }
    if (item instanceof Run run
        && (gone.contains(run.target) || run.destinationId != run.target.destinationId())) {
      return new LinkException(
          FaultCode.DESTINATION_GONE,
          run.target.destination().name() + " was deleted while the connection was lost");
    }
    return null;
  }

  /** The link has ended: everything fails. */
  void fail(LinkException cause) {
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
