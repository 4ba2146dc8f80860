package io.lightmq.client;

import io.lightmq.client.message.LightmqMessage;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.entry.MalformedMessageException;
import jakarta.jms.JMSException;

/** Makes what has arrived into messages of the application. */
final class Unpacking {
  private final AckMode mode;
  private final Messages messages;
  private final Inbox.Owner owner;

  Unpacking(AckMode mode, Messages messages, Inbox.Owner owner) {
    this.mode = mode;
    this.messages = messages;
    this.owner = owner;
  }

  /** The message in what has arrived. */
  LightmqMessage message(Arrived arrived) throws JMSException {
    try {
      LightmqMessage message =
          messages.received(
              arrived.entry(),
              arrived.deliveries(),
              mode == AckMode.TRANSACTED ? owner.transaction() : null);
      message.onAcknowledge(owner.acknowledger(arrived));
      return message;
    } catch (MalformedMessageException e) {
      throw Messages.damaged(e);
    }
  }
}
