package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.message.Foreign;
import io.lightmq.client.message.LightmqMessage;
import io.lightmq.client.message.Properties;
import io.lightmq.client.message.SendRules;
import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSProducer;
import jakarta.jms.Message;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A producer of the simplified API: settings, headers and properties for the sends that follow. */
final class LightmqJmsProducer implements JMSProducer {
  private final LightmqSession session;
  private final Properties properties = new Properties();
  private boolean disableMessageId;
  private boolean disableTimestamp;
  private int deliveryMode = DeliveryMode.PERSISTENT;
  private int priority = Message.DEFAULT_PRIORITY;
  private long deliveryDelayMillis;
  private long timeToLiveMillis;
  private @Nullable CompletionListener async;
  private @Nullable Object correlationId; // String or byte[]
  private @Nullable String type;
  private @Nullable Destination replyTo;

  LightmqJmsProducer(LightmqSession session) {
    this.session = session;
  }

  // ---- sending ----

  @Override
  public JMSProducer send(@Nullable Destination destination, @Nullable Message message) {
    Unchecked.run(
        () -> {
          session.requireOpen();
          if (message == null) {
            throw JmsFaults.format("the message is null");
          }
          if (destination == null) {
            throw JmsFaults.invalidDestination("the destination is null");
          }
          LightmqMessage ours = session.messages().ours(message);
          dress(ours);
          if (ours != message) {
            Foreign.give(message, "settings of the producer", () -> dress(message));
          }
          session
              .sender()
              .send(
                  null,
                  null,
                  destination,
                  ours,
                  message,
                  new SessionSender.Options(
                      deliveryMode,
                      priority,
                      timeToLiveMillis,
                      deliveryDelayMillis,
                      !disableMessageId,
                      !disableTimestamp),
                  async);
        });
    return this;
  }

  private void dress(Message message) throws jakarta.jms.JMSException {
    if (correlationId instanceof byte[] bytes) {
      message.setJMSCorrelationIDAsBytes(bytes);
    } else if (correlationId != null) {
      message.setJMSCorrelationID((String) correlationId);
    }
    if (type != null) {
      message.setJMSType(type);
    }
    if (replyTo != null) {
      message.setJMSReplyTo(replyTo);
    }
    for (Map.Entry<String, @Nullable Object> property : properties.values().entrySet()) {
      message.setObjectProperty(property.getKey(), property.getValue());
    }
  }

  @Override
  public JMSProducer send(Destination destination, @Nullable String body) {
    return send(destination, Unchecked.get(() -> session.createTextMessage(body)));
  }

  @Override
  public JMSProducer send(Destination destination, @Nullable Map<String, Object> body) {
    return send(destination, Unchecked.get(() -> session.messages().map(body)));
  }

  @Override
  public JMSProducer send(Destination destination, byte @Nullable [] body) {
    return send(
        destination,
        Unchecked.get(
            () -> {
              BytesMessage message = session.createBytesMessage();
              if (body != null) {
                message.writeBytes(body);
              }
              return (Message) message;
            }));
  }

  @Override
  public JMSProducer send(Destination destination, @Nullable Serializable body) {
    return send(destination, Unchecked.get(() -> session.createObjectMessage(body)));
  }

  // ---- settings ----

  @Override
  public JMSProducer setDisableMessageID(boolean value) {
    disableMessageId = value;
    return this;
  }

  @Override
  public boolean getDisableMessageID() {
    return disableMessageId;
  }

  @Override
  public JMSProducer setDisableMessageTimestamp(boolean value) {
    disableTimestamp = value;
    return this;
  }

  @Override
  public boolean getDisableMessageTimestamp() {
    return disableTimestamp;
  }

  @Override
  public JMSProducer setDeliveryMode(int mode) {
    Unchecked.run(() -> SendRules.checkMode(mode));
    deliveryMode = mode;
    return this;
  }

  @Override
  public int getDeliveryMode() {
    return deliveryMode;
  }

  @Override
  public JMSProducer setPriority(int newPriority) {
    Unchecked.run(() -> SendRules.checkPriority(newPriority));
    priority = newPriority;
    return this;
  }

  @Override
  public int getPriority() {
    return priority;
  }

  @Override
  public JMSProducer setTimeToLive(long millis) {
    Unchecked.run(() -> SendRules.checkTimeToLive(millis));
    timeToLiveMillis = millis;
    return this;
  }

  @Override
  public long getTimeToLive() {
    return timeToLiveMillis;
  }

  @Override
  public JMSProducer setDeliveryDelay(long millis) {
    Unchecked.run(() -> SendRules.checkDelay(millis));
    deliveryDelayMillis = millis;
    return this;
  }

  @Override
  public long getDeliveryDelay() {
    return deliveryDelayMillis;
  }

  @Override
  public JMSProducer setAsync(@Nullable CompletionListener listener) {
    async = listener;
    return this;
  }

  @Override
  public @Nullable CompletionListener getAsync() {
    return async;
  }

  // ---- properties ----

  @Override
  public JMSProducer setProperty(String name, boolean value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, byte value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, short value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, int value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, long value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, float value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, double value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(String name, @Nullable String value) {
    return setProperty(name, (Object) value);
  }

  @Override
  public JMSProducer setProperty(@Nullable String name, @Nullable Object value) {
    Unchecked.run(() -> properties.set(name, value));
    return this;
  }

  @Override
  public JMSProducer clearProperties() {
    properties.clear();
    return this;
  }

  @Override
  public boolean propertyExists(String name) {
    return properties.contains(name);
  }

  @Override
  public boolean getBooleanProperty(String name) {
    return Unchecked.get(() -> properties.getBoolean(name));
  }

  @Override
  public byte getByteProperty(String name) {
    return Unchecked.get(() -> properties.getByte(name));
  }

  @Override
  public short getShortProperty(String name) {
    return Unchecked.get(() -> properties.getShort(name));
  }

  @Override
  public int getIntProperty(String name) {
    return Unchecked.get(() -> properties.getInt(name));
  }

  @Override
  public long getLongProperty(String name) {
    return Unchecked.get(() -> properties.getLong(name));
  }

  @Override
  public float getFloatProperty(String name) {
    return Unchecked.get(() -> properties.getFloat(name));
  }

  @Override
  public double getDoubleProperty(String name) {
    return Unchecked.get(() -> properties.getDouble(name));
  }

  @Override
  public @Nullable String getStringProperty(String name) {
    return Unchecked.ask(() -> properties.getString(name));
  }

  @Override
  public @Nullable Object getObjectProperty(String name) {
    return properties.get(name);
  }

  @Override
  public Set<String> getPropertyNames() {
    return Collections.unmodifiableSet(new LinkedHashSet<>(properties.values().keySet()));
  }

  // ---- headers ----

  @Override
  public JMSProducer setJMSCorrelationIDAsBytes(byte @Nullable [] id) {
    correlationId = id == null ? null : id.clone();
    return this;
  }

  @Override
  public byte @Nullable [] getJMSCorrelationIDAsBytes() {
    if (correlationId instanceof byte[] bytes) {
      return bytes.clone();
    }
    return correlationId == null ? null : correlationId.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public JMSProducer setJMSCorrelationID(@Nullable String id) {
    correlationId = id;
    return this;
  }

  @Override
  public @Nullable String getJMSCorrelationID() {
    if (correlationId instanceof byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    return (String) correlationId;
  }

  @Override
  public JMSProducer setJMSType(@Nullable String newType) {
    type = newType;
    return this;
  }

  @Override
  public @Nullable String getJMSType() {
    return type;
  }

  @Override
  public JMSProducer setJMSReplyTo(@Nullable Destination destination) {
    replyTo = destination;
    return this;
  }

  @Override
  public @Nullable Destination getJMSReplyTo() {
    return replyTo;
  }
}
