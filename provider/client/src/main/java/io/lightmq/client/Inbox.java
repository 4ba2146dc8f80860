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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receiving half of a session: what its consumers got, who gets it next, and what of it is to
 * be acknowledged. One lock guards it; it is never held while an application's code runs or while
 * the broker is waited for.
 */
final class Inbox {
  private static final Logger LOG = LoggerFactory.getLogger(Inbox.class);

  /** Waits for ever. */
  static final long FOREVER = -1;

  /** Does not wait. */
  static final long NO_WAIT = 0;

  /** Turns a message into what the application asked for. */
  interface Converter<T> {
    T convert(LightmqMessage message) throws JMSException;
  }

  /** Acknowledges the session's messages, for {@code Message.acknowledge}. */
  private final LightmqMessage.Acknowledger acknowledger;

  private final Consumer<ConsumerQueue> detach;

  /** Tells the connection's exception listener. */
  private final Consumer<JMSException> tell;

  private final AckMode mode;
  private final Acknowledging acknowledging;
  private final Returning returns;
  private final BrokerLink link;
  private final Messages messages;
  private final ClientSettings settings;
  private final String threadName;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<ConsumerQueue> consumers = new CopyOnWriteArrayList<>();
  private final HandedOver handedOver;
  private boolean linkUp = true;
  private boolean started;
  private boolean closed;
  private boolean givingBack;
  private boolean redeliverCurrent;
  private long arrivals;
  private final ListenerPause pause = new ListenerPause();
  private @Nullable ListenerRunner dispatcher;
  private @Nullable ConsumerQueue dispatching;

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
    this.settings = settings;
    this.threadName = threadName;
    this.acknowledger = acknowledger;
    this.detach = detach;
    this.tell = tell;
    this.returns = new Returning(link);
    this.acknowledging = new Acknowledging(mode, link, lock);
    this.handedOver = new HandedOver(mode, lock);
  }

  // ---- what the link tells ----

  void delivered(Frame.Deliver delivery, ConsumerQueue consumer) {
    lock.lock();
    try {
      List<Arrived> came = Arrived.of(delivery, consumer, arrivals);
      arrivals += came.size();
      changed.signalAll();
      if (closed || consumer.closed) {
        consumer.ended(delivery.pullId());
        returns.unattempted(came);
        return;
      }
      consumer.add(delivery.pullId(), came);
      pullMore(consumer);
    } catch (MalformedMessageException e) {
      consumer.ended = Messages.damaged(e);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void pullEnded(Frame.PullEnd end, ConsumerQueue consumer) {
    lock.lock();
    try {
      if (end.code() == FaultCode.OK) {
        consumer.ended(end.pullId());
        pullMore(consumer);
      } else if (end.code() == FaultCode.RETRY_LATER) {
        link.later(Math.max(1, end.retryAfterMillis()), () -> pullAgain(consumer, end.pullId()));
      } else {
        consumer.ended =
            JmsFaults.of(end.code(), "the broker has ended the consumer: " + end.code(), null);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The broker had no room for an answer, which says nothing about what waits there. */
  private void pullAgain(ConsumerQueue consumer, int pullId) {
    change(
        () -> {
          consumer.putOff(pullId);
          pullMore(consumer);
        });
  }

  void lost() {
    change(
        () -> {
          linkUp = false;
          consumers.forEach(ConsumerQueue::lost);
          acknowledging.lost();
          handedOver.lost();
        });
  }

  void restored() {
    change(
        () -> {
          linkUp = true;
          consumers.forEach(this::pullMore);
        });
  }

  /** The link has ended: the consumer gets nothing any more. */
  void failed(ConsumerQueue consumer, LinkException cause) {
    change(
        () -> {
          consumer.ended =
              JmsFaults.of(cause.code(), "the connection has failed: " + cause.getMessage(), cause);
        });
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void pullMore(ConsumerQueue consumer) {
    if (started && linkUp && !closed && !givingBack) {
      consumer.pullIfNeeded();
    }
  }

  // ---- consumers ----

  void add(ConsumerQueue consumer) {
    change(
        () -> {
          consumers.add(consumer);
        });
  }

  /** Sets or removes a listener; one that runs is waited for. */
  void listen(ConsumerQueue consumer, @Nullable MessageListener listener) throws JMSException {
    lock.lock();
    try {
      awaitListener(consumer);
      consumer.listener = listener;
      if (listener != null) {
        consumer.active = true;
        startDispatcher();
        pullMore(consumer);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Nullable MessageListener listener(ConsumerQueue consumer) {
    lock.lock();
    try {
      return consumer.listener;
    } finally {
      lock.unlock();
    }
  }

  private void awaitListener(@Nullable ConsumerQueue consumer) throws JMSException {
    while (dispatching != null
        && (consumer == null || dispatching == consumer)
        && !isDispatcher()) {
      await(FOREVER, "a message listener to end");
    }
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
    lock.lock();
    try {
      consumer.closed = true;
      changed.signalAll();
      awaitListener(consumer);
      waiting = consumer.drain();
      over = consumer.unsettled == 0;
      if (over) {
        consumers.remove(consumer);
      }
      acknowledging.flush();
    } finally {
      lock.unlock();
    }
    if (!over) {
      returns.unattempted(waiting);
    }
    return over;
  }

  // ---- receiving ----

  /**
   * The next message, converted, or null when the time is over. A message that cannot be converted
   * stays first.
   */
  <T> @Nullable T receive(ConsumerQueue consumer, long waitMillis, Converter<T> converter)
      throws JMSException {
    Arrived next;
    int lossesBefore;
    lock.lock();
    try {
      next = next(consumer, waitMillis);
      lossesBefore = handedOver.losses();
      if (next == null) {
        return null;
      }
    } finally {
      lock.unlock();
    }
    T converted;
    try {
      converted = converter.convert(message(next));
    } catch (JMSException | RuntimeException e) {
      lock.lock();
      try {
        if (handedOver.losses() == lossesBefore && !closed && !consumer.closed) {
          consumer.putBack(next);
        }
      } finally {
        lock.unlock();
      }
      throw e;
    }
    lock.lock();
    try {
      handedOver.add(next, lossesBefore);
      if (!mode.isExplicit()) {
        consumer.unsettled--;
        acknowledging.acknowledge(next);
      }
      pullMore(consumer);
    } finally {
      lock.unlock();
    }
    return converted;
  }

  private @Nullable Arrived next(ConsumerQueue consumer, long waitMillis) throws JMSException {
    if (consumer.listener != null) {
      throw JmsFaults.illegalState(
          "the consumer has a message listener, so receive is not allowed");
    }
    consumer.active = true;
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.max(0, waitMillis));
    int lastAsk = 0;
    long answerByNanos = 0;
    while (!closed && !consumer.closed) {
      if (started && !givingBack && !consumer.isEmpty()) {
        return consumer.take();
      }
      if (consumer.ended != null) {
        throw consumer.ended;
      }
      long now = System.nanoTime();
      if (waitMillis == FOREVER || now < deadlineNanos) {
        pullMore(consumer);
        await(waitMillis == FOREVER ? FOREVER : deadlineNanos - now, "a message");
        continue;
      }
      if (!started || !linkUp || (lastAsk != 0 && consumer.wasEmpty(lastAsk))) {
        return null;
      }
      if (lastAsk == 0 || !consumer.isOpen(lastAsk)) {
        if (lastAsk == 0) {
          answerByNanos =
              now + TimeUnit.MILLISECONDS.toNanos(settings.link().requestTimeoutMillis());
        }
        lastAsk = consumer.pullNow();
      }
      if (now - answerByNanos >= 0) {
        if (consumer.isPutOff(lastAsk)) {
          throw JmsFaults.of(
              FaultCode.RETRY_LATER,
              "the broker put off the question for messages again and again for "
                  + settings.link().requestTimeoutMillis()
                  + " ms (option requestTimeoutMillis); try later",
              null);
        }
        return null;
      }
      await(answerByNanos - now, "a message");
    }
    return null;
  }

  private void await(long nanos, String what) throws JMSException {
    try {
      if (nanos == FOREVER) {
        changed.await();
      } else {
        var unused = changed.awaitNanos(nanos);
      }
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted(what, e);
    }
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

  // ---- listening ----

  private void startDispatcher() {
    if (dispatcher == null && !closed) {
      dispatcher = ListenerRunner.start(this, threadName, tell);
    }
  }

  /** Whether the calling thread is the one that runs listeners. */
  boolean isDispatcher() {
    return dispatcher != null && dispatcher.isCurrent();
  }

  /** A message that is to be given to its consumer's listener. */
  record Work(Arrived message, MessageListener listener) {}

  /** The next message for a listener, oldest first; null at the end. */
  @Nullable Work awaitWork() {
    lock.lock();
    try {
      while (!closed) {
        long pauseNanos = pause.nanosLeft();
        ConsumerQueue ready =
            started && !givingBack && pauseNanos <= 0 ? ConsumerQueue.oldest(consumers) : null;
        if (ready != null && ready.listener != null) {
          Arrived next = ready.take();
          dispatching = ready;
          handedOver.add(next, handedOver.losses());
          pullMore(ready);
          return new Work(next, ready.listener);
        }
        awaitForWork(pauseNanos);
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private void awaitForWork(long pauseNanos) {
    try {
      if (pauseNanos > 0) {
        var unused = changed.awaitNanos(pauseNanos);
      } else {
        changed.await();
      }
    } catch (InterruptedException e) {
      LOG.debug("{} was interrupted while waiting for messages; it goes on", threadName);
    }
  }

  /** A listener has returned, or failed. */
  void listened(Arrived message, boolean failed) {
    if (!mode.isExplicit() && !settleListened(message, failed)) {
      try {
        giveBack(List.of(message.consumer()), List.of(message));
      } catch (JMSException e) {
        LOG.debug("{}: returning a message failed", threadName, e);
      }
    }
    change(() -> dispatching = null);
    if (!mode.isExplicit()) {
      settled(List.of(message));
    }
  }

  /** Acknowledges it, unless it is to come again: then false. */
  private boolean settleListened(Arrived message, boolean failed) {
    lock.lock();
    try {
      boolean again = failed || redeliverCurrent;
      redeliverCurrent = false;
      if (again) {
        pause.failed();
        acknowledging.flush();
      } else {
        pause.succeeded();
        acknowledging.acknowledge(message);
      }
      return !again;
    } finally {
      lock.unlock();
    }
  }

  // ---- start, stop, settle ----

  void start() {
    change(
        () -> {
          started = true;
          consumers.forEach(this::pullMore);
        });
  }

  /** Hands nothing over any more, and waits until a running listener has ended. */
  void stop() throws JMSException {
    lock.lock();
    try {
      started = false;
      awaitListener(null);
    } finally {
      lock.unlock();
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
    lock.lock();
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
      lock.unlock();
    }
    over.forEach(detach);
  }

  /** The message whose listener runs on this thread, if any, is to be delivered again. */
  void recoverCurrent() {
    change(
        () -> {
          redeliverCurrent = dispatching != null && isDispatcher();
        });
  }

  /** Gives back what was handed over and what waits, so that it comes again in order. */
  void recover(List<Arrived> attempted) throws JMSException {
    try {
      giveBack(consumers, attempted);
    } finally {
      settled(attempted);
    }
  }

  /**
   * Gives back messages and all that waits in, or is on its way to, these consumers: what still
   * came after the return would overtake what was returned.
   */
  private void giveBack(List<ConsumerQueue> from, List<Arrived> attempted) throws JMSException {
    change(
        () -> {
          givingBack = true;
          endPulls(from);
        });
    try {
      returns.all(attempted, drain(from));
      // A pull that did not end in time may have been answered between the two, with later
      // messages.
      returns.all(List.of(), drain(from));
    } finally {
      change(
          () -> {
            givingBack = false;
            consumers.forEach(this::pullMore);
          });
    }
  }

  private List<Arrived> drain(List<ConsumerQueue> from) {
    lock.lock();
    try {
      return from.stream().flatMap(consumer -> consumer.drain().stream()).toList();
    } finally {
      lock.unlock();
    }
  }

  private void endPulls(List<ConsumerQueue> from) {
    from.forEach(ConsumerQueue::endPull);
    long leftNanos = TimeUnit.MILLISECONDS.toNanos(settings.link().requestTimeoutMillis());
    try {
      while (linkUp && leftNanos > 0 && from.stream().anyMatch(ConsumerQueue::isPulling)) {
        leftNanos = changed.awaitNanos(leftNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // waiting for the returns ends with it
    }
  }

  /** Ends it: wakes receivers, waits for a running listener and for the thread. */
  void close() throws JMSException {
    ListenerRunner ending;
    lock.lock();
    try {
      closed = true;
      acknowledging.flush();
      changed.signalAll();
      awaitListener(null);
      acknowledging.flush();
      ending = dispatcher;
    } finally {
      lock.unlock();
    }
    if (ending != null) {
      ending.join();
    }
  }
}
