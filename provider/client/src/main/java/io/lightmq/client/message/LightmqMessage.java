package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageTooLargeException;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A message of this provider: headers and properties; subclasses add the body. A received one keeps
 * its encoded bytes and decodes headers, properties and body each when they are first asked for.
 */
public abstract class LightmqMessage implements Message {
  private @Nullable MessageReader encoded;
  private @Nullable DestinationMapper mapper;
  private @Nullable Acknowledger acknowledger;
  private boolean headersDecoded = true;
  private @Nullable Properties properties;
  private boolean propertiesReadOnly;
  private boolean bodyReadOnly;
  private boolean bodyDecoded = true;
  private Map<String, Object> received = Map.of();
  private boolean showsProducerTransaction;

  private @Nullable String messageId;
  private @Nullable Object correlationId; // String or byte[]
  private @Nullable Destination replyTo;
  private @Nullable Destination destination;
  private @Nullable String type;
  private int deliveryMode = DEFAULT_DELIVERY_MODE;
  private int priority = DEFAULT_PRIORITY;
  private long timestamp;
  private long expiration;
  private long deliveryTime;
  private long enqueuedMillis;
  private boolean redelivered;

  /** Acknowledges what the message's session has delivered. */
  public interface Acknowledger {
    /** Does it, if the session's mode asks for it. */
    void acknowledge() throws JMSException;
  }

  LightmqMessage() {}

  // ---- what subclasses add ----

  abstract BodyType bodyType();

  abstract void decodeBody(MessageReader reader);

  abstract void encodeBody(MessageWriter writer) throws JMSException;

  /** Empties the body and opens it for writing. */
  abstract void emptyBody();

  /** The body's value, null if there is none. */
  abstract @Nullable Object bodyValue() throws JMSException;

  /** Whether the value may be handed out as the class; asked only if there is a value. */
  abstract boolean fits(Class<?> wanted, Object value);

  // ---- receiving and sending ----

  /** Makes it a received message; see {@link Messages#received}. */
  final void receive(
      MessageReader reader,
      DestinationMapper destinations,
      int deliveries,
      Map<String, Object> jmsx,
      boolean showsProducer,
      long expiryMillis) {
    encoded = reader;
    mapper = destinations;
    headersDecoded = false;
    bodyDecoded = false;
    propertiesReadOnly = true;
    bodyReadOnly = true;
    received = jmsx;
    showsProducerTransaction = showsProducer;
    redelivered = deliveries > 1;
    deliveryMode = reader.isPersistent() ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT;
    priority = reader.priority();
    timestamp = reader.hasTimestamp() ? reader.timestampMillis() : 0;
    deliveryTime = timestamp + reader.deliveryDelayMillis();
    long timeToLive = reader.timeToLiveMillis();
    if (timeToLive == 0) {
      expiration = 0;
    } else if (timestamp == 0) {
      expiration = expiryMillis;
    } else {
      expiration = timestamp + timeToLive < 0 ? Long.MAX_VALUE : timestamp + timeToLive;
    }
  }

  final void enqueued(long millis) {
    enqueuedMillis = millis;
  }

  /**
   * When the broker stored the message, by the broker's clock; 0 for one that was not received.
   *
   * <p>Not a property, because the names of a message's properties are the application's.
   */
  public final long enqueuedMillis() {
    return enqueuedMillis;
  }

  /** Sets what {@link #acknowledge} does. */
  public final void onAcknowledge(Acknowledger acknowledges) {
    acknowledger = acknowledges;
  }

  /**
   * Encodes the message.
   *
   * @throws MessageTooLargeException if it goes beyond the writer's limit
   */
  public final byte[] encode(MessageWriter writer, Envelope envelope, DestinationMapper names)
      throws JMSException {
    decodeHeaders();
    MessageId id = envelope.id();
    try {
      writer.start(
          bodyType(),
          envelope.priority(),
          envelope.persistent(),
          envelope.timeToLiveMillis(),
          envelope.deliveryDelayMillis());
      if (envelope.showTimestamp()) {
        writer.timestampMillis(envelope.timestampMillis());
      }
      if (id != null) {
        writer.messageId(id.most(), id.least(), id.number());
      }
      if (correlationId instanceof byte[] bytes) {
        writer.correlationIdBytes(bytes);
      } else {
        writer.correlationId((String) correlationId);
      }
      writer.type(type).replyTo(replyTo == null ? null : names.nameOf(replyTo));
      writer.destination(envelope.name());
      writer.properties(sentProperties(envelope.transaction()));
      decodeBodyOnce();
      encodeBody(writer);
      writer.finish();
    } catch (IllegalArgumentException e) {
      throw JmsFaults.format("the message cannot be sent: " + e.getMessage(), e);
    }
    return writer.toByteArray();
  }

  private Map<String, @Nullable Object> sentProperties(@Nullable String transaction)
      throws JMSException {
    Map<String, @Nullable Object> values = properties().values();
    boolean asTheyAre = transaction == null && Jmsx.setsNone(values.keySet());
    if (!asTheyAre) {
      values = new LinkedHashMap<>(values);
      values.keySet().removeIf(Jmsx::isSetHere);
      if (transaction != null) {
        values.put(Jmsx.PRODUCER_TRANSACTION, transaction);
      }
    }
    return values;
  }

  /** Copies headers that a client sets, and properties, from another provider's message. */
  final void copyFrom(Message foreign) throws JMSException {
    correlationId = Foreign.part(foreign, "JMSCorrelationID", foreign::getJMSCorrelationID);
    if (correlationId == null) {
      correlationId =
          Foreign.part(foreign, "JMSCorrelationID", foreign::getJMSCorrelationIDAsBytes);
    }
    replyTo = Foreign.part(foreign, "JMSReplyTo", foreign::getJMSReplyTo);
    type = Foreign.part(foreign, "JMSType", foreign::getJMSType);
    for (String name : propertiesOf(foreign)) {
      if (!name.startsWith("JMSX") || name.startsWith("JMSXGroup")) {
        Optional<Object> value =
            Foreign.part(foreign, name, () -> Optional.ofNullable(foreign.getObjectProperty(name)));
        if (value != null) {
          properties().set(name, value.orElse(null));
        }
      }
    }
  }

  private static List<String> propertiesOf(Message foreign) {
    List<String> names = new ArrayList<>();
    Foreign.give(
        foreign,
        "properties",
        () -> {
          Enumeration<?> each = foreign.getPropertyNames();
          while (each.hasMoreElements()) {
            names.add(String.valueOf(each.nextElement()));
          }
        });
    return names;
  }

  private void decodeHeaders() throws JMSException {
    MessageReader reader = encoded;
    if (headersDecoded || reader == null) {
      return;
    }
    try {
      MessageId id = reader.messageId();
      messageId = id == null ? null : id.toString();
      String text = reader.correlationId();
      correlationId = text != null ? text : reader.correlationIdBytes();
      type = reader.type();
      replyTo = toJms(reader.replyTo());
      destination = toJms(reader.destination());
    } catch (MalformedMessageException e) {
      throw JmsFaults.format("the received message is damaged: " + e.getMessage(), e);
    }
    headersDecoded = true;
  }

  private @Nullable Destination toJms(@Nullable DestinationName name) {
    return name == null || mapper == null ? null : mapper.destinationOf(name);
  }

  private Properties properties() throws JMSException {
    Properties known = properties;
    if (known == null) {
      try {
        known = encoded == null ? new Properties() : new Properties(encoded.properties());
      } catch (MalformedMessageException e) {
        throw JmsFaults.format("the received message is damaged: " + e.getMessage(), e);
      }
      if (encoded != null) {
        known.removeIf(Jmsx::isForged);
      }
      if (!showsProducerTransaction) {
        known.remove(Jmsx.PRODUCER_TRANSACTION);
      }
      received.forEach(known::put);
      properties = known;
    }
    return known;
  }

  /** Decodes a received body, for reading. */
  final void decodeBodyOnce() throws JMSException {
    MessageReader reader = encoded;
    if (!bodyDecoded && reader != null) {
      try {
        decodeBody(reader);
      } catch (MalformedMessageException e) {
        throw JmsFaults.format("the received message is damaged: " + e.getMessage(), e);
      }
      bodyDecoded = true;
    }
  }

  final void requireWritableBody() throws JMSException {
    if (bodyReadOnly) {
      throw JmsFaults.notWriteable("body");
    }
  }

  final boolean isBodyReadOnly() {
    return bodyReadOnly;
  }

  final void bodyReadOnly(boolean readOnly) {
    bodyReadOnly = readOnly;
  }

  private Properties writableProperties() throws JMSException {
    if (propertiesReadOnly) {
      throw JmsFaults.notWriteable("properties");
    }
    return properties();
  }

  // ---- headers ----

  @Override
  public final @Nullable String getJMSMessageID() throws JMSException {
    decodeHeaders();
    return messageId;
  }

  @Override
  public final void setJMSMessageID(@Nullable String id) throws JMSException {
    decodeHeaders();
    messageId = id;
  }

  @Override
  public final long getJMSTimestamp() {
    return timestamp;
  }

  @Override
  public final void setJMSTimestamp(long timestamp) {
    this.timestamp = timestamp;
  }

  @Override
  public final byte @Nullable [] getJMSCorrelationIDAsBytes() throws JMSException {
    decodeHeaders();
    if (correlationId instanceof byte[] bytes) {
      return bytes.clone();
    }
    return correlationId == null ? null : ((String) correlationId).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public final void setJMSCorrelationIDAsBytes(byte @Nullable [] id) throws JMSException {
    decodeHeaders();
    correlationId = id == null ? null : id.clone();
  }

  @Override
  public final void setJMSCorrelationID(@Nullable String id) throws JMSException {
    decodeHeaders();
    correlationId = id;
  }

  @Override
  public final @Nullable String getJMSCorrelationID() throws JMSException {
    decodeHeaders();
    if (correlationId instanceof byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    return (String) correlationId;
  }

  @Override
  public final @Nullable Destination getJMSReplyTo() throws JMSException {
    decodeHeaders();
    return replyTo;
  }

  @Override
  public final void setJMSReplyTo(@Nullable Destination replyTo) throws JMSException {
    decodeHeaders();
    this.replyTo = replyTo;
  }

  @Override
  public final @Nullable Destination getJMSDestination() throws JMSException {
    decodeHeaders();
    return destination;
  }

  @Override
  public final void setJMSDestination(@Nullable Destination destination) throws JMSException {
    decodeHeaders();
    this.destination = destination;
  }

  @Override
  public final int getJMSDeliveryMode() {
    return deliveryMode;
  }

  @Override
  public final void setJMSDeliveryMode(int mode) throws JMSException {
    SendRules.checkMode(mode);
    deliveryMode = mode;
  }

  @Override
  public final boolean getJMSRedelivered() {
    return redelivered;
  }

  @Override
  public final void setJMSRedelivered(boolean redelivered) {
    this.redelivered = redelivered;
  }

  @Override
  public final @Nullable String getJMSType() throws JMSException {
    decodeHeaders();
    return type;
  }

  @Override
  public final void setJMSType(@Nullable String type) throws JMSException {
    decodeHeaders();
    this.type = type;
  }

  @Override
  public final long getJMSExpiration() {
    return expiration;
  }

  @Override
  public final void setJMSExpiration(long expiration) {
    this.expiration = expiration;
  }

  @Override
  public final long getJMSDeliveryTime() {
    return deliveryTime;
  }

  @Override
  public final void setJMSDeliveryTime(long deliveryTime) {
    this.deliveryTime = deliveryTime;
  }

  @Override
  public final int getJMSPriority() {
    return priority;
  }

  @Override
  public final void setJMSPriority(int priority) throws JMSException {
    SendRules.checkPriority(priority);
    this.priority = priority;
  }

  // ---- properties ----

  @Override
  public final void clearProperties() throws JMSException {
    properties().clear();
    propertiesReadOnly = false;
  }

  @Override
  public final boolean propertyExists(String name) throws JMSException {
    return properties().contains(name);
  }

  @Override
  public final boolean getBooleanProperty(String name) throws JMSException {
    return properties().getBoolean(name);
  }

  @Override
  public final byte getByteProperty(String name) throws JMSException {
    return properties().getByte(name);
  }

  @Override
  public final short getShortProperty(String name) throws JMSException {
    return properties().getShort(name);
  }

  @Override
  public final int getIntProperty(String name) throws JMSException {
    return properties().getInt(name);
  }

  @Override
  public final long getLongProperty(String name) throws JMSException {
    return properties().getLong(name);
  }

  @Override
  public final float getFloatProperty(String name) throws JMSException {
    return properties().getFloat(name);
  }

  @Override
  public final double getDoubleProperty(String name) throws JMSException {
    return properties().getDouble(name);
  }

  @Override
  public final @Nullable String getStringProperty(String name) throws JMSException {
    return properties().getString(name);
  }

  @Override
  public final @Nullable Object getObjectProperty(String name) throws JMSException {
    return properties().get(name);
  }

  @Override
  public final Enumeration<String> getPropertyNames() throws JMSException {
    return Collections.enumeration(properties().values().keySet());
  }

  @Override
  public final void setBooleanProperty(String name, boolean value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setByteProperty(String name, byte value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setShortProperty(String name, short value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setIntProperty(String name, int value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setLongProperty(String name, long value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setFloatProperty(String name, float value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setDoubleProperty(String name, double value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setStringProperty(String name, @Nullable String value) throws JMSException {
    setObjectProperty(name, value);
  }

  @Override
  public final void setObjectProperty(String name, @Nullable Object value) throws JMSException {
    writableProperties().set(name, value);
  }

  // ---- the rest ----

  @Override
  public final void acknowledge() throws JMSException {
    if (acknowledger != null) {
      acknowledger.acknowledge();
    }
  }

  @Override
  public final void clearBody() throws JMSException {
    bodyDecoded = true;
    bodyReadOnly = false;
    emptyBody();
  }

  @Override
  public final <T> @Nullable T getBody(Class<T> wanted) throws JMSException {
    Object value = bodyValue();
    if (value == null) {
      return null;
    }
    if (!fits(wanted, value)) {
      throw JmsFaults.format(
          "the body of a " + bodyType() + " message is not a " + wanted.getTypeName());
    }
    return wanted.cast(value);
  }

  @Override
  @SuppressWarnings("rawtypes") // as the API declares it
  public final boolean isBodyAssignableTo(Class wanted) throws JMSException {
    Object value = bodyValue();
    return value == null || fits(wanted, value);
  }

  @Override
  public final String toString() {
    return bodyType() + " message " + (messageId == null && encoded != null ? idOf() : messageId);
  }

  private @Nullable MessageId idOf() {
    return encoded == null ? null : encoded.messageId();
  }
}
