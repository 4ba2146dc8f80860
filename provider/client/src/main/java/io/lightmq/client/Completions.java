package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
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
      CompletableFuture<Void> sending, Message message, CompletionListener listener) {}

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

  void add(CompletableFuture<Void> sending, Message message, CompletionListener listener) {
    lock.lock();
    try {
      pending.add(new Pending(sending, message, listener));
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
    } catch (RuntimeException e) {
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
        giveUp();
        ending.join();
      }
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted("asynchronous sends to complete", e);
    }
  }

  private void giveUp() {
    lock.lock();
    try {
      for (Pending waiting : pending) {
        waiting
            .sending()
            .completeExceptionally(
                new io.lightmq.client.link.LinkException(
                    FaultCode.OUTCOME_UNKNOWN, "the session was closed before the receipt came"));
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
