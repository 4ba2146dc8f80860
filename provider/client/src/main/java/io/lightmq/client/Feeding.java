package io.lightmq.client;

import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;

/** What a connection consumer takes out of its inbox, for the sessions of a pool. Any thread. */
final class Feeding {
  private final Inbox inbox;
  private final Gate gate;
  private final HandedOver handedOver;

  Feeding(Inbox inbox, Gate gate, HandedOver handedOver) {
    this.inbox = inbox;
    this.gate = gate;
    this.handedOver = handedOver;
  }

  /** Waits until the consumer has a message to hand over; false at the end. */
  boolean awaitMessage(ConsumerQueue consumer, ListenerPause pause) throws JMSException {
    gate.lock();
    consumer.waiters++;
    try {
      inbox.pullMore(consumer);
      while (!gate.isEnding()
          && !consumer.closed
          && (!consumer.isEmpty() || !consumer.hasEnded())) {
        long pauseNanos = pause.nanosLeft();
        if (pauseNanos <= 0 && gate.begins() && !consumer.isEmpty()) {
          return true;
        }
        gate.await(pauseNanos > 0 ? pauseNanos : Gate.FOREVER, "messages");
      }
      return false;
    } finally {
      consumer.waiters--;
      gate.unlock();
    }
  }

  /** Takes what waits in a consumer, at most so many; it may be nothing. */
  Batch take(ConsumerQueue consumer, int most) {
    return gate.look(
        () -> {
          List<Arrived> taken = new ArrayList<>();
          while (gate.begins() && taken.size() < most && !consumer.isEmpty()) {
            consumer.handedOver();
            taken.add(consumer.take());
          }
          inbox.pullMore(consumer);
          return new Batch(taken, handedOver.losses());
        });
  }

  /** Messages of a batch that nobody has begun with wait again, before all others. */
  void putBack(ConsumerQueue consumer, Batch batch, List<Arrived> messages) {
    boolean waiting =
        gate.look(
            () -> {
              if (inbox.comesAgain(batch) || gate.isOver() || consumer.closed) {
                return false;
              }
              for (int i = messages.size() - 1; i >= 0; i--) {
                consumer.putBack(messages.get(i));
                var unused = consumer.settled();
              }
              return true;
            });
    if (!waiting) {
      inbox.goesBack(batch, messages);
    }
  }
}
