package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the completion listeners of a session's asynchronous sends, in the order of the sends, one
 * at a time, on a thread of its own that begins with the first. The link's limit of unconfirmed
 * bytes bounds what waits here.
 */
final class Completions {
  private static final Logger LOG = LoggerFactory.getLogger(Completions.class);

  private record Pending(
      @Nullable Object producer,
      CompletableFuture<Void> sending,
      Message message,
      CompletionListener listener) {

    boolean isOf(Object other) {
      return producer == other;
    }
  }

  private final String threadName;
  private final long closeMillis;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private boolean closed;
  private @Nullable Thread thread;

  /**
   * For a session.
   *
   * @param closeMillis how long closing waits for receipts before it gives their sends up
   */
  Completions(String threadName, long closeMillis) {
    this.threadName = threadName;
    this.closeMillis = closeMillis;
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
   * Adds a send.
   *
   * @param producer who may wait for its own sends, null if nobody does
   */
  void add(
      @Nullable Object producer,
      CompletableFuture<Void> sending,
      Message message,
      CompletionListener listener) {
    lock.lock();
    try {
      pending.add(new Pending(producer, sending, message, listener));
      if (thread == null) {
        thread = new Thread(this::run, threadName);
        thread.setDaemon(false);
        thread.start();
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
          return;
        }
        next = pending.peek();
      } finally {
        lock.unlock();
      }
      call(next);
      lock.lock();
      try {
        pending.remove();
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void call(Pending next) {
    JMSException failure = null;
    try {
      next.sending().get();
    } catch (ExecutionException | CancellationException e) {
      failure = Awaiting.fault(e, "sending asynchronously");
    } catch (InterruptedException e) {
      failure = JmsFaults.interrupted("a receipt", e);
    }
    try {
      if (failure == null) {
        next.listener().onCompletion(next.message());
      } else {
        next.listener().onException(next.message(), failure);
      }
    } catch (Throwable e) { // errors too, or whoever waits for this thread waits for ever
      LOG.warn("{}: a completion listener failed", threadName, e);
    }
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
   */
  void await(Object producer) throws JMSException {
    if (isCurrent()) {
      return;
    }
    lock.lock();
    try {
      long leftNanos = TimeUnit.MILLISECONDS.toNanos(closeMillis);
      while (pending.stream().anyMatch(send -> send.isOf(producer))) {
        if (leftNanos > 0) {
          leftNanos = changed.awaitNanos(leftNanos);
        } else {
          giveUp(send -> send.isOf(producer), "the producer");
          changed.await();
        }
      }
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted("asynchronous sends to complete", e);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for all sends, gives up those that get no receipt, and ends the thread. */
  void close() throws JMSException {
    Thread ending;
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      ending = thread;
    } finally {
      lock.unlock();
    }
    if (ending == null || ending == Thread.currentThread()) {
      return;
    }
    try {
      ending.join(closeMillis);
      if (ending.isAlive()) {
        giveUp(send -> true, "the session");
        ending.join();
      }
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted("asynchronous sends to complete", e);
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
      boolean withdrawn = sending.withdraw();
      throw JmsFaults.of(
          withdrawn ? FaultCode.RETRY_LATER : FaultCode.OUTCOME_UNKNOWN,
          "no receipt came within "
              + timeoutMillis
              + " ms (option requestTimeoutMillis); the message "
              + (withdrawn ? "was not sent" : "may have been stored or not"),
          e);
    } catch (InterruptedException e) {
      boolean withdrawn = sending.withdraw();
      throw JmsFaults.interrupted(
          "a receipt; the message " + (withdrawn ? "was not sent" : "may have been stored or not"),
          e);
    }
  }
}
