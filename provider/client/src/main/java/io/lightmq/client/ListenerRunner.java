package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that runs the message listeners of a session, one message at a time, until its
 * inbox is closed. Whatever a listener throws, errors included, is a failed delivery, and the thread goes
 * on.
 */
final class ListenerRunner {
  private static final Logger LOG = LoggerFactory.getLogger(ListenerRunner.class);

  private final Listening listening;
  private final Consumer<JMSException> tell;
  private final Thread thread;

  private ListenerRunner(Listening listening, String name, Consumer<JMSException> tell) {
    this.listening = listening;
    this.tell = tell;
    this.thread = new Thread(this::run, name);
  }

  /**
   * Starts it.
   *
   * @param tell is told of errors, which no application expects from its listener
   */
  static ListenerRunner start(Listening listening, String name, Consumer<JMSException> tell) {
    ListenerRunner runner = new ListenerRunner(listening, name, tell);
    runner.thread.setDaemon(false);
    runner.thread.start();
    return runner;
  }

  /** Whether the calling thread is this one. */
  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Waits for the thread's end, if another one asks. */
  void join() throws JMSException {
    if (isCurrent()) {
      return;
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw JmsFaults.interrupted("the session's thread to end", e);
    }
  }

  private void run() {
    for (Listening.Work work = listening.awaitWork(); work != null; work = listening.awaitWork()) {
      listening.listened(work.message(), !ran(work));
    }
  }

  private boolean ran(Listening.Work work) {
    try {
      work.listener().onMessage(listening.message(work.message()));
      return true;
    } catch (Throwable e) {
      LOG.warn(
          "{}: the message listener failed at delivery {} of a message",
          thread.getName(),
          work.message().deliveries(),
          e);
      if (e instanceof Error) {
        tell.accept(
            JmsFaults.of(FaultCode.BAD_REQUEST, "a message listener ended with an error: " + e, e));
      }
      return false;
    }
  }
}
