package io.lightmq.client;

import io.lightmq.client.message.LightmqMessage;
import jakarta.jms.JMSException;

/** Owns an inbox without a session: nothing is acknowledged, and nothing fails. */
final class NoSession implements Inbox.Owner {
  @Override
  public String name() {
    return "unused";
  }

  @Override
  public LightmqMessage.Acknowledger acknowledger(Arrived message) {
    return () -> {};
  }

  @Override
  public String transaction() {
    return "";
  }

  @Override
  public void tell(JMSException failure) {
    throw new AssertionError(failure);
  }

  @Override
  public boolean isInListener() {
    return false;
  }
}
