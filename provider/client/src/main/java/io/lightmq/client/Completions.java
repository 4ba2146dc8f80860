package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.link.LinkSettings;
import io.lightmq.client.link.Uninterrupted;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.CompletionListener;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.util.ArrayDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the completion listeners of a session's asynchronous sends, in the order of the sends, one
 * at a time, on a thread of its own that begins with the first.
 *
 * <p>At most {@value #MAX_PLACES} sends wait here, and no more bytes than may be unconfirmed, but
 * always one. A send beyond that waits for its send timeout and fails then. A listener's own sends
 * cannot wait for it: they may go up to twice the bound, and fail at once beyond.
 */
final class Completions {
  private static final Logger LOG = LoggerFactory.getLogger(Completions.class);

  static final int MAX_PLACES = 16_384;

  private static final long FOREVER = Long.MAX_VALUE;

  private record Pending(
      @Nullable Object producer,
      CompletableFuture<Void> sending,
      Message message,
      CompletionListener listener,
      int bytes,
      long sentNanos,
      boolean isLate) {

    boolean isOf(Object other) {
      return producer == other;
    }
  }

  private final String threadName;
  private final long answerMillis;
  private final int sendTimeoutMillis;
  private final long maxBytes;
  private final Refusals refusals;
  private final BooleanSupplier inListener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private boolean ending;
  private volatile boolean awaitedInVain;
  private boolean closed;
  private volatile @Nullable Thread thread;

  /** When the link last spoke of a send; of the thread alone. */
  private long heardNanos = System.nanoTime();

  /** Taken by sends that wait for their listener, or are on their way here. */
  private int places;

  private long placeBytes;

  /**
   * For a session; closing waits for receipts as long as for an answer.
   *
   * @param refusals is told of what fails
   * @param inListener whether the calling thread runs a listener of the connection
   */
  Completions(
      String threadName, LinkSettings settings, Refusals refusals, BooleanSupplier inListener) {
    this.threadName = threadName;
    this.answerMillis = settings.timeouts().requestMillis();
    this.sendTimeoutMillis = settings.timeouts().sendMillis();
    this.maxBytes = settings.batching().maxUnconfirmedBytes();
    this.refusals = refusals;
    this.inListener = inListener;
  }

  /** Whether the calling thread is the one that runs completion listeners. */
  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Whether the calling thread runs a completion listener of a send by this producer. */
  boolean isCurrentFor(Object producer) {
    if (!isCurrent()) {
      return false;
    }
    lock.lock();
    try {
      Pending running = pending.peek();
      return running != null && running.isOf(producer);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a place for a send, before it goes out; {@link #add} or {@link #giveBackPlace} has to
   * follow.
   *
   * @throws JMSException if none gets free within the send timeout
   */
  void takePlace(int bytes) throws JMSException {
    lock.lock();
    try {
      long leftNanos = isCurrent() ? 0 : TimeUnit.MILLISECONDS.toNanos(sendTimeoutMillis);
      int times = isCurrent() ? 2 : 1;
      while (isFull(bytes, times)) {
        if (leftNanos <= 0) {
          throw full();
        }
        leftNanos = changed.awaitNanos(leftNanos);
      }
      places++;
      placeBytes += bytes;
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted("completion listeners to return; the message was not sent", e);
    } finally {
      lock.unlock();
    }
  }

  private boolean isFull(int bytes, int times) {
    return places >= times * MAX_PLACES || (places > 0 && placeBytes + bytes > times * maxBytes);
  }

  private JMSException full() {
    return JmsFaults.of(
        FaultCode.RETRY_LATER,
        "the message was not sent: "
            + places
            + " asynchronous sends with "
            + placeBytes
            + " bytes wait for their completion listeners, at most "
            + MAX_PLACES
            + " may, with "
            + maxBytes
            + " bytes (option maxUnconfirmedBytes); none returned within "
            + sendTimeoutMillis
            + " ms (option sendTimeoutMillis)",
        null);
  }

  /** A send that has taken a place does not come. */
  void giveBackPlace(int bytes) {
    lock.lock();
    try {
      freePlace(bytes);
    } finally {
      lock.unlock();
    }
  }

  private void freePlace(int bytes) {
    places--;
    placeBytes -= bytes;
    changed.signalAll();
  }

  /**
   * Adds a send that has a place.
   *
   * @param producer who may wait for its own sends, null if nobody does
   */
  void add(
      @Nullable Object producer,
      CompletableFuture<Void> sending,
      Message message,
      CompletionListener listener,
      int bytes) {
    lock.lock();
    try {
      boolean late = ending && !inListener.getAsBoolean();
      pending.add(
          new Pending(producer, sending, message, listener, bytes, System.nanoTime(), late));
      if (thread == null) {
        Thread begun = new Thread(this::run, threadName);
        begun.setDaemon(false);
        thread = begun;
        begun.start();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    while (true) {
      Pending next;
      lock.lock();
      try {
        while (pending.isEmpty() && !closed) {
          changed.awaitUninterruptibly();
        }
        if (pending.isEmpty()) {
          thread = null; // a send that comes in the moment of the close gets another one
          return;
        }
        next = pending.peek();
      } finally {
        lock.unlock();
      }
      try {
        call(next);
      } finally {
        lock.lock();
        try {
          pending.remove();
          freePlace(next.bytes());
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /**
   * What the link says of a send, or that it said nothing for as long as a request may take: since
   * the send, and since it spoke of the one before. So a slow broker is waited for as long as it
   * takes, and one that has gone is not.
   */
  private @Nullable JMSException failureOf(Pending send) {
    long sinceNanos = send.sentNanos() - heardNanos > 0 ? send.sentNanos() : heardNanos;
    long silentMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
    if (!Uninterrupted.ended(send.sending(), Math.max(0, answerMillis - silentMillis))) {
      return withoutReceipt(send.sending(), answerMillis, null);
    }
    heardNanos = System.nanoTime();
    try {
      Uninterrupted.get(send.sending());
      return null;
    } catch (ExecutionException | CancellationException e) {
      return Awaiting.fault(e, "sending asynchronously");
    }
  }

  private void call(Pending next) {
    try {
      JMSException failure = failureOf(next);
      if (failure == null) {
        next.listener().onCompletion(next.message());
      } else {
        refusals.note(failure);
        next.listener().onException(next.message(), failure);
      }
    } catch (Throwable e) { // errors too, or whoever waits for this thread waits for ever
      LOG.warn("{}: a completion listener failed", threadName, e);
    }
    Thread.interrupted(); // what a listener has left set is not for the next one
  }

  /** Waits until all sends so far are complete and their listeners have returned. */
  void await() throws JMSException {
    lock.lock();
    try {
      while (!pending.isEmpty()) {
        changed.await();
      }
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted("asynchronous sends to complete", e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the sends of a producer are complete and their listeners have returned; gives up
   * those that get no receipt in time. A listener cannot wait for others: then it does nothing.
   * Part of closing, so an interrupt does not end it.
   */
  void await(Object producer) {
    if (isCurrent()) {
      return;
    }
    if (!awaitNone(send -> send.isOf(producer), answerMillis)) {
      giveUp(send -> send.isOf(producer), "the producer");
      awaitNone(send -> send.isOf(producer), FOREVER);
    }
  }

  /** Waits until none of these is left, whatever interrupts; false if the time is over before. */
  private boolean awaitNone(Predicate<Pending> which, long millis) {
    boolean interrupted = false;
    lock.lock();
    try {
      long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      while (pending.stream().anyMatch(which)) {
        long leftNanos = millis == FOREVER ? FOREVER : endNanos - System.nanoTime();
        if (leftNanos <= 0) {
          return false;
        }
        try {
          var unused = changed.awaitNanos(leftNanos);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The session is being closed: what others than its listeners send now does not put that off. */
  void end() {
    lock.lock();
    try {
      ending = true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether sends from before the end, or of listeners, or their listeners are not done. */
  boolean hasPending() {
    lock.lock();
    try {
      return pending.stream().anyMatch(send -> !send.isLate());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until these sends are complete and their listeners have returned, or the time is over;
   * whatever interrupts the thread.
   */
  void awaitAll(long millis) {
    if (!awaitNone(send -> !send.isLate(), millis)) {
      awaitedInVain = true;
    }
  }

  /**
   * Waits for the sends that are left, gives up those that get no receipt in time, and ends the
   * thread with the last listener. The session is closed, so there are no more.
   */
  void close() {
    Thread last;
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      last = thread;
    } finally {
      lock.unlock();
    }
    if (last == null || last == Thread.currentThread()) {
      return;
    }
    if (awaitedInVain || !Uninterrupted.join(last, answerMillis)) {
      giveUp(send -> true, "the session");
      Uninterrupted.join(last);
    }
  }

  private void giveUp(Predicate<Pending> which, String owner) {
    lock.lock();
    try {
      for (Pending waiting : pending) {
        if (which.test(waiting)) {
          waiting
              .sending()
              .completeExceptionally(
                  new LinkException(
                      FaultCode.OUTCOME_UNKNOWN, owner + " was closed before the receipt came"));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the receipt of a synchronous send. */
  static void receipt(BrokerLink.Sending sending, long timeoutMillis) throws JMSException {
    try {
      sending.get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | CancellationException e) {
      throw Awaiting.fault(e, "sending");
    } catch (TimeoutException e) {
      throw withoutReceipt(sending, timeoutMillis, e);
    } catch (InterruptedException e) {
      boolean withdrawn = sending.withdraw();
      throw JmsFaults.interrupted(
          "a receipt; the message " + (withdrawn ? "was not sent" : "may have been stored or not"),
          e);
    }
  }

  /** Nobody waits any longer for a receipt: what has not gone out never will. */
  private static JMSException withoutReceipt(
      CompletableFuture<Void> sending, long timeoutMillis, @Nullable TimeoutException late) {
    boolean withdrawn = sending instanceof BrokerLink.Sending own && own.withdraw();
    return JmsFaults.of(
        withdrawn ? FaultCode.RETRY_LATER : FaultCode.OUTCOME_UNKNOWN,
        "no receipt came within "
            + timeoutMillis
            + " ms (option requestTimeoutMillis); the message "
            + (withdrawn ? "was not sent" : "may have been stored or not"),
        late);
  }
}
