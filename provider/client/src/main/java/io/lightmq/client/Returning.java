package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives messages back to the broker. */
final class Returning {
  private static final Logger LOG = LoggerFactory.getLogger(Returning.class);

  private final AckMode mode;
  private final BrokerLink link;
  private final Gate gate;
  private final HandedOver handedOver;
  private final int requestTimeoutMillis;

  /** For an inbox; in mode NO_ACKNOWLEDGE nothing can be given back. */
  Returning(
      AckMode mode, BrokerLink link, Gate gate, HandedOver handedOver, int requestTimeoutMillis) {
    this.mode = mode;
    this.link = link;
    this.gate = gate;
    this.handedOver = handedOver;
    this.requestTimeoutMillis = requestTimeoutMillis;
  }

  /**
   * Messages that the application has not seen; does not wait.
   *
   * @param stale whether a connection was lost since they were taken
   */
  void unattempted(List<Arrived> messages, BooleanSupplier stale) {
    if (messages.isEmpty() || mode == AckMode.NONE) {
      return;
    }
    var unused =
        link.giveBack(Arrived.places(messages), false, null, stale)
            .whenComplete(
                (done, failure) -> {
                  if (failure != null) {
                    LOG.debug("returning {} messages failed", messages.size(), failure);
                  }
                });
  }

  /**
   * Gives back messages and all that waits in, or is on its way to, these consumers: what still
   * came after the return would overtake what was returned. Waits until the broker has them;
   * meanwhile nothing is handed over. Not to be called with the gate's lock held.
   *
   * @param attempted what the application has begun with
   * @param unattempted what has left the consumers, but the application has not seen
   * @param cause what the application has failed with, if that is known
   * @param stale whether a connection was lost since these were taken
   */
  void inOrder(
      List<ConsumerQueue> from,
      List<Arrived> attempted,
      List<Arrived> unattempted,
      @Nullable String cause,
      BooleanSupplier stale)
      throws JMSException {
    gate.checkFree();
    if (mode == AckMode.NONE) {
      return;
    }
    gate.change(
        () -> {
          gate.returning(1);
          endPulls(from);
        });
    try {
      Drained drained = drain(from);
      List<CompletableFuture<Void>> answers = new ArrayList<>();
      give(attempted, true, cause, stale, answers);
      give(unattempted, false, null, stale, answers);
      give(drained.messages(), false, null, drained.stale(), answers);
      await(answers);
      // A pull that did not end in time may have been answered between the two, with later
      // messages.
      Drained late = drain(from);
      give(late.messages(), false, null, late.stale(), answers);
      await(answers);
    } finally {
      gate.change(() -> gate.returning(-1));
    }
  }

  private record Drained(List<Arrived> messages, BooleanSupplier stale) {}

  private Drained drain(List<ConsumerQueue> from) {
    return gate.look(
        () ->
            new Drained(
                from.stream().flatMap(consumer -> consumer.drain().stream()).toList(),
                handedOver.lossFromNow()));
  }

  private void endPulls(List<ConsumerQueue> from) {
    from.forEach(ConsumerQueue::endPull);
    long leftNanos = TimeUnit.MILLISECONDS.toNanos(requestTimeoutMillis);
    try {
      // What is closed meanwhile gets no answer any more, and what it has goes back by that.
      while (gate.isLinkUp()
          && !gate.isClosed()
          && leftNanos > 0
          && from.stream().anyMatch(consumer -> consumer.isPulling() && !consumer.closed)) {
        leftNanos = gate.awaitChange(leftNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // waiting for the returns ends with it
    }
  }

  private void give(
      List<Arrived> messages,
      boolean attempted,
      @Nullable String cause,
      BooleanSupplier stale,
      List<CompletableFuture<Void>> answers) {
    if (!messages.isEmpty()) {
      answers.add(link.giveBack(Arrived.places(messages), attempted, cause, stale));
    }
  }

  /** Waits until the broker has taken them. */
  private static void await(List<CompletableFuture<Void>> answers) throws JMSException {
    for (CompletableFuture<Void> answer : answers) {
      Awaiting.answer(answer, "giving messages back");
    }
    answers.clear();
  }
}
