package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import jakarta.jms.JMSException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Waits for the next message of one consumer, for {@code receive}. Guarded by the gate's lock. */
final class Receiving {
  private final Gate gate;
  private final int requestTimeoutMillis;

  Receiving(Gate gate, int requestTimeoutMillis) {
    this.gate = gate;
    this.requestTimeoutMillis = requestTimeoutMillis;
  }

  /**
   * Takes the next message; null when the time is over or the consumer is closed. At the end of the
   * time the broker is asked once more, so that nothing which is there is missed.
   */
  @Nullable Arrived next(ConsumerQueue consumer, long waitMillis) throws JMSException {
    if (consumer.listener != null) {
      throw JmsFaults.illegalState(
          "the consumer has a message listener, so receive is not allowed");
    }
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.max(0, waitMillis));
    int lastAsk = 0;
    long answerByNanos = 0;
    while (!gate.isClosed() && !consumer.closed) {
      if (gate.hands() && !consumer.isEmpty()) {
        return consumer.take();
      }
      if (consumer.ended != null) {
        throw consumer.ended;
      }
      long now = System.nanoTime();
      if (waitMillis == Gate.FOREVER || now < deadlineNanos) {
        await(consumer, waitMillis == Gate.FOREVER ? Gate.FOREVER : deadlineNanos - now);
        continue;
      }
      if (!gate.isStarted() || !gate.isLinkUp() || (lastAsk != 0 && consumer.wasEmpty(lastAsk))) {
        return null;
      }
      if (lastAsk == 0 || !consumer.isOpen(lastAsk)) {
        if (lastAsk == 0) {
          answerByNanos = now + TimeUnit.MILLISECONDS.toNanos(requestTimeoutMillis);
        }
        lastAsk = consumer.pullNow();
      }
      if (now - answerByNanos >= 0) {
        if (consumer.isPutOff(lastAsk)) {
          throw putOff();
        }
        return null;
      }
      gate.await(answerByNanos - now, "a message");
    }
    return null;
  }

  /**
   * Whether a message was not converted since it is damaged. That is a failed attempt, or it would
   * block for ever what waits behind it.
   */
  static boolean isDamage(Throwable failure) {
    return failure.getCause() instanceof MalformedMessageException;
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

  private JMSException putOff() {
    return JmsFaults.of(
        FaultCode.RETRY_LATER,
        "the broker put off the question for messages again and again for "
            + requestTimeoutMillis
            + " ms (option requestTimeoutMillis); try later",
        null);
  }
}
