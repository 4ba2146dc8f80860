package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * What a connection consumer takes out of its inbox, for the sessions of a pool. Any thread.
 *
 * <p>Where nothing is prefetched, a message is held only while the pool is asked for a session to
 * give it to, and no longer than {@value #HOLD_MILLIS} ms: then it goes back for others to have,
 * and once the pool has given a session one message is asked for anew.
 */
final class Feeding {
  static final long HOLD_MILLIS = 100;

  private final Unsettled unsettled;
  private final BrokerLink link;
  private final Gate gate;
  private final HandedOver handedOver;
  private final Receiving receiving;
  private final Returning returns;

  Feeding(
      Unsettled unsettled,
      BrokerLink link,
      Gate gate,
      HandedOver handedOver,
      Receiving receiving,
      Returning returns) {
    this.unsettled = unsettled;
    this.link = link;
    this.gate = gate;
    this.handedOver = handedOver;
    this.receiving = receiving;
    this.returns = returns;
  }

  /**
   * Waits until the consumer has a message to hand over; false at the end. Where nothing is
   * prefetched, none is asked for before the pause is over.
   */
  boolean awaitMessage(ConsumerQueue consumer, ListenerPause pause) throws JMSException {
    gate.lock();
    boolean asks = false;
    try {
      while (!gate.isEnding()
          && !consumer.closed
          && (!consumer.isEmpty() || !consumer.hasEnded())) {
        long pauseNanos = pause.nanosLeft();
        if (!asks && (pauseNanos <= 0 || !consumer.isOnDemand())) {
          asks = true;
          consumer.waiters++;
          unsettled.pullMore(consumer);
        }
        if (pauseNanos <= 0 && gate.begins() && !consumer.isEmpty()) {
          return true;
        }
        gate.await(pauseNanos > 0 ? pauseNanos : Gate.FOREVER, "messages");
      }
      return false;
    } finally {
      consumer.waiters -= asks ? 1 : 0;
      gate.unlock();
    }
  }

  /** The pool is being asked for a session, which may take as long as it likes. */
  AtomicBoolean asking(ConsumerQueue consumer) {
    AtomicBoolean asked = new AtomicBoolean(true);
    if (consumer.isOnDemand()) {
      link.later(
          HOLD_MILLIS,
          () -> {
            if (asked.get()) {
              holdNothing(consumer);
            }
          });
    }
    return asked;
  }

  /** Gives back what waits, uncounted, where nothing is prefetched. */
  void holdNothing(ConsumerQueue consumer) {
    if (!consumer.isOnDemand()) {
      return;
    }
    List<Arrived> waiting = new ArrayList<>();
    BooleanSupplier stale =
        gate.look(
            () -> {
              waiting.addAll(consumer.drain());
              return handedOver.lossFromNow();
            });
    returns.unattempted(waiting, stale);
  }

  /** Asks for one message for a session that is there; it may be nothing. */
  Batch fetch(ConsumerQueue consumer) throws JMSException {
    gate.lock();
    try {
      Arrived taken = receiving.next(consumer, Gate.NO_WAIT);
      if (taken == null) {
        return new Batch(List.of(), handedOver.losses());
      }
      consumer.handedOver();
      return new Batch(List.of(taken), handedOver.losses());
    } finally {
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
          unsettled.pullMore(consumer);
          return new Batch(taken, handedOver.losses());
        });
  }

  /** Messages of a batch that nobody has begun with wait again, before all others. */
  void putBack(ConsumerQueue consumer, Batch batch, List<Arrived> messages) {
    boolean waiting =
        gate.look(
            () -> {
              if (unsettled.comesAgain(batch) || gate.isOver() || consumer.closed) {
                return false;
              }
              for (int i = messages.size() - 1; i >= 0; i--) {
                consumer.putBack(messages.get(i));
                var unused = consumer.settled();
              }
              return true;
            });
    if (!waiting) {
      unsettled.goesBack(batch, messages);
    }
  }
}
