package io.lightmq.client;

import io.lightmq.client.message.LightmqMessage;
import jakarta.jms.JMSException;
import jakarta.jms.MessageListener;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives messages to the listeners of a session's consumers, one at a time, oldest first, and
 * settles each as the session's mode says. Guarded by the gate's lock.
 */
final class Listening {
  private static final Logger LOG = LoggerFactory.getLogger(Listening.class);

  /** A message that is to be given to its consumer's listener. */
  record Work(Arrived message, MessageListener listener) {}

  private final Inbox inbox;
  private final Gate gate;
  private final AckMode mode;
  private final String threadName;
  private final Consumer<JMSException> tell;
  private final List<ConsumerQueue> consumers;
  private final ListenerPause pause = new ListenerPause();
  private volatile @Nullable ListenerRunner runner;
  private @Nullable ConsumerQueue dispatching;
  private boolean redeliverCurrent;

  /** Listens on behalf of an inbox, on a thread that begins with the first listener. */
  Listening(
      Inbox inbox,
      Gate gate,
      AckMode mode,
      List<ConsumerQueue> consumers,
      String threadName,
      Consumer<JMSException> tell) {
    this.inbox = inbox;
    this.gate = gate;
    this.mode = mode;
    this.consumers = consumers;
    this.threadName = threadName;
    this.tell = tell;
  }

  /** Whether the calling thread is the one that runs listeners. */
  boolean isCurrent() {
    ListenerRunner running = runner;
    return running != null && running.isCurrent();
  }

  /** Sets or removes a listener; one that runs is waited for. */
  void set(ConsumerQueue consumer, @Nullable MessageListener listener) throws JMSException {
    gate.lock();
    try {
      awaitEnd(consumer);
      consumer.listener = listener;
      if (listener != null) {
        consumer.active = true;
        if (runner == null && !gate.isClosed()) {
          runner = ListenerRunner.start(this, threadName, tell);
        }
        inbox.pullMore(consumer);
        gate.signal();
      }
    } finally {
      gate.unlock();
    }
  }

  /** Waits for a running listener of a consumer, or of any; not on its own thread. */
  void awaitEnd(@Nullable ConsumerQueue consumer) throws JMSException {
    while (dispatching != null && (consumer == null || dispatching == consumer) && !isCurrent()) {
      gate.await(Gate.FOREVER, "a message listener to end");
    }
  }

  /** The next message for a listener, oldest first; null at the end. */
  @Nullable Work awaitWork() {
    gate.lock();
    try {
      while (!gate.isClosed()) {
        long pauseNanos = pause.nanosLeft();
        ConsumerQueue ready =
            gate.hands() && pauseNanos <= 0 ? ConsumerQueue.oldest(consumers) : null;
        if (ready != null && ready.listener != null) {
          Arrived next = ready.take();
          dispatching = ready;
          inbox.handOver(next);
          inbox.pullMore(ready);
          return new Work(next, ready.listener);
        }
        awaitForWork(pauseNanos);
      }
      return null;
    } finally {
      gate.unlock();
    }
  }

  private void awaitForWork(long pauseNanos) {
    try {
      var unused = gate.awaitChange(pauseNanos > 0 ? pauseNanos : Gate.FOREVER);
    } catch (InterruptedException e) {
      LOG.debug("{} was interrupted while waiting for messages; it goes on", threadName);
    }
  }

  /** The message that a listener gets. */
  LightmqMessage message(Arrived arrived) throws JMSException {
    return inbox.message(arrived);
  }

  /** A listener has returned, or failed. */
  void listened(Arrived message, boolean failed) {
    if (!mode.isExplicit() && isToComeAgain(message, failed)) {
      try {
        inbox.giveBack(List.of(message.consumer()), List.of(message));
      } catch (JMSException e) {
        LOG.debug("{}: returning a message failed", threadName, e);
      }
    }
    gate.change(() -> dispatching = null);
    if (!mode.isExplicit()) {
      inbox.settled(List.of(message));
    }
  }

  /** Acknowledges it, unless it is to come again. */
  private boolean isToComeAgain(Arrived message, boolean failed) {
    return gate.look(
        () -> {
          boolean again = failed || redeliverCurrent;
          redeliverCurrent = false;
          if (again) {
            pause.failed();
            inbox.flush();
          } else {
            pause.succeeded();
            inbox.acknowledge(message);
          }
          return again;
        });
  }

  /** The message whose listener runs on this thread, if any, is to be delivered again. */
  void recoverCurrent() {
    gate.change(() -> redeliverCurrent = dispatching != null && isCurrent());
  }

  /** Waits for the thread's end, if another one asks; the gate is closed. */
  void join() throws JMSException {
    ListenerRunner ending = runner;
    if (ending != null) {
      ending.join();
    }
  }
}
