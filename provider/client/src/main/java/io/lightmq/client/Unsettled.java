package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What has left the consumers of an inbox and is not settled: it is acknowledged, or it comes
 * again. Who takes messages from the inbox, be it a receiver, a listener or a connection consumer,
 * knows this and not the inbox.
 */
final class Unsettled {
  private final AckMode mode;
  private final BrokerLink link;
  private final Gate gate;
  private final List<ConsumerQueue> consumers;
  private final HandedOver handedOver;
  private final Acknowledging acknowledging;
  private final Returning returns;
  private final Begun begun;
  private final Loaded loaded;

  /**
   * Of one inbox.
   *
   * @param consumers of the inbox; those that are over leave as their last message is settled
   * @param loaded what goes back with what was handed over
   */
  Unsettled(
      AckMode mode,
      BrokerLink link,
      Gate gate,
      List<ConsumerQueue> consumers,
      HandedOver handedOver,
      Acknowledging acknowledging,
      Returning returns,
      Begun begun,
      Loaded loaded) {
    this.mode = mode;
    this.link = link;
    this.gate = gate;
    this.consumers = consumers;
    this.handedOver = handedOver;
    this.acknowledging = acknowledging;
    this.returns = returns;
    this.begun = begun;
    this.loaded = loaded;
  }

  /** Asks for more messages if there is room for them; with the gate's lock held. */
  void pullMore(ConsumerQueue consumer) {
    gate.checkHeld();
    if (gate.prefetches()) {
      consumer.pullIfNeeded();
    }
  }

  /**
   * A message goes to a listener; with the gate's lock held.
   *
   * @return whether a connection was lost since
   */
  BooleanSupplier handOver(Arrived message) {
    gate.checkHeld();
    var unused = handedOver.add(message, handedOver.losses()); // none is lost with the lock held
    // A connection consumer's messages are in flight to its own session in the broker.
    message.consumer().unsettled().begun.handedOver(message, true);
    return handedOver.lossFromNow();
  }

  /** What is handed over and not settled. */
  HandedOver handedOver() {
    return handedOver;
  }

  /** A listener has done its message; with the gate's lock held. */
  void acknowledge(Arrived message) {
    gate.checkHeld();
    acknowledging.acknowledge(message);
  }

  /** Sends acknowledgements that wait for others; with the gate's lock held. */
  void flush() {
    gate.checkHeld();
    acknowledging.flush();
  }

  /**
   * What was handed over, for the caller to settle, and what of it was lost with connections.
   *
   * @throws JMSException if the session was closed in this moment, which has settled it
   */
  HandedOver.Taken take() throws JMSException {
    return checked(handedOver.take());
  }

  /** As {@link #take()} one message, which is in neither list if it is settled. */
  HandedOver.Taken take(Arrived place) throws JMSException {
    return checked(handedOver.take(place));
  }

  private HandedOver.Taken checked(HandedOver.Taken taken) throws JMSException {
    if (taken.ended()) {
      throw JmsFaults.closed("session");
    }
    return taken;
  }

  /** Gives back what is left when the session is closed, counted or not, without waiting. */
  void giveBackLast(boolean counted) {
    HandedOver.Taken last = handedOver.end();
    if (!last.open().isEmpty()) {
      var unused = link.giveBack(Arrived.places(last.open()), counted, null, last.stale());
    }
    settled(last.open()); // connection consumers may wait for it
  }

  /** What could not be settled is as it was before it was taken, or lost with its connection. */
  void untake(HandedOver.Taken taken) {
    if (!handedOver.putBack(taken)) {
      settled(taken.open());
    }
  }

  /** These are acknowledged or given back; consumers that waited for it may be closed now. */
  void settled(List<Arrived> messages) {
    List<ConsumerQueue> over = new ArrayList<>();
    for (Arrived message : messages) {
      if (message.consumer().settled()) {
        over.add(message.consumer());
      }
    }
    if (!over.isEmpty()) {
      gate.change(
          () -> {
            consumers.removeAll(over);
            acknowledging.flush();
          });
    }
    over.forEach(ConsumerQueue::detach);
  }

  /**
   * Gives back what was handed over and what waits, so that it comes again in order. What a
   * connection consumer has loaded goes back with what waits there.
   *
   * @param counted whether an attempt of what was handed over has failed
   */
  void recover(HandedOver.Taken taken, boolean counted) throws JMSException {
    List<Arrived> attempted = taken.open();
    List<Arrived> unrun = loaded.takeAll();
    Map<Unsettled, List<Arrived>> attemptedIn = byWhoseTheyAre(counted ? attempted : List.of());
    Map<Unsettled, List<Arrived>> unrunIn = byWhoseTheyAre(unrun);
    if (!counted) {
      byWhoseTheyAre(attempted)
          .forEach(
              (whose, some) -> unrunIn.computeIfAbsent(whose, n -> new ArrayList<>()).addAll(some));
    }
    Set<Unsettled> all = new LinkedHashSet<>(attemptedIn.keySet());
    all.addAll(unrunIn.keySet());
    all.add(this);
    try {
      for (Unsettled each : all) {
        each.giveBack(
            each.consumers,
            attemptedIn.getOrDefault(each, List.of()),
            unrunIn.getOrDefault(each, List.of()),
            null,
            taken.stale());
      }
    } finally {
      settled(attempted);
      settled(unrun);
    }
  }

  /**
   * A listener has failed: its message comes again, before what waits behind it.
   *
   * @param counted whether that is a failed attempt
   */
  void comeAgain(Arrived message, boolean counted, @Nullable String cause, BooleanSupplier stale)
      throws JMSException {
    List<Arrived> unrun = loaded.takeAll();
    List<Arrived> attempted = counted ? List.of(message) : List.of();
    List<Arrived> unattempted = new ArrayList<>(counted ? List.of() : List.of(message));
    unattempted.addAll(unrun);
    try {
      Unsettled from = message.consumer().unsettled();
      from.giveBack(List.of(message.consumer()), attempted, unattempted, cause, stale);
    } finally {
      settled(unrun);
    }
  }

  /** Gives back messages with all that waits in these consumers, which are this inbox's. */
  void giveBack(
      List<ConsumerQueue> from,
      List<Arrived> attempted,
      List<Arrived> unattempted,
      @Nullable String cause,
      BooleanSupplier stale)
      throws JMSException {
    try {
      returns.inOrder(from, attempted, unattempted, cause, stale);
    } finally {
      gate.change(() -> consumers.forEach(this::pullMore));
    }
  }

  /** Gives back messages that were taken and not handed over, without waiting. */
  void unattempted(List<Arrived> taken) {
    returns.unattempted(taken, gate.look(handedOver::lossFromNow));
    settled(taken);
  }

  /** Gives back messages of a batch that nobody has begun with, without waiting. */
  void goesBack(Batch batch, List<Arrived> messages) {
    returns.unattempted(messages, () -> isStale(batch));
    settled(messages);
  }

  /** Whether the connection that a batch came with is lost. */
  boolean isStale(Batch batch) {
    return handedOver.losses() != batch.losses();
  }

  /** Whether a batch is delivered again, because it is not acknowledged and its connection lost. */
  boolean comesAgain(Batch batch) {
    return isStale(batch) && mode != AckMode.NONE;
  }

  /** Sends acknowledgements that wait for others. */
  void flushNow() {
    gate.change(acknowledging::flush);
  }

  /** The messages by whose they were when they came. */
  private static Map<Unsettled, List<Arrived>> byWhoseTheyAre(List<Arrived> messages) {
    Map<Unsettled, List<Arrived>> parts = new LinkedHashMap<>();
    for (Arrived message : messages) {
      parts
          .computeIfAbsent(message.consumer().unsettled(), whose -> new ArrayList<>())
          .add(message);
    }
    return parts;
  }
}
