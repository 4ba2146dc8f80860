package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.link.Uninterrupted;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Waits for the link's answers and turns failures into JMS exceptions. */
final class Awaiting {
  private Awaiting() {}

  /**
   * The answer; the link ends it at the latest with its own deadline. If the thread is interrupted
   * the future is cancelled, whereupon the link closes what it has opened.
   */
  static <T> T answer(CompletableFuture<T> future, String what) throws JMSException {
    try {
      return future.get();
    } catch (InterruptedException e) {
      if (future.cancel(false)) {
        throw JmsFaults.interrupted(what, e);
      }
      Thread.currentThread().interrupt();
      return answerWhenClosing(future, what); // it came in this moment, and nobody closes it again
    } catch (ExecutionException | CancellationException e) {
      throw fault(e, what);
    }
  }

  /**
   * The answer to a question that is part of closing something: an interrupt does not end the wait,
   * and is set again after it.
   */
  static <T> T answerWhenClosing(CompletableFuture<T> future, String what) throws JMSException {
    try {
      return Uninterrupted.get(future);
    } catch (ExecutionException | CancellationException e) {
      throw fault(e, what);
    }
  }

  /** What a failed future says. */
  static JMSException fault(Throwable failure, String what) {
    Throwable cause = failure;
    while ((cause instanceof ExecutionException || cause instanceof CompletionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof LinkException link) {
      return JmsFaults.of(link.code(), what + ": " + link.getMessage(), link);
    }
    return JmsFaults.of(FaultCode.OUTCOME_UNKNOWN, what + ": " + cause, cause);
  }
}
