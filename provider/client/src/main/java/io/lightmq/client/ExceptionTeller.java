package io.lightmq.client;

import io.lightmq.client.link.Uninterrupted;
import jakarta.jms.ExceptionListener;
import jakarta.jms.JMSException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a connection's exception listener, one exception after the other (section 6.1.7), on a
 * thread that lives as long as there is something to tell: the listener may block, or close the
 * connection. Of more than {@value #MAX_WAITING} that wait the later ones are only logged.
 */
final class ExceptionTeller {
  static final int MAX_WAITING = 100;

  /**
   * A listener that waits for what the closing thread holds must not hold up the close for ever.
   */
  private static final long CLOSE_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(ExceptionTeller.class);

  private final Deque<JMSException> waiting = new ArrayDeque<>();
  private @Nullable ExceptionListener listener;
  private @Nullable Thread thread;
  private boolean running;
  private boolean closed;

  synchronized @Nullable ExceptionListener listener() {
    return listener;
  }

  synchronized void listener(@Nullable ExceptionListener told) {
    listener = told;
  }

  /** Tells an exception soon; does not block. */
  synchronized void tell(JMSException exception) {
    if (closed) {
      LOG.debug("after the close: {}", exception.getMessage());
      return;
    }
    if (listener == null) {
      LOG.error("no exception listener is set: {}", exception.getMessage());
      return;
    }
    if (waiting.size() == MAX_WAITING) {
      LOG.error("the exception listener is {} behind: {}", MAX_WAITING, exception.getMessage());
      return;
    }
    waiting.add(exception);
    if (!running) {
      running = true;
      thread = new Thread(this::run, "connection-exception");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void run() {
    for (Call call = next(); call != null; call = next()) {
      try {
        call.listener().onException(call.exception());
      } catch (Throwable e) { // errors too, or the listener never hears anything again
        LOG.warn("an exception listener failed", e);
      }
      Thread.interrupted(); // what a listener has left set is not for the next one
    }
  }

  private record Call(ExceptionListener listener, JMSException exception) {}

  private synchronized @Nullable Call next() {
    JMSException exception = waiting.poll();
    ExceptionListener told = listener;
    if (exception == null || told == null) {
      waiting.clear();
      running = false;
      return null;
    }
    return new Call(told, exception);
  }

  /** Whether the calling thread runs the listener. */
  synchronized boolean isCurrent() {
    return running && Thread.currentThread() == thread;
  }

  /** Tells nothing any more and waits, unless the listener itself asks, until it has returned. */
  void close() {
    Thread last;
    synchronized (this) {
      closed = true;
      waiting.clear();
      last = thread;
    }
    if (last == null || last == Thread.currentThread()) {
      return;
    }
    if (!Uninterrupted.join(last, CLOSE_MILLIS)) {
      LOG.warn("an exception listener has not returned for {} ms", CLOSE_MILLIS);
    }
  }
}
