package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.Sending;
import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The door for sends, on the applications' threads: it holds them back while there is no credit or
 * while too much is unconfirmed, and hands them to the loop, many at a time.
 */
final class Outbox {
  private final LinkSettings settings;
  private final EventLoop loop;
  private final Runnable drain;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private ArrayDeque<Sending> arrived = new ArrayDeque<>();
  private boolean drainScheduled;
  private long unconfirmedBytes;
  private boolean starved;
  private @Nullable LinkException ended;

  Outbox(LinkSettings settings, EventLoop loop, Runnable drain) {
    this.settings = settings;
    this.loop = loop;
    this.drain = drain;
  }

  /** Takes a message; blocks while it must wait, then throws. */
  Sending send(BrokerLink.Target target, boolean persistent, byte[] message) throws LinkException {
    long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(settings.timeouts().sendMillis());
    Sending sending;
    lock.lock();
    try {
      while (ended == null && mustWait(message.length)) {
        if (timeoutNanos <= 0) {
          throw new LinkException(FaultCode.RETRY_LATER, noRoom());
        }
        timeoutNanos = changed.awaitNanos(timeoutNanos);
      }
      if (ended != null) {
        throw ended.here();
      }
      unconfirmedBytes += message.length;
      sending = new Sending(target, persistent, message);
      arrived.add(sending);
      if (drainScheduled) {
        return sending;
      }
      drainScheduled = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LinkException(
          FaultCode.RETRY_LATER, "interrupted while waiting for publish credit", e);
    } finally {
      lock.unlock();
    }
    try {
      loop.execute(drain);
    } catch (RejectedExecutionException e) {
      // The link has ended in this moment, and nobody takes what has arrived any more.
      sending.completeExceptionally(Asking.ended());
    }
    return sending;
  }

  private boolean mustWait(int bytes) {
    return starved
        || (unconfirmedBytes > 0
            && unconfirmedBytes + bytes > settings.batching().maxUnconfirmedBytes());
  }

  private String noRoom() {
    return "the message was not sent: within "
        + settings.timeouts().sendMillis()
        + " ms (option sendTimeoutMillis) "
        + (starved
            ? "the broker gave no publish credit"
            : unconfirmedBytes
                + " bytes stayed unconfirmed, the limit is "
                + settings.batching().maxUnconfirmedBytes()
                + " (option maxUnconfirmedBytes)");
  }

  /** What has arrived since the last call. On the loop. */
  ArrayDeque<Sending> take() {
    lock.lock();
    try {
      ArrayDeque<Sending> taken = arrived;
      arrived = new ArrayDeque<>();
      drainScheduled = false;
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the broker gives no credit for what waits already. */
  void starved(boolean now) {
    lock.lock();
    try {
      if (starved != now) {
        starved = now;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** So many bytes are confirmed, refused or withdrawn. */
  void settled(long bytes) {
    lock.lock();
    try {
      unconfirmedBytes -= bytes;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The link has ended: whoever waits is told. */
  void end(LinkException cause) {
    lock.lock();
    try {
      ended = cause;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
