package io.lightmq.client.message;

import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageId;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import org.jspecify.annotations.Nullable;

/**
 * What a send puts on a message.
 *
 * @param id null if the producer gives none
 * @param timestampMillis when it was sent
 * @param showTimestamp whether the message carries that time
 * @param transaction that it is sent in, if the message is to tell it
 */
public record Envelope(
    Destination destination,
    DestinationName name,
    boolean persistent,
    int priority,
    long timeToLiveMillis,
    long deliveryDelayMillis,
    @Nullable MessageId id,
    long timestampMillis,
    boolean showTimestamp,
    @Nullable String transaction) {

  /** When the message expires by the producer's clock, 0 for never. */
  public long expirationMillis() {
    if (timeToLiveMillis == 0) {
      return 0;
    }
    long sum = timestampMillis + timeToLiveMillis;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** When the message may be delivered first, by the producer's clock. */
  public long deliveryTimeMillis() {
    long sum = timestampMillis + deliveryDelayMillis;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** Sets the headers on the sender's object, which may be another provider's. */
  public void applyTo(Message message) throws JMSException {
    message.setJMSDestination(destination);
    message.setJMSDeliveryMode(persistent ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT);
    message.setJMSPriority(priority);
    message.setJMSMessageID(id == null ? null : id.toString());
    message.setJMSTimestamp(showTimestamp ? timestampMillis : 0);
    message.setJMSExpiration(expirationMillis());
    message.setJMSDeliveryTime(deliveryTimeMillis());
    message.setJMSRedelivered(false);
  }
}
