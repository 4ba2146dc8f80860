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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
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

  /** Says what {@code Message.acknowledge} does with a message. */
  interface Acknowledgers {
    LightmqMessage.Acknowledger of(Arrived message);
  }

  private final Acknowledgers acknowledgers;
  private final Supplier<String> transaction;
  private final AckMode mode;
  private final BrokerLink link;
  private final Messages messages;
  private final Gate gate = new Gate();
  private final List<ConsumerQueue> consumers = new CopyOnWriteArrayList<>();
  private final HandedOver handedOver;
  private final Acknowledging acknowledging;
  private final Returning returns;
  private final Begun begun;
  private final Receiving receiving;
  private final Listening listening;
  private long arrivals;

  /**
   * The receiving half of one session.
   *
   * @param sessionId of the broker's session that its consumers belong to
   * @param transaction names the session's current transaction
   * @param tell tells the connection's exception listener
   */
  Inbox(
      AckMode mode,
      BrokerLink link,
      int sessionId,
      Messages messages,
      ClientSettings settings,
      String threadName,
      Acknowledgers acknowledgers,
      Supplier<String> transaction,
      Consumer<JMSException> tell) {
    this.mode = mode;
    this.link = link;
    this.messages = messages;
    this.acknowledgers = acknowledgers;
    this.transaction = transaction;
    int requestTimeoutMillis = settings.link().requestTimeoutMillis();
    this.handedOver = new HandedOver(mode, gate);
    this.acknowledging = new Acknowledging(mode, link, gate);
    this.begun = new Begun(mode, link, sessionId);
    this.returns = new Returning(mode, link, gate, requestTimeoutMillis);
    this.receiving = new Receiving(gate, requestTimeoutMillis);
    this.listening = new Listening(this, gate, mode, consumers, threadName, tell);
  }

  // ---- what the link tells ----

  void delivered(Frame.Deliver delivery, ConsumerQueue consumer) {
    gate.lock();
    try {
      List<Arrived> came = Arrived.of(delivery, consumer, arrivals);
      arrivals += came.size();
      gate.signal();
      if (gate.isClosed() || consumer.closed) {
        consumer.ended(delivery.pullId());
        returns.unattempted(came);
        return;
      }
      consumer.add(delivery.pullId(), came);
      pullMore(consumer);
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
            pullMore(consumer);
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
          pullMore(consumer);
        });
  }

  void lost() {
    gate.change(
        () -> {
          gate.linkUp(false);
          consumers.forEach(ConsumerQueue::lost);
          acknowledging.lost();
          handedOver.lost();
          begun.lost();
        });
    settled(listening.takeLoaded());
  }

  void restored() {
    gate.change(
        () -> {
          gate.linkUp(true);
          begun.restored();
          consumers.forEach(this::pullMore);
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

  /** Asks for more messages if there is room for them; with the gate's lock held. */
  void pullMore(ConsumerQueue consumer) {
    if (gate.pulls()) {
      consumer.pullIfNeeded();
    }
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
   * @return whether it may be closed in the broker too: false while messages that it handed over
   *     are not settled
   */
  boolean close(ConsumerQueue consumer) throws JMSException {
    List<Arrived> waiting;
    boolean over;
    gate.lock();
    try {
      consumer.closed = true;
      gate.signal();
      listening.awaitEnd(consumer);
      waiting = consumer.drain();
      over = consumer.isOver();
      if (over) {
        consumers.remove(consumer);
      }
      acknowledging.flush();
    } finally {
      gate.unlock();
    }
    if (!over) {
      returns.unattempted(waiting);
    }
    return over;
  }

  // ---- handing over ----

  /**
   * The next message, converted, or null when the time is over. A message that cannot be converted
   * stays first.
   */
  <T> @Nullable T receive(ConsumerQueue consumer, long waitMillis, Converter<T> converter)
      throws JMSException {
    Arrived next;
    int lossesBefore;
    begun.begins(false);
    gate.lock();
    try {
      next = receiving.next(consumer, waitMillis);
      lossesBefore = handedOver.losses();
      if (next == null) {
        return null;
      }
    } finally {
      gate.unlock();
    }
    T converted;
    try {
      converted = converter.convert(message(next));
    } catch (JMSException | RuntimeException e) {
      gate.change(
          () -> {
            boolean stale = handedOver.losses() != lossesBefore && mode != AckMode.NONE;
            if (!stale && !gate.isClosed() && !consumer.closed) {
              consumer.putBack(next);
            }
          });
      throw e;
    }
    gate.lock();
    try {
      if (mode.isExplicit()) {
        consumer.handedOver();
        handedOver.add(next, lossesBefore);
        begun.handedOver(next, false);
      } else {
        acknowledging.acknowledge(next);
      }
      pullMore(consumer);
    } finally {
      gate.unlock();
    }
    return converted;
  }

  /** The message in what has arrived. */
  LightmqMessage message(Arrived arrived) throws JMSException {
    try {
      LightmqMessage message =
          messages.received(
              arrived.entry(),
              arrived.deliveries(),
              mode == AckMode.TRANSACTED ? transaction.get() : null);
      message.onAcknowledge(acknowledgers.of(arrived));
      return message;
    } catch (MalformedMessageException e) {
      throw Messages.damaged(e);
    }
  }

  /** A message goes to a listener; with the gate's lock held. */
  void handOver(Arrived message) {
    handedOver.add(message, handedOver.losses());
    // A connection consumer's messages are in flight to its own session in the broker.
    message.consumer().inbox().begun.handedOver(message, true);
  }

  /** A listener has done its message; with the gate's lock held. */
  void acknowledge(Arrived message) {
    acknowledging.acknowledge(message);
  }

  /** Sends acknowledgements that wait for others; with the gate's lock held. */
  void flush() {
    acknowledging.flush();
  }

  // ---- start, stop, settle ----

  void start() {
    gate.change(
        () -> {
          gate.started(true);
          consumers.forEach(this::pullMore);
        });
  }

  /** Hands nothing over any more, and waits until a running listener has ended. */
  void stop() throws JMSException {
    gate.lock();
    try {
      gate.started(false);
      listening.awaitEnd(null);
    } finally {
      gate.unlock();
    }
  }

  /** What was handed over and not settled; the caller settles it. */
  List<Arrived> takeDelivered() {
    return handedOver.take();
  }

  /**
   * Whether messages that were handed over and not settled are lost with a connection, so that they
   * come again; asking forgets them.
   */
  boolean takeLost() {
    List<Arrived> lost = handedOver.takeLost();
    settled(lost);
    return !lost.isEmpty();
  }

  /** Takes one message that was handed over, to settle it; false if it is settled or lost. */
  boolean takeDelivered(Arrived place) {
    return handedOver.take(place);
  }

  /** Whether a message that was handed over is lost with a connection; asking forgets it. */
  boolean takeLost(Arrived place) {
    boolean lost = handedOver.takeLost(place);
    if (lost) {
      settled(List.of(place));
    }
    return lost;
  }

  /** These are acknowledged or given back; consumers that waited for it may be closed now. */
  void settled(List<Arrived> messages) {
    List<ConsumerQueue> over = new ArrayList<>();
    for (Arrived message : messages) {
      if (message.consumer().settled()) {
        over.add(message.consumer());
      }
    }
    if (over.isEmpty()) {
      return;
    }
    gate.change(
        () -> {
          consumers.removeAll(over);
          acknowledging.flush();
        });
    over.forEach(ConsumerQueue::detach);
  }

  /** The message whose listener runs on this thread, if any, is to be delivered again. */
  void recoverCurrent() {
    listening.recoverCurrent();
  }

  /**
   * Gives back what was handed over and what waits, so that it comes again in order. What a
   * connection consumer has loaded goes back with what waits there.
   */
  void recover(List<Arrived> attempted) throws JMSException {
    List<Arrived> loaded = listening.takeLoaded();
    Map<Inbox, List<Arrived>> attemptedIn = byInbox(attempted);
    Map<Inbox, List<Arrived>> loadedIn = byInbox(loaded);
    Set<Inbox> all = new LinkedHashSet<>(attemptedIn.keySet());
    all.addAll(loadedIn.keySet());
    all.add(this);
    try {
      for (Inbox each : all) {
        each.giveBack(
            each.consumers,
            attemptedIn.getOrDefault(each, List.of()),
            loadedIn.getOrDefault(each, List.of()),
            null);
      }
    } finally {
      settled(attempted);
      settled(loaded);
    }
  }

  private static Map<Inbox, List<Arrived>> byInbox(List<Arrived> messages) {
    Map<Inbox, List<Arrived>> parts = new LinkedHashMap<>();
    for (Arrived message : messages) {
      parts.computeIfAbsent(message.consumer().inbox(), inbox -> new ArrayList<>()).add(message);
    }
    return parts;
  }

  /** A listener has failed: its message comes again, before what waits behind it. */
  void comeAgain(Arrived message, @Nullable String cause) throws JMSException {
    List<Arrived> loaded = listening.takeLoaded();
    try {
      message
          .consumer()
          .inbox()
          .giveBack(List.of(message.consumer()), List.of(message), loaded, cause);
    } finally {
      settled(loaded);
    }
  }

  /** Gives back messages with all that waits in these consumers, which are this inbox's. */
  private void giveBack(
      List<ConsumerQueue> from,
      List<Arrived> attempted,
      List<Arrived> unattempted,
      @Nullable String cause)
      throws JMSException {
    try {
      returns.inOrder(from, attempted, unattempted, cause);
    } finally {
      gate.change(() -> consumers.forEach(this::pullMore));
    }
  }

  /** Gives back messages that were taken and not handed over, without waiting. */
  void unattempted(List<Arrived> taken) {
    returns.unattempted(taken);
    settled(taken);
  }

  // ---- connection consumers ----

  /** The listener of the session itself, which gets what connection consumers load. */
  Listening listening() {
    return listening;
  }

  /** Waits until the consumer has a message to hand over; false at the end. */
  boolean awaitMessage(ConsumerQueue consumer, ListenerPause pause) throws JMSException {
    gate.lock();
    consumer.waiters++;
    try {
      pullMore(consumer);
      while (!gate.isClosed()
          && !consumer.closed
          && (!consumer.isEmpty() || !consumer.hasEnded())) {
        long pauseNanos = pause.nanosLeft();
        if (pauseNanos <= 0 && gate.hands() && !consumer.isEmpty()) {
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

  /** Messages for a session, in order, with the count of connections lost before. */
  record Batch(List<Arrived> messages, int losses) {}

  /** Takes what waits in a consumer, at most so many; it may be nothing. */
  Batch take(ConsumerQueue consumer, int most) {
    return gate.look(
        () -> {
          List<Arrived> taken = new ArrayList<>();
          while (gate.hands() && taken.size() < most && !consumer.isEmpty()) {
            consumer.handedOver();
            taken.add(consumer.take());
          }
          pullMore(consumer);
          return new Batch(taken, handedOver.losses());
        });
  }

  /** Messages of a batch that nobody has begun with wait again, before all others. */
  void putBack(ConsumerQueue consumer, Batch batch, List<Arrived> messages) {
    boolean waiting =
        gate.look(
            () -> {
              if (isStale(batch) || gate.isClosed() || consumer.closed) {
                return false;
              }
              for (int i = messages.size() - 1; i >= 0; i--) {
                consumer.putBack(messages.get(i));
                var unused = consumer.settled();
              }
              return true;
            });
    if (!waiting) {
      unattempted(messages);
    }
  }

  /** Whether the connection that a batch came with is lost, so that it comes again. */
  boolean isStale(Batch batch) {
    return handedOver.losses() != batch.losses();
  }

  /** Sends acknowledgements that wait for others. */
  void flushNow() {
    gate.change(acknowledging::flush);
  }

  /** Ends it: wakes receivers, waits for a running listener and for the thread. */
  void close() throws JMSException {
    gate.lock();
    try {
      gate.close();
      acknowledging.flush();
      gate.signal();
      listening.awaitEnd(null);
      acknowledging.flush();
    } finally {
      gate.unlock();
    }
    unattempted(listening.takeLoaded());
    listening.join();
  }
}
