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
import java.util.function.Consumer;
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

  /** Acknowledges the session's messages, for {@code Message.acknowledge}. */
  private final LightmqMessage.Acknowledger acknowledger;

  private final Consumer<ConsumerQueue> detach;
  private final AckMode mode;
  private final BrokerLink link;
  private final Messages messages;
  private final Gate gate = new Gate();
  private final List<ConsumerQueue> consumers = new CopyOnWriteArrayList<>();
  private final HandedOver handedOver;
  private final Acknowledging acknowledging;
  private final Returning returns;
  private final Receiving receiving;
  private final Listening listening;
  private long arrivals;

  /**
   * The receiving half of one session.
   *
   * @param detach closes a consumer in the broker, whose last message is settled
   * @param tell tells the connection's exception listener
   */
  Inbox(
      AckMode mode,
      BrokerLink link,
      Messages messages,
      ClientSettings settings,
      String threadName,
      LightmqMessage.Acknowledger acknowledger,
      Consumer<ConsumerQueue> detach,
      Consumer<JMSException> tell) {
    this.mode = mode;
    this.link = link;
    this.messages = messages;
    this.acknowledger = acknowledger;
    this.detach = detach;
    int requestTimeoutMillis = settings.link().requestTimeoutMillis();
    this.handedOver = new HandedOver(mode, gate);
    this.acknowledging = new Acknowledging(mode, link, gate);
    this.returns = new Returning(link, gate, requestTimeoutMillis);
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
        });
  }

  void restored() {
    gate.change(
        () -> {
          gate.linkUp(true);
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
      over = consumer.unsettled == 0;
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
            if (handedOver.losses() == lossesBefore && !gate.isClosed() && !consumer.closed) {
              consumer.putBack(next);
            }
          });
      throw e;
    }
    gate.lock();
    try {
      handedOver.add(next, lossesBefore);
      if (!mode.isExplicit()) {
        consumer.unsettled--;
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
      LightmqMessage message = messages.received(arrived.entry(), arrived.deliveries());
      message.onAcknowledge(acknowledger);
      return message;
    } catch (MalformedMessageException e) {
      throw Messages.damaged(e);
    }
  }

  /** A message goes to a listener; with the gate's lock held. */
  void handOver(Arrived message) {
    handedOver.add(message, handedOver.losses());
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

  /** These are acknowledged or given back; consumers that waited for it may be closed now. */
  void settled(List<Arrived> messages) {
    List<ConsumerQueue> over = new ArrayList<>();
    gate.lock();
    try {
      for (Arrived message : messages) {
        ConsumerQueue consumer = message.consumer();
        consumer.unsettled--;
        if (consumer.unsettled == 0 && consumer.closed && consumers.remove(consumer)) {
          over.add(consumer);
        }
      }
      if (!over.isEmpty()) {
        acknowledging.flush();
      }
    } finally {
      gate.unlock();
    }
    over.forEach(detach);
  }

  /** The message whose listener runs on this thread, if any, is to be delivered again. */
  void recoverCurrent() {
    listening.recoverCurrent();
  }

  /** Gives back what was handed over and what waits, so that it comes again in order. */
  void recover(List<Arrived> attempted) throws JMSException {
    try {
      giveBack(consumers, attempted);
    } finally {
      settled(attempted);
    }
  }

  /** Gives back messages with all that waits in these consumers. */
  void giveBack(List<ConsumerQueue> from, List<Arrived> attempted) throws JMSException {
    try {
      returns.inOrder(from, attempted);
    } finally {
      gate.change(() -> consumers.forEach(this::pullMore));
    }
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
    listening.join();
  }
}
