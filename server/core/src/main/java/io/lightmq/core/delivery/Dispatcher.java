package io.lightmq.core.delivery;

import io.lightmq.core.destination.GroupBuckets;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.View;
import io.lightmq.core.destination.Views;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives messages to the consumers that have pulled, in turn among those of a subscription. The
 * shard calls {@link #time} once a turn, {@link #dispatch} for what has become visible or free, and
 * {@link #expireParked} when {@link #nextExpiryNanos} says so.
 *
 * <p>A consumer has at most one delivery under way, so that its order holds. What must be read from
 * files is in flight to nobody until it arrives. If the consumer goes meanwhile it is free again at
 * once, uncounted, together with what the consumer had: whoever comes next gets all of it in order.
 */
@OwnedBy("shard")
public final class Dispatcher {
  /** At most so many pulls of a connection are parked; more are answered "retry later". */
  public static final int MAX_PARKED = 10_000;

  /** The delay that comes with "retry later". */
  static final int RETRY_MILLIS = 100;

  /** The delay for a consumer whose next message cannot be read now. */
  static final int UNREADABLE_RETRY_MILLIS = 1_000;

  /** A pull asks for at most so many messages and bytes, whatever it says. */
  static final int MAX_PULL_MESSAGES = 20_000;

  static final int MAX_PULL_BYTES = 8 << 20;

  private final Guard guard;
  private final Fetches fetches;
  private final Decisions decisions;

  private final Lines lines = new Lines();

  /** Views that have passed by enough for one turn, and go on in another. */
  private final Set<View> unfinished = new HashSet<>();

  private final ParkedPulls parked = new ParkedPulls();
  private final Lease lease = new Lease();
  private final Batches batches;
  private final Browsers browsers;
  private final Sifter sifter;
  private final GroupTurn keyTurn = new GroupTurn(this::serveOrBlock, unfinished::contains);

  private long nowNanos;

  /** A dispatcher without consumers. */
  public Dispatcher(
      Window window, Fetcher fetcher, Beside beside, Decisions decisions, Guard guard) {
    this.guard = guard;
    this.fetches = new Fetches(fetcher);
    this.decisions = decisions;
    this.batches = new Batches(window, decisions);
    this.browsers = new Browsers(window, fetcher, beside, decisions, batches);
    this.sifter =
        new Sifter(
            window, fetcher, beside, new TakesSifted(decisions, this::dispatch, this::retryLater));
  }

  /** Sets what counts as now. */
  public void time(long nanos, long wallMillis) {
    guard.check();
    nowNanos = nanos;
    batches.time(wallMillis);
    browsers.time(wallMillis);
  }

  /** Looks at backlogs that the turn had no share left for go on in the next. */
  public void endTurn() {
    sifter.endTurn();
  }

  /** Whether anything may be given. */
  public Lease lease() {
    return lease;
  }

  /** Gives what waited until it may be given, if it may. */
  public void goOn() {
    if (lease.isAwaited() && lease.holds()) {
      lease.take().stream().filter(each -> !each.isClosed()).forEach(this::dispatch);
      expireParked();
    }
  }

  /** The looks at queues. */
  public Browsers browsers() {
    guard.check();
    return browsers;
  }

  // ---- who is there ----

  /** A connection came. */
  public Recipient connect(Outlet outlet) {
    return new Recipient(outlet);
  }

  /** A connection went: what is in flight to it is free again, and flagged as seen. */
  public void disconnect(Recipient recipient) {
    guard.check();
    detach(List.copyOf(recipient.consumers.values()), true);
    browsers.disconnect(recipient);
  }

  /** Opens a consumer that acknowledges what it has done. */
  public Consumer attach(
      Recipient recipient, int consumerId, int sessionId, Subscription subscription) {
    return attach(recipient, consumerId, sessionId, subscription, null, false);
  }

  /**
   * Opens a consumer. Its id is new on the connection.
   *
   * @param selector what it wants of a queue; of a topic, its subscription knows
   * @param noAcknowledge whether what it gets is acknowledged before it is sent
   */
  public Consumer attach(
      Recipient recipient,
      int consumerId,
      int sessionId,
      Subscription subscription,
      @Nullable Selector selector,
      boolean noAcknowledge) {
    guard.check();
    View view = selector == null ? subscription.view() : subscription.views().open(selector);
    Consumer consumer = new Consumer(recipient, consumerId, sessionId, view, noAcknowledge);
    if (recipient.consumers.putIfAbsent(consumerId, consumer) != null) {
      throw new IllegalStateException(
          "connection %d has a consumer %d already"
              .formatted(recipient.outlet().connectionId(), consumerId));
    }
    lines.add(consumer);
    return consumer;
  }

  /**
   * Closes a consumer: its pull ends without an answer, and what is in flight to it is free again
   * and offered to the others.
   *
   * @param seen whether it may have seen what is in flight
   */
  public void detach(Consumer consumer, boolean seen) {
    detach(List.of(consumer), seen);
  }

  /** Closes consumers that end together: none of them gets what another one gives back. */
  public void detach(Collection<Consumer> together, boolean seen) {
    guard.check();
    Set<Subscription> freed = new LinkedHashSet<>();
    for (Consumer consumer : together) {
      if (forget(consumer)) {
        consumer.holding().giveBackAll(seen);
        freed.add(consumer.subscription());
      }
    }
    freed.forEach(this::dispatch);
  }

  /** A subscription is about to end: its consumers go, and their open pulls are answered so. */
  public void end(Subscription subscription, FaultCode code) {
    guard.check();
    browsers.end(subscription, code);
    for (Consumer consumer : consumers(subscription)) {
      boolean asked = consumer.open;
      forget(consumer);
      consumer.holding().clear();
      if (asked) {
        consumer.recipient().outlet().pullDone(consumer.consumerId(), consumer.pullId, code, 0);
      }
    }
  }

  /** The consumers of a subscription, those with selectors last, in the order of their coming. */
  public List<Consumer> consumers(Subscription subscription) {
    return lines.consumers(subscription);
  }

  private boolean forget(Consumer consumer) {
    if (!consumer.attached) {
      return false;
    }
    consumer.attached = false;
    consumer.open = false;
    Fetches.abandon(consumer);
    dropPending(consumer);
    PullList.leave(consumer);
    parked.remove(consumer);
    consumer.recipient().consumers.remove(consumer.consumerId(), consumer);
    if (lines.remove(consumer)) {
      unfinished.remove(consumer.view());
      sifter.forget(consumer.view());
    }
    Subscription subscription = consumer.subscription();
    if (subscription.consumers() == 0) {
      fetches.forget(subscription);
    }
    return true;
  }

  // ---- pulls ----

  /**
   * Takes a pull, which replaces the one that the consumer has open.
   *
   * @param parkMillis how long it may wait for a first message; 0 wants an answer now
   */
  public void pull(Consumer consumer, int pullId, int messages, int bytes, int parkMillis) {
    guard.check();
    if (!consumer.attached) {
      throw new IllegalStateException("consumer " + consumer.consumerId() + " is closed");
    }
    consumer.open = true;
    consumer.pullId = pullId;
    consumer.messages = Math.max(1, Math.min(messages, MAX_PULL_MESSAGES));
    consumer.bytes = Math.max(1, Math.min(bytes, MAX_PULL_BYTES));
    consumer.answerNow = parkMillis <= 0;
    consumer.deadlineNanos = nowNanos + Math.max(0, parkMillis) * 1_000_000L;
    parked.remove(consumer);
    if (consumer.fetching) {
      return;
    }
    if (consumer.list == null) {
      wait(consumer);
      dispatch(consumer.view());
    }
    settlePull(consumer);
  }

  /** Parks or answers a pull that got nothing. */
  private void settlePull(Consumer consumer) {
    if (!consumer.open || consumer.fetching) {
      return;
    }
    if (consumer.answerNow) {
      if (consumer.list == consumer.recipient().blocked) {
        return;
      }
      if (isHeld(consumer)) {
        lines.hold(consumer.view());
      } else {
        answer(consumer, FaultCode.OK, 0);
      }
      return;
    }
    if (consumer.recipient().parked >= MAX_PARKED) {
      answer(consumer, FaultCode.RETRY_LATER, RETRY_MILLIS);
      return;
    }
    parked.add(consumer);
  }

  /** Whether there is nothing to give to a consumer only because something is under way. */
  private boolean isHeld(Consumer consumer) {
    View view = consumer.view();
    boolean touch = view.keys() == null ? view.waitsForTouch() : consumer.waitsForTouch;
    return touch
        || !lease.holdsFor(view.subscription())
        || fetches.isStarved(view.subscription())
        || unfinished.contains(view)
        || sifter.isLooking(view);
  }

  private void wait(Consumer consumer) {
    Line line = lines.of(consumer.view());
    if (line == null) {
      throw new IllegalStateException("consumer " + consumer.consumerId() + " is closed");
    }
    line.waiting.add(consumer);
    GroupBuckets keys = consumer.view().keys();
    if (keys != null) {
      keys.join(consumer);
    }
  }

  private void answer(Consumer consumer, FaultCode code, int retryMillis) {
    close(consumer);
    consumer
        .recipient()
        .outlet()
        .pullDone(consumer.consumerId(), consumer.pullId, code, retryMillis);
  }

  private void close(Consumer consumer) {
    consumer.open = false;
    PullList.leave(consumer);
    parked.remove(consumer);
  }

  /** Answers the pulls whose time is over, and takes from idle consumers what others wait for. */
  public void expireParked() {
    if (!lease.holds()) {
      return;
    }
    parked.expire(nowNanos, consumer -> answer(consumer, FaultCode.OK, 0));
    lines.evicting(nowNanos).forEach(this::dispatch);
  }

  /** When {@link #expireParked} is due, {@code Long.MAX_VALUE} if nothing is parked. */
  public long nextExpiryNanos() {
    return lease.isAwaited()
        ? Long.MAX_VALUE
        : Math.min(parked.nextNanos(), lines.nextEvictionNanos());
  }

  /** Pulls that are parked now. */
  public int parkedPulls() {
    return parked.size();
  }

  /** The outlet takes deliveries again. */
  public void writable(Recipient recipient) {
    guard.check();
    browsers.writable(recipient);
    Set<View> woken = new LinkedHashSet<>();
    for (Consumer consumer = recipient.blocked.first();
        consumer != null;
        consumer = recipient.blocked.first()) {
      wait(consumer);
      woken.add(consumer.view());
    }
    woken.forEach(this::dispatch); // also one that has not looked at its backlog and knows no match
  }

  // ---- giving out ----

  /** Gives out what a subscription has, as long as pulls wait; first to those who want less. */
  public void dispatch(Subscription subscription) {
    guard.check();
    Views views = subscription.views();
    if (!views.isEmpty()) {
      Collection<View> some = views.takeLagging() ? List.copyOf(views.all()) : views.matching();
      some.forEach(this::dispatch);
      views.all().stream().filter(unfinished::contains).toList().forEach(this::dispatch);
      lines.heldOf(subscription).forEach(this::dispatch); // what they wait for may have gone
    }
    dispatch(subscription.view());
  }

  private void dispatch(View view) {
    Line line = lines.of(view);
    if (line == null || view.subscription().isClosed() || !lease.holdsFor(view.subscription())) {
      return;
    }
    PullList list = line.waiting;
    unfinished.remove(view);
    GroupBuckets keys = view.keys();
    if (keys != null) {
      keyTurn.take(view, keys, line, nowNanos);
    } else {
      boolean more = true;
      for (Consumer consumer = list.first(); consumer != null && more; consumer = list.first()) {
        long share = (ready(view) + list.size() - 1) / list.size();
        more = serveOrBlock(consumer, (int) Math.max(1, Math.min(consumer.messages, share)));
        more &= !unfinished.contains(view);
      }
    }
    lines.asked(view, keys == null ? Long.MAX_VALUE : keys.nextEvictionNanos());
    if (list.size() > 0) {
      if (mayLook(view)) {
        sifter.want(view);
      } else if (view.waitsForTouch()) {
        lines.hold(view);
      }
      answerImpatient(view, list);
    }
  }

  /** Whether a view for which consumers wait finds more only if it looks for it. */
  private boolean mayLook(View view) {
    Subscription subscription = view.subscription();
    return !subscription.isPaused()
        && !fetches.isStarved(subscription)
        && !unfinished.contains(view)
        && (view.keys() != null || !view.waitsForTouch())
        && view.unsifted() != null;
  }

  private boolean serveOrBlock(Consumer consumer, int most) {
    if (consumer.recipient().outlet().writable()) {
      return serve(consumer, most, false);
    }
    consumer.recipient().blocked.add(consumer);
    return true;
  }

  private static long ready(View view) {
    return view.filter() == null ? view.subscription().ready() : view.matches();
  }

  private void retryLater(View view, int retryMillis) {
    Line line = lines.of(view);
    if (line != null) {
      for (Consumer at = line.waiting.first(); at != null; at = line.waiting.first()) {
        answer(at, FaultCode.RETRY_LATER, retryMillis);
      }
    }
  }

  /** A pull that wants an answer now, and waited only for a touch or a fetch, gets it. */
  private void answerImpatient(View view, PullList list) {
    Consumer next;
    for (Consumer at = list.first(); at != null; at = next) {
      next = at.listAfter;
      if (at.answerNow && isHeld(at)) {
        lines.hold(view);
      } else if (at.answerNow) {
        answer(at, FaultCode.OK, 0);
      }
    }
  }

  /** Gives one consumer its delivery or begins to fetch it; false if there is nothing to give. */
  private boolean serve(Consumer consumer, int most, boolean again) {
    Batches.Found found = batches.gather(consumer, most);
    if (batches.wasCut() && unfinished.add(consumer.view())) {
      decisions.goOnLater(consumer.subscription());
    }
    boolean any =
        switch (found) {
          case NOTHING -> false;
          case GATHERED -> {
            giveOut(consumer);
            batches.deliver(consumer);
            yield true;
          }
          case IN_FILES -> fetch(consumer, most, again);
        };
    if (!consumer.fetching) {
      lines.arrived(consumer);
    }
    return any;
  }

  /** Its pull is answered now, or once what it gets is acknowledged. */
  private void giveOut(Consumer consumer) {
    if (consumer.noAcknowledge()) {
      consumer.fetching = true;
      PullList.leave(consumer);
      parked.remove(consumer);
    } else {
      close(consumer);
    }
  }

  /** What a consumer pulled is acknowledged, with its subscription's mark. */
  public void consumed(Consumer consumer) {
    guard.check();
    Outlet.Batch batch = consumer.pending;
    lines.arrived(consumer);
    if (batch == null) {
      wake(consumer.view()); // the consumer has gone
      return;
    }
    consumer.pending = null;
    consumer.fetching = false;
    close(consumer);
    consumer.recipient().outlet().deliver(batch.answering(consumer.pullId));
    wake(consumer.view());
  }

  /** Something of a view is settled, for which another consumer may wait. */
  private void wake(View view) {
    if (!view.subscription().isClosed() && view.subscription().views().isWatching()) {
      dispatch(view);
    }
  }

  private static void dropPending(Consumer consumer) {
    Outlet.Batch batch = consumer.pending;
    if (batch != null) {
      consumer.pending = null;
      batch.entries().release();
    }
  }

  /** The shard has ended: what waits to be sent is given up. */
  public void drop() {
    guard.check();
    lease.end();
    lines.consumers().forEach(Dispatcher::dropPending);
  }

  // ---- from files ----

  private boolean fetch(Consumer consumer, int most, boolean again) {
    if (fetches.isFullFor(consumer.subscription())) {
      return false;
    }
    Fetch fetch = batches.takeForFetch(consumer, most, again);
    PullList.leave(consumer);
    parked.remove(consumer);
    if (!fetches.begin(fetch, this::fetched)) {
      lines.arrived(consumer);
      answer(consumer, FaultCode.RETRY_LATER, RETRY_MILLIS);
    }
    return true;
  }

  private void fetched(Fetch fetch) {
    if (fetches.end(fetch)) {
      fetched(fetch, fetch.consumer);
    }
    fetches.takeStarved().forEach(this::dispatch);
  }

  private void fetched(Fetch fetch, Consumer consumer) {
    Subscription subscription = consumer.subscription();
    Outlet.Buffer buffer = fetch.buffer;
    IOException failure = fetch.failure;
    boolean useless = buffer == null || (failure != null && fetch.taken == 0);
    if (subscription.isClosed() || useless || !lease.holdsFor(subscription)) {
      if (buffer != null) {
        buffer.release();
      }
      Batches.free(fetch);
      lines.arrived(consumer);
      if (!subscription.isClosed() && useless) {
        missed(fetch);
      } else if (!subscription.isClosed()) {
        wait(consumer);
        settlePull(consumer);
      }
    } else if (buffer != null) {
      int length = batches.keepWanted(fetch, buffer.bytes());
      if (length > 0) {
        giveOut(consumer);
        batches.deliver(consumer, buffer, length);
      } else {
        buffer.release();
        wait(consumer);
      }
      if (!consumer.fetching) {
        lines.arrived(consumer);
      }
      dispatch(subscription);
      settlePull(consumer);
    }
  }

  /**
   * A fetch that brought nothing: the places may have changed, so it is tried once more. What is
   * damaged then is set aside, and the consumer gets what lies behind it.
   */
  private void missed(Fetch fetch) {
    Consumer consumer = fetch.consumer;
    Subscription subscription = consumer.subscription();
    IOException failure = fetch.failure;
    Damage damage = fetch.again ? Damage.of(fetch) : null;
    boolean aside = damage != null && decisions.setAside(subscription, fetch.lane, damage);
    boolean asks = consumer.open;
    if (failure != null && fetch.again && !aside) {
      decisions.unreadable(subscription, failure);
      if (asks) {
        answer(consumer, FaultCode.RETRY_LATER, UNREADABLE_RETRY_MILLIS);
      }
      return;
    }
    if (asks) {
      wait(consumer);
      if (failure != null && !aside && serve(consumer, consumer.messages, true)) {
        return;
      }
    }
    dispatch(subscription);
    settlePull(consumer);
  }

  // ---- back from consumers ----

  /**
   * A consumer gives messages back, which are then free.
   *
   * @param attempted whether the application had begun with them, which counts a delivery
   * @return how many of them were not in flight to it
   */
  public long giveBack(Consumer consumer, List<SequenceRange> ranges, boolean attempted) {
    guard.check();
    long refused = consumer.holding().giveBack(ranges, attempted);
    dispatch(consumer.subscription());
    return refused;
  }
}
