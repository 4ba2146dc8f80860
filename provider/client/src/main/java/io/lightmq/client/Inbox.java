package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.message.LightmqMessage;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a session: what its consumers got, who gets it next, and what of it is to
 * be acknowledged. One {@link Gate} guards it.
 */
final class Inbox {
  /** Turns a message into what the application asked for. */
  interface Converter<T> {
    T convert(LightmqMessage message) throws JMSException;
  }

  /** Whose inbox it is: a session, or a consumer of a connection. */
  interface Owner {
    /** The name of its threads. */
    String name();

    /** What {@code Message.acknowledge} does with a message. */
    LightmqMessage.Acknowledger acknowledger(Arrived message);

    /** The name of its current transaction. */
    String transaction();

    /** Tells the connection's exception listener. */
    void tell(JMSException failure);

    /** Whether the calling thread runs a listener of the connection. */
    boolean isInListener();
  }

  private final BrokerLink link;
  private final Gate gate;
  private final List<ConsumerQueue> consumers = new CopyOnWriteArrayList<>();
  private final HandedOver handedOver;
  private final Acknowledging acknowledging;
  private final Returning returns;
  private final Begun begun;
  private final Receiving receiving;
  private final Unpacking unpacking;
  private final Loaded loaded;
  private final Unsettled unsettled;
  private final Listening listening;
  private final Feeding feeding;
  private long arrivals;

  /**
   * The receiving half of one session.
   *
   * @param sessionId of the broker's session that its consumers belong to
   * @param refusals of the session
   */
  Inbox(
      AckMode mode,
      BrokerLink link,
      int sessionId,
      Messages messages,
      ClientSettings settings,
      Owner owner,
      Refusals refusals) {
    this.link = link;
    this.gate = new Gate(owner::isInListener);
    int requestTimeoutMillis = settings.link().timeouts().requestMillis();
    this.handedOver = new HandedOver(mode, gate);
    this.acknowledging = new Acknowledging(mode, link, gate);
    this.begun = new Begun(mode, link, sessionId);
    this.returns = new Returning(mode, link, gate, handedOver, requestTimeoutMillis);
    this.receiving = new Receiving(gate, requestTimeoutMillis);
    this.unpacking = new Unpacking(mode, messages, owner);
    this.loaded = new Loaded(gate);
    this.unsettled =
        new Unsettled(
            mode, link, gate, consumers, handedOver, acknowledging, returns, begun, loaded);
    this.listening =
        new Listening(
            unsettled,
            loaded,
            unpacking,
            gate,
            mode,
            consumers,
            owner.name(),
            owner::tell,
            refusals);
    this.feeding = new Feeding(unsettled, link, gate, handedOver, receiving, returns);
  }

  // ---- what the link tells ----

  void delivered(Frame.Deliver delivery, ConsumerQueue consumer) {
    gate.lock();
    try {
      List<Arrived> came = Arrived.of(delivery, consumer, arrivals);
      arrivals += came.size();
      gate.signal();
      if (gate.isClosed()
          || consumer.closed
          || (gate.isEnding() && consumer.receivers == 0)
          || consumer.isUnwanted(gate.isStarted())) {
        consumer.ended(delivery.pullId());
        returns.unattempted(came, handedOver.lossFromNow());
        return;
      }
      consumer.add(delivery.pullId(), came);
      unsettled.pullMore(consumer);
    } catch (MalformedMessageException e) {
      consumer.ended = Messages.damaged(e);
      gate.signal();
    } finally {
      gate.unlock();
    }
  }

  void pullEnded(Frame.PullEnd end, ConsumerQueue consumer) {
    gate.change(
        () -> {
          if (end.code() == FaultCode.OK) {
            consumer.ended(end.pullId());
            unsettled.pullMore(consumer);
          } else if (end.code() == FaultCode.RETRY_LATER) {
            link.later(
                Math.max(1, end.retryAfterMillis()), () -> pullAgain(consumer, end.pullId()));
          } else {
            consumer.ended =
                JmsFaults.of(end.code(), "the broker has ended the consumer: " + end.code(), null);
          }
        });
  }

  /** The broker had no room for an answer, which says nothing about what waits there. */
  private void pullAgain(ConsumerQueue consumer, int pullId) {
    gate.change(
        () -> {
          consumer.putOff(pullId);
          unsettled.pullMore(consumer);
        });
  }

  void lost() {
    List<Arrived> gone =
        gate.look(
            () -> {
              gate.linkUp(false);
              consumers.forEach(ConsumerQueue::lost);
              acknowledging.lost();
              begun.lost();
              return handedOver.lost();
            });
    unsettled.settled(gone); // for the broker has it back
    unsettled.settled(loaded.takeAll());
  }

  void restored() {
    gate.change(
        () -> {
          gate.linkUp(true);
          begun.restored();
          consumers.forEach(unsettled::pullMore);
        });
  }

  /** The link has ended: the consumer gets nothing any more. */
  void failed(ConsumerQueue consumer, LinkException cause) {
    gate.change(
        () ->
            consumer.ended =
                JmsFaults.of(
                    cause.code(), "the connection has failed: " + cause.getMessage(), cause));
  }

  /** What is guarded by the gate is being touched. */
  void checkHeld() {
    gate.checkHeld();
  }

  // ---- consumers ----

  void add(ConsumerQueue consumer) {
    gate.change(() -> consumers.add(consumer));
  }

  /** Sets or removes a listener; one that runs is waited for. */
  void listen(ConsumerQueue consumer, @Nullable MessageListener listener) throws JMSException {
    if (listener != null) {
      begun.begins(true);
    }
    listening.set(consumer, listener);
  }

  @Nullable MessageListener listener(ConsumerQueue consumer) {
    gate.lock();
    try {
      return consumer.listener;
    } finally {
      gate.unlock();
    }
  }

  /** Whether the calling thread is the one that runs listeners. */
  boolean isDispatcher() {
    return listening.isCurrent();
  }

  /**
   * Closes a consumer for the application; what waits in it goes back.
   *
   * @param awaitListener whether to wait for the end of its listener, if that runs
   * @return whether it may be closed in the broker too: false while messages that it handed over
   *     are not settled
   */
  boolean close(ConsumerQueue consumer, boolean awaitListener) {
    List<Arrived> waiting;
    BooleanSupplier stale;
    boolean over;
    gate.lock();
    try {
      consumer.closed = true;
      gate.signal();
      if (awaitListener) {
        listening.awaitEnd(consumer);
      }
      waiting = consumer.drain();
      stale = handedOver.lossFromNow();
      over = consumer.isOver();
      if (over) {
        consumers.remove(consumer);
      }
      acknowledging.flush();
    } finally {
      gate.unlock();
    }
    if (!over) {
      returns.unattempted(waiting, stale);
    }
    return over;
  }

  // ---- handing over ----

  /**
   * The next message, converted, or null when the time is over. A message that cannot be converted
   * stays first (section 8.6 of the specification), but for a damaged one, which has failed an
   * attempt. While it is converted, which runs code of the application, its consumer stays open in
   * the broker for it; if consumer or session is closed meanwhile, it goes back unseen.
   */
  <T> @Nullable T receive(ConsumerQueue consumer, long waitMillis, Converter<T> converter)
      throws JMSException {
    Batch next;
    begun.begins(false);
    gate.lock();
    try {
      Arrived taken = receiving.next(consumer, waitMillis);
      if (taken == null) {
        return null;
      }
      consumer.handedOver();
      next = new Batch(List.of(taken), handedOver.losses());
    } finally {
      gate.unlock();
    }
    T converted;
    try {
      converted = converter.convert(unpacking.message(next.messages().get(0)));
    } catch (Throwable e) { // errors too, or nobody knows of the message any more
      if (Receiving.isDamage(e)) {
        attempted(consumer, next, e);
      } else {
        feeding.putBack(consumer, next, next.messages());
      }
      throw e;
    }
    return handOver(consumer, next) ? converted : null;
  }

  /** A damaged message comes again, or becomes a dead letter. */
  private void attempted(ConsumerQueue consumer, Batch batch, Throwable failure) {
    unsettled.flushNow();
    try {
      String cause = Listening.text(failure);
      unsettled.giveBack(
          List.of(consumer), batch.messages(), List.of(), cause, () -> unsettled.isStale(batch));
    } catch (JMSException e) {
      failure.addSuppressed(e);
    } finally {
      unsettled.settled(batch.messages());
    }
  }

  /** Hands over what is converted; false if it went back, since consumer or session are closed. */
  private boolean handOver(ConsumerQueue consumer, Batch next) {
    Arrived message = next.messages().get(0);
    boolean[] settled = new boolean[1];
    boolean open =
        gate.look(
            () -> {
              if (gate.isOver() || consumer.closed) {
                return false;
              }
              if (handedOver.keeps()) {
                settled[0] = !handedOver.add(message, next.losses());
                begun.handedOver(message, false);
              } else {
                settled[0] = true;
                acknowledging.acknowledge(message);
              }
              unsettled.pullMore(consumer);
              return true;
            });
    if (!open) {
      unsettled.goesBack(next, next.messages());
    } else if (settled[0]) {
      unsettled.settled(next.messages());
    }
    return open;
  }

  // ---- start, stop, settle ----

  void start() {
    gate.change(
        () -> {
          gate.started(true);
          consumers.forEach(unsettled::pullMore);
        });
  }

  /** Hands nothing over any more; a listener that runs goes on. */
  void pause() {
    gate.change(() -> gate.started(false));
  }

  /** Waits until a listener that runs has ended; an interrupt does not end that. */
  void awaitListener() {
    gate.lock();
    try {
      listening.awaitEnd(null);
    } finally {
      gate.unlock();
    }
  }

  /** The listener of the session itself, which gets what connection consumers load. */
  Listening listening() {
    return listening;
  }

  /** What is handed over and neither acknowledged nor given back. */
  Unsettled unsettled() {
    return unsettled;
  }

  /** What a connection consumer has given the session of this inbox. */
  Loaded loaded() {
    return loaded;
  }

  /** What a connection consumer takes from here. */
  Feeding feeding() {
    return feeding;
  }

  /** Whether the calling thread gets no messages any more. */
  boolean isOver() {
    return gate.look(gate::isOver);
  }

  /**
   * From now on nothing new is begun: receivers return, and what waits goes back, uncounted. A
   * listener that runs goes on, and may receive.
   */
  void end() {
    List<Arrived> waiting = new ArrayList<>();
    BooleanSupplier stale =
        gate.look(
            () -> {
              gate.end();
              acknowledging.flush();
              consumers.forEach(consumer -> waiting.addAll(consumer.drain()));
              gate.signal();
              return handedOver.lossFromNow();
            });
    returns.unattempted(waiting, stale);
    unsettled.unattempted(loaded.takeAll());
  }

  /** Closes it: waits for a running listener and for the thread. */
  void close() {
    gate.lock();
    try {
      gate.close();
      gate.signal();
      listening.awaitEnd(null);
      acknowledging.flush();
    } finally {
      gate.unlock();
    }
    unsettled.unattempted(loaded.takeAll());
    listening.join();
  }
}
