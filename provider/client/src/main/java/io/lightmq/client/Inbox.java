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

  private static final long MAX_PAUSE_MILLIS = 1_000;

  /** Turns a message into what the application asked for. */
  interface Converter<T> {
    T convert(LightmqMessage message) throws JMSException;
  }

  /** Acknowledges the session's messages, for {@code Message.acknowledge}. */
  private final LightmqMessage.Acknowledger acknowledger;

  private final Consumer<ConsumerQueue> detach;
  private final AckMode mode;
  private final Acknowledging acknowledging;
  private final Returning returns;
  private final BrokerLink link;
  private final Messages messages;
  private final ClientSettings settings;
  private final String threadName;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<ConsumerQueue> consumers = new ArrayList<>();
  private List<Arrived> delivered = new ArrayList<>();
  private boolean linkUp = true;
  private boolean started;
  private boolean closed;
  private boolean givingBack;
  private boolean transactionLost;
  private boolean redeliverCurrent;
  private long arrivals;
  private int failuresInARow;
  private long pauseUntilNanos;
  private @Nullable Thread dispatcher;
  private @Nullable ConsumerQueue dispatching;

  Inbox(
      AckMode mode,
      BrokerLink link,
      Messages messages,
      ClientSettings settings,
      String threadName,
      LightmqMessage.Acknowledger acknowledger,
      Consumer<ConsumerQueue> detach) {
    this.mode = mode;
    this.link = link;
    this.messages = messages;
    this.settings = settings;
    this.threadName = threadName;
    this.acknowledger = acknowledger;
    this.detach = detach;
    this.returns = new Returning(link);
    this.acknowledging = new Acknowledging(mode, link, lock);
  }

  // ---- what the link tells ----

  void delivered(Frame.Deliver delivery, ConsumerQueue consumer) {
    lock.lock();
    try {
      List<Arrived> came = Arrived.of(delivery, consumer, arrivals);
      arrivals += came.size();
      if (closed || consumer.closed) {
        consumer.ended(delivery.pullId());
        returns.unattempted(came);
        return;
      }
      consumer.add(delivery.pullId(), came);
      pullMore(consumer);
      changed.signalAll();
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
        Frame.PullEnd over = new Frame.PullEnd(end.consumerId(), end.pullId(), FaultCode.OK, 0);
        link.later(Math.max(1, end.retryAfterMillis()), () -> pullEnded(over, consumer));
      } else {
        consumer.ended =
            JmsFaults.of(end.code(), "the broker has ended the consumer: " + end.code(), null);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void lost() {
    lock.lock();
    try {
      linkUp = false;
      consumers.forEach(ConsumerQueue::lost);
      acknowledging.lost();
      if (mode == AckMode.TRANSACTED && !delivered.isEmpty()) {
        transactionLost = true;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void restored() {
    lock.lock();
    try {
      linkUp = true;
      consumers.forEach(this::pullMore);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The link has ended: the consumer gets nothing any more. */
  void failed(ConsumerQueue consumer, LinkException cause) {
    lock.lock();
    try {
      consumer.ended =
          JmsFaults.of(cause.code(), "the connection has failed: " + cause.getMessage(), cause);
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
    lock.lock();
    try {
      consumers.add(consumer);
    } finally {
      lock.unlock();
    }
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
    lock.lock();
    try {
      next = next(consumer, waitMillis);
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
        if (linkUp && !closed && !consumer.closed) {
          consumer.putBack(next);
        }
      } finally {
        lock.unlock();
      }
      throw e;
    }
    lock.lock();
    try {
      handedOver(next);
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

  private void handedOver(Arrived message) {
    message.consumer().unsettled++;
    if (mode.isExplicit()) {
      delivered.add(message.placeOnly());
    }
  }

  // ---- listening ----

  private void startDispatcher() {
    if (dispatcher == null && !closed) {
      dispatcher = new Thread(new ListenerRunner(this, threadName), threadName);
      dispatcher.setDaemon(false);
      dispatcher.start();
    }
  }

  /** Whether the calling thread is the one that runs listeners. */
  boolean isDispatcher() {
    return Thread.currentThread() == dispatcher;
  }

  /** A message that is to be given to its consumer's listener. */
  record Work(Arrived message, MessageListener listener) {}

  /** The next message for a listener, oldest first; null at the end. */
  @Nullable Work awaitWork() {
    lock.lock();
    try {
      while (!closed) {
        long pause = failuresInARow == 0 ? 0 : pauseUntilNanos - System.nanoTime();
        ConsumerQueue ready = started && !givingBack && pause <= 0 ? oldest() : null;
        if (ready != null && ready.listener != null) {
          Arrived next = ready.take();
          dispatching = ready;
          handedOver(next);
          pullMore(ready);
          return new Work(next, ready.listener);
        }
        awaitForWork(pause);
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

  private @Nullable ConsumerQueue oldest() {
    ConsumerQueue best = null;
    long number = Long.MAX_VALUE;
    for (ConsumerQueue consumer : consumers) {
      Arrived first = consumer.peek();
      if (first != null
          && consumer.listener != null
          && !consumer.closed
          && first.number() < number) {
        best = consumer;
        number = first.number();
      }
    }
    return best;
  }

  /** A listener has returned, or failed. */
  void listened(Arrived message, boolean failed) {
    lock.lock();
    try {
      if (!mode.isExplicit()) {
        settleListened(message, failed || redeliverCurrent);
        redeliverCurrent = false;
      }
      dispatching = null;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (!mode.isExplicit()) {
      settled(List.of(message));
    }
  }

  private void settleListened(Arrived message, boolean failed) {
    if (!failed) {
      failuresInARow = 0;
      acknowledging.acknowledge(message);
      return;
    }
    failuresInARow++;
    long pauseMillis =
        failuresInARow == 1 ? 0 : Math.min(MAX_PAUSE_MILLIS, 5L << Math.min(failuresInARow, 20));
    pauseUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
    acknowledging.flush();
    returns.attempted(message);
    returns.unattempted(message.consumer().drain());
    pullMore(message.consumer());
  }

  // ---- start, stop, settle ----

  void start() {
    lock.lock();
    try {
      started = true;
      consumers.forEach(this::pullMore);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
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
    lock.lock();
    try {
      List<Arrived> taken = delivered;
      delivered = new ArrayList<>();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the transaction lost its messages with a connection; asking forgets it. */
  boolean takeTransactionLost() {
    lock.lock();
    try {
      boolean lost = transactionLost;
      transactionLost = false;
      return lost;
    } finally {
      lock.unlock();
    }
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
    lock.lock();
    try {
      redeliverCurrent = dispatching != null && isDispatcher();
    } finally {
      lock.unlock();
    }
  }

  /** Gives back what was handed over and what waits, so that it comes again in order. */
  void recover(List<Arrived> attempted) throws JMSException {
    List<Arrived> waiting = drainAll();
    try {
      returns.all(attempted, waiting);
      // A pull that was open may have been answered between the two, with later messages.
      returns.all(List.of(), drainAll());
      settled(attempted);
    } finally {
      lock.lock();
      try {
        givingBack = false;
        consumers.forEach(this::pullMore);
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private List<Arrived> drainAll() {
    lock.lock();
    try {
      givingBack = true;
      return consumers.stream().flatMap(consumer -> consumer.drain().stream()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Ends it: wakes receivers, waits for a running listener and for the thread. */
  void close() throws JMSException {
    Thread ending;
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
    if (ending != null && ending != Thread.currentThread()) {
      try {
        ending.join();
      } catch (InterruptedException e) {
        throw JmsFaults.interrupted("the session's thread to end", e);
      }
    }
  }
}
