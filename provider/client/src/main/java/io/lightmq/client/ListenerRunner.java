package io.lightmq.client;

import io.lightmq.client.link.Uninterrupted;

/**
 * The thread that runs the message listeners of a session's consumers, one message at a time, until
 * its inbox is closed.
 */
final class ListenerRunner {
  private final Thread thread;

  private ListenerRunner(Listening listening, String name) {
    this.thread = new Thread(() -> run(listening), name);
  }

  private static void run(Listening listening) {
    boolean more = true;
    while (more) {
      try {
        Listening.Work work = listening.awaitWork();
        more = work != null;
        if (work != null) {
          listening.run(work);
        }
      } catch (Throwable e) { // of ours, and errors too: whoever closes waits for this thread's end
        listening.failed(e);
      }
      // What a listener has left set would end the waits for the next message.
      Thread.interrupted();
    }
  }

  static ListenerRunner start(Listening listening, String name) {
    ListenerRunner runner = new ListenerRunner(listening, name);
    runner.thread.setDaemon(false);
    runner.thread.start();
    return runner;
  }

  /** Waits for the thread's end, if another one asks. */
  void join() {
    if (Thread.currentThread() != thread) {
      Uninterrupted.join(thread);
    }
  }
}
