package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import jakarta.jms.MessageListener;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives messages to listeners, one at a time, and settles each as the session's mode says: to those
 * of the session's consumers, oldest first, and to the session's own, which gets what a connection
 * consumer has loaded. Whatever a listener throws, errors included, is a failed delivery (section
 * 8.7 of the specification). Guarded by the gate's lock.
 */
final class Listening {
  private static final Logger LOG = LoggerFactory.getLogger(Listening.class);

  /**
   * A message that is to be given to a listener.
   *
   * @param kept whether it waits for a word on it when the listener has returned
   * @param stale whether a connection was lost since it was taken, so that it comes again
   */
  record Work(Arrived message, MessageListener listener, boolean kept, BooleanSupplier stale) {}

  private final Unsettled unsettled;
  private final Loaded loaded;
  private final Unpacking unpacking;
  private final Gate gate;
  private final AckMode mode;
  private final List<ConsumerQueue> consumers;
  private final String name;
  private final Consumer<JMSException> tell;
  private final Refusals refusals;
  private final ListenerPause pause = new ListenerPause();

  private @Nullable MessageListener sessionListener;

  /** How many threads wait to set another one: meanwhile nothing new is run. */
  private int settingSessionListener;

  private @Nullable ListenerRunner runner;
  private @Nullable ConsumerQueue dispatching;
  private volatile @Nullable Thread thread;
  private boolean redeliverCurrent;

  /** Whether the broker had no room for what the listener did that has asked for that. */
  private boolean noRoomForCurrent;

  /**
   * Listens on behalf of an unsettled.
   *
   * @param name of the thread that begins with the first listener of a consumer
   * @param tell is told of errors, which no application expects from its listener
   * @param refusals of the session
   */
  Listening(
      Unsettled unsettled,
      Loaded loaded,
      Unpacking unpacking,
      Gate gate,
      AckMode mode,
      List<ConsumerQueue> consumers,
      String name,
      Consumer<JMSException> tell,
      Refusals refusals) {
    this.unsettled = unsettled;
    this.loaded = loaded;
    this.unpacking = unpacking;
    this.gate = gate;
    this.mode = mode;
    this.consumers = consumers;
    this.name = name;
    this.tell = tell;
    this.refusals = refusals;
  }

  /** Whether the calling thread runs a listener. */
  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Sets or removes a consumer's listener; one that runs is waited for. */
  void set(ConsumerQueue consumer, @Nullable MessageListener listener) throws JMSException {
    gate.lock();
    consumer.settingListener++;
    try {
      awaitEndOrInterrupt(consumer);
      consumer.listener = listener;
      if (listener != null) {
        if (runner == null && !gate.isEnding()) {
          runner = ListenerRunner.start(this, name);
        }
        unsettled.pullMore(consumer);
      }
    } finally {
      consumer.settingListener--;
      gate.signal();
      gate.unlock();
    }
  }

  /** Sets or removes the session's own listener; one that runs is waited for. */
  void set(@Nullable MessageListener listener) throws JMSException {
    gate.lock();
    settingSessionListener++;
    try {
      awaitEndOrInterrupt(null);
      sessionListener = listener;
    } finally {
      settingSessionListener--;
      gate.signal();
      gate.unlock();
    }
  }

  @Nullable MessageListener sessionListener() {
    gate.lock();
    try {
      return sessionListener;
    } finally {
      gate.unlock();
    }
  }

  /** Refuses a session without a listener of its own, so that it is loaded with nothing. */
  void requireSessionListener() throws JMSException {
    if (sessionListener() == null) {
      throw noSessionListener("nothing of a connection consumer is given to a session");
    }
  }

  private static JMSException noSessionListener(String what) {
    return JmsFaults.illegalState(
        what + ": the session has no message listener; call Session.setMessageListener first");
  }

  /**
   * Waits for a running listener of a consumer, or of any; not on its own thread. An interrupt does
   * not end the wait.
   */
  void awaitEnd(@Nullable ConsumerQueue consumer) {
    gate.checkHeld();
    while (isRunning(consumer)) {
      gate.awaitUninterruptibly();
    }
  }

  private void awaitEndOrInterrupt(@Nullable ConsumerQueue consumer) throws JMSException {
    while (isRunning(consumer)) {
      gate.await(Gate.FOREVER, "a message listener to end");
    }
  }

  private boolean isRunning(@Nullable ConsumerQueue consumer) {
    return dispatching != null && (consumer == null || dispatching == consumer) && !isCurrent();
  }

  // ---- listeners of consumers ----

  /** The next message for a listener, oldest first; null at the end. */
  @Nullable Work awaitWork() {
    gate.lock();
    try {
      while (!gate.isEnding()) {
        long pauseNanos = pause.nanosLeft();
        ConsumerQueue ready =
            dispatching == null && gate.begins() && pauseNanos <= 0
                ? ConsumerQueue.oldest(consumers)
                : null;
        if (ready != null && ready.listener != null) {
          Arrived next = ready.take();
          ready.handedOver();
          ready.busy = ready.isOnDemand();
          Work work = begin(next, ready.listener);
          unsettled.pullMore(ready);
          return work;
        }
        try {
          awaitChange(pauseNanos);
        } catch (InterruptedException e) {
          LOG.debug("{} was interrupted while waiting for messages; it goes on", name);
        }
      }
      return null;
    } finally {
      gate.unlock();
    }
  }

  private void awaitChange(long pauseNanos) throws InterruptedException {
    var unused = gate.awaitChange(pauseNanos > 0 ? pauseNanos : Gate.FOREVER);
  }

  private Work begin(Arrived message, MessageListener listener) {
    dispatching = message.consumer();
    thread = Thread.currentThread();
    return new Work(message, listener, unsettled.handedOver().keeps(), unsettled.handOver(message));
  }

  // ---- the session's own listener ----

  /** Runs what is loaded, on the calling thread; waits while the connection is stopped. */
  void runLoaded() {
    for (Work work = awaitLoaded(); work != null; work = awaitLoaded()) {
      run(work);
    }
  }

  private @Nullable Work awaitLoaded() {
    if (isCurrent()) {
      return null; // a listener has called run(): what is loaded is run by the run() around it
    }
    gate.lock();
    try {
      while (!loaded.isEmpty() && !gate.isEnding()) {
        MessageListener listener = sessionListener;
        if (listener == null) {
          break;
        }
        long pauseNanos = pause.nanosLeft();
        if (mayRunLoaded(pauseNanos)) {
          return begin(loaded.next(), listener);
        }
        awaitChange(pauseNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      gate.unlock();
    }
    giveUpLoaded();
    return null;
  }

  private boolean mayRunLoaded(long pauseNanos) {
    return dispatching == null && settingSessionListener == 0 && gate.begins() && pauseNanos <= 0;
  }

  /** What cannot be run here goes back, uncounted. */
  private void giveUpLoaded() {
    List<Arrived> left = loaded.takeAll();
    if (left.isEmpty()) {
      return;
    }
    unsettled.unattempted(left);
    if (sessionListener() == null) {
      String count = left.size() == 1 ? "1 message" : left.size() + " messages";
      tell.accept(noSessionListener(count + " of a connection consumer went back"));
    }
  }

  // ---- running ----

  /**
   * Runs a listener and settles its message. The listener may leave the thread interrupted, which
   * must not end the wait for the broker that takes the message back.
   */
  void run(Work work) {
    Arrived message = work.message();
    boolean interrupted = false;
    if (!work.kept()) {
      refusals.forget(); // each message is a work of its own
    }
    try {
      Throwable failure = ran(work);
      interrupted = Thread.interrupted();
      if (work.kept()) {
        if (failure != null && Receiving.isDamage(failure)) {
          damaged(work, failure);
        }
      } else {
        settle(work, failure);
      }
    } finally {
      gate.change(this::ended);
      if (!work.kept()) {
        unsettled.settled(List.of(message));
      }
      if (interrupted) {
        Thread.currentThread().interrupt(); // on a thread of the application it is the caller's
      }
    }
  }

  /** Acknowledges it, or has it come again. */
  private void settle(Work work, @Nullable Throwable failure) {
    boolean noRoom = refusals.excuse(failure);
    switch (outcome(work.message(), failure != null, noRoom)) {
      case DONE -> {}
      case FAILED -> comeAgain(work, failure, true);
      case NO_ROOM -> comeAgain(work, failure, false);
    }
  }

  /** No listener runs any more; with the gate's lock held. */
  private void ended() {
    gate.checkHeld();
    ConsumerQueue consumer = dispatching;
    dispatching = null;
    thread = null;
    if (consumer != null && consumer.busy && consumer.unsettled() == unsettled) {
      consumer.busy = false;
      unsettled.pullMore(consumer);
    }
  }

  /** What no listener could get must not be settled together with what they got. */
  private void damaged(Work work, Throwable failure) {
    List<Arrived> open;
    try {
      open = unsettled.take(work.message().placeOnly()).open();
    } catch (JMSException e) {
      return; // the session's close has given it back
    }
    if (!open.isEmpty()) {
      comeAgain(work, failure, true);
      unsettled.settled(open);
    }
  }

  private void comeAgain(Work work, @Nullable Throwable failure, boolean counted) {
    String cause = failure == null ? null : text(failure);
    try {
      unsettled.comeAgain(work.message(), counted, cause, work.stale());
    } catch (JMSException e) {
      LOG.debug("{}: returning a message failed", name, e);
    }
  }

  /** Something of ours has failed between two messages: that is told, and listening goes on. */
  void failed(Throwable cause) {
    LOG.error("{}: the thread for listeners failed; it goes on", name, cause);
    gate.change(
        () -> {
          pause.failed();
          if (isCurrent()) {
            ended();
          }
        });
    tell.accept(
        JmsFaults.of(
            FaultCode.OUTCOME_UNKNOWN,
            "settling a message failed, it may come again: " + cause,
            cause));
  }

  /** What a failure is called in the dead letter, if it becomes one. */
  static String text(Throwable failure) {
    String text = failure.toString();
    return text.length() <= Protocol.MAX_CAUSE_CHARS
        ? text
        : text.substring(0, Protocol.MAX_CAUSE_CHARS);
  }

  /** What the listener has thrown, or null. */
  private @Nullable Throwable ran(Work work) {
    try {
      work.listener().onMessage(unpacking.message(work.message()));
      return null;
    } catch (Throwable e) {
      LOG.warn(
          "{}: the message listener failed at delivery {} of a message",
          name,
          work.message().deliveries(),
          e);
      if (e instanceof Error) {
        tell.accept(
            JmsFaults.of(FaultCode.BAD_REQUEST, "a message listener ended with an error: " + e, e));
      }
      return e;
    }
  }

  /** What has become of a message in the hands of its listener. */
  private enum Outcome {
    DONE,
    FAILED,
    /** It has failed since the broker had no room, which is no failed attempt. */
    NO_ROOM
  }

  /** Acknowledges it, unless it is to come again; then the listeners rest. */
  private Outcome outcome(Arrived message, boolean failed, boolean noRoom) {
    return gate.look(
        () -> {
          boolean again = (failed || redeliverCurrent) && mode != AckMode.NONE;
          boolean refused = failed ? noRoom : noRoomForCurrent;
          redeliverCurrent = false;
          if (!again) {
            pause.succeeded();
            unsettled.acknowledge(message);
            return Outcome.DONE;
          }
          if (refused) {
            pause.refused();
          } else {
            pause.failed();
          }
          unsettled.flush();
          return refused ? Outcome.NO_ROOM : Outcome.FAILED;
        });
  }

  /**
   * The message whose listener runs on this thread, if any, is to be delivered again.
   *
   * @param noRoom whether the broker had no room for what the listener did
   */
  void recoverCurrent(boolean noRoom) {
    gate.change(
        () -> {
          redeliverCurrent = dispatching != null && isCurrent();
          noRoomForCurrent = noRoom;
        });
  }

  /** Waits for the thread's end, if another one asks; the gate is ending. */
  void join() {
    ListenerRunner ending;
    gate.lock();
    try {
      ending = runner;
    } finally {
      gate.unlock();
    }
    if (ending != null) {
      ending.join();
    }
  }
}
