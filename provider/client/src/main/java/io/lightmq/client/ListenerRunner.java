package io.lightmq.client;

import jakarta.jms.JMSException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the message listeners of a session, one message at a time, until its inbox is closed. */
final class ListenerRunner implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(ListenerRunner.class);

  private final Inbox inbox;
  private final String name;

  ListenerRunner(Inbox inbox, String name) {
    this.inbox = inbox;
    this.name = name;
  }

  @Override
  public void run() {
    for (Inbox.Work work = inbox.awaitWork(); work != null; work = inbox.awaitWork()) {
      boolean failed = true;
      try {
        work.listener().onMessage(inbox.message(work.message()));
        failed = false;
      } catch (JMSException | RuntimeException e) {
        LOG.warn(
            "{}: the message listener failed at delivery {} of a message",
            name,
            work.message().deliveries(),
            e);
      } finally {
        inbox.listened(work.message(), failed);
      }
    }
  }
}
