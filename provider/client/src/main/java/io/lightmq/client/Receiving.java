package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import jakarta.jms.JMSException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the next message of one consumer, for {@code receive}. Guarded by the gate's lock.
 *
 * <p>Whatever the broker does, a receive ends with its time. One that has less than {@value
 * #ANSWER_MILLIS} ms asks what is there now, and has as long as that for the answer, which takes no
 * longer than the way to the broker and back unless the broker is busy. What comes after the end of
 * the call waits for the next one.
 */
final class Receiving {
  /** How long a question for what is there now waits for its answer. */
  static final int ANSWER_MILLIS = 1_000;

  private final Gate gate;
  private final long answerNanos;

  Receiving(Gate gate, int requestTimeoutMillis) {
    this.gate = gate;
    this.answerNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(ANSWER_MILLIS, requestTimeoutMillis));
  }

  /** Takes the next message; null when the time is over or the consumer is closed. */
  @Nullable Arrived next(ConsumerQueue consumer, long waitMillis) throws JMSException {
    gate.checkHeld();
    if (consumer.listener != null) {
      throw JmsFaults.illegalState(
          "the consumer has a message listener, so receive is not allowed");
    }
    consumer.receivers++;
    try {
      return waitMillis == Gate.FOREVER ? next(consumer) : nextUntil(consumer, waitMillis);
    } finally {
      consumer.receivers--;
    }
  }

  private @Nullable Arrived next(ConsumerQueue consumer) throws JMSException {
    while (isOpen(consumer)) {
      if (isReady(consumer)) {
        return consumer.take();
      }
      await(consumer, Gate.FOREVER);
    }
    return null;
  }

  private @Nullable Arrived nextUntil(ConsumerQueue consumer, long waitMillis) throws JMSException {
    long now = System.nanoTime();
    long deadlineNanos = now + TimeUnit.MILLISECONDS.toNanos(waitMillis);
    long endNanos = Math.max(deadlineNanos - now, answerNanos) + now;
    int emptyBefore = consumer.lastEmptyPull();
    int putOffsBefore = consumer.putOffs();
    int asked = 0;
    while (isOpen(consumer)) {
      if (isReady(consumer)) {
        return consumer.take();
      }
      now = System.nanoTime();
      if (now - deadlineNanos < 0) {
        await(consumer, deadlineNanos - now);
        continue;
      }
      if (!gate.isStarted() || !gate.isLinkUp() || (asked != 0 && consumer.wasEmpty(asked))) {
        return null;
      }
      if (now - endNanos >= 0) {
        if (consumer.putOffs() != putOffsBefore && consumer.lastEmptyPull() == emptyBefore) {
          throw putOff();
        }
        consumer.endPark(); // or it would hold what comes now, which others could have
        return null;
      }
      if (asked == 0 || !consumer.isOpen(asked)) {
        asked = consumer.pullNow();
      }
      gate.await(endNanos - now, "a message");
    }
    return null;
  }

  private boolean isOpen(ConsumerQueue consumer) {
    return !gate.isOver() && !consumer.closed;
  }

  private boolean isReady(ConsumerQueue consumer) throws JMSException {
    if (gate.hands() && !consumer.isEmpty()) {
      return true;
    }
    if (consumer.ended != null) {
      throw consumer.ended;
    }
    return false;
  }

  private void await(ConsumerQueue consumer, long nanos) throws JMSException {
    consumer.waiters++;
    try {
      if (gate.pulls()) {
        consumer.pullIfNeeded();
      }
      gate.await(nanos, "a message");
    } finally {
      consumer.waiters--;
    }
  }

  /**
   * Whether a message was not converted since it is damaged. That is a failed attempt, or it would
   * block for ever what waits behind it.
   */
  static boolean isDamage(Throwable failure) {
    return failure.getCause() instanceof MalformedMessageException;
  }

  private static JMSException putOff() {
    return JmsFaults.of(
        FaultCode.RETRY_LATER,
        "the broker put off the question for messages each time; try later",
        null);
  }
}
