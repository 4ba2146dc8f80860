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

  /** Kept, since each send goes through them and {@code values()} makes an array. */
  private static final Header[] HEADERS = Header.values();

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

  /** Sets the headers on the sender's object; another provider's takes those that it can. */
  public void applyTo(Message message) throws JMSException {
    if (message instanceof LightmqMessage) {
      for (Header header : HEADERS) {
        header.set(message, this);
      }
      return;
    }
    for (Header header : HEADERS) {
      Foreign.give(message, header.name(), () -> header.set(message, this));
    }
  }

  private enum Header {
    DESTINATION,
    DELIVERY_MODE,
    PRIORITY,
    MESSAGE_ID,
    TIMESTAMP,
    EXPIRATION,
    DELIVERY_TIME,
    REDELIVERED;

    void set(Message message, Envelope envelope) throws JMSException {
      switch (this) {
        case DESTINATION -> message.setJMSDestination(envelope.destination);
        case DELIVERY_MODE ->
            message.setJMSDeliveryMode(
                envelope.persistent ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT);
        case PRIORITY -> message.setJMSPriority(envelope.priority);
        case MESSAGE_ID ->
            message.setJMSMessageID(envelope.id == null ? null : envelope.id.toString());
        case TIMESTAMP ->
            message.setJMSTimestamp(envelope.showTimestamp ? envelope.timestampMillis : 0);
        case EXPIRATION -> message.setJMSExpiration(envelope.expirationMillis());
        case DELIVERY_TIME -> message.setJMSDeliveryTime(envelope.deliveryTimeMillis());
        case REDELIVERED -> message.setJMSRedelivered(false);
      }
    }
  }
}
