package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.JMSException;
import jakarta.jms.ObjectMessage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A serialised object: written when it is set, read under an allow-list each time it is asked for.
 */
final class LightmqObjectMessage extends LightmqMessage implements ObjectMessage {
  private final ObjectTrust trust;
  private byte @Nullable [] serialised;

  LightmqObjectMessage(ObjectTrust trust) {
    this.trust = trust;
  }

  @Override
  public void setObject(@Nullable Serializable object) throws JMSException {
    requireWritableBody();
    serialised = object == null ? null : serialise(object);
  }

  private static byte[] serialise(Serializable object) throws JMSException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    } catch (IOException e) {
      throw JmsFaults.format(
          "an object of "
              + object.getClass().getName()
              + " cannot be serialised: "
              + e.getMessage(),
          e);
    }
    return bytes.toByteArray();
  }

  @Override
  public @Nullable Serializable getObject() throws JMSException {
    decodeBodyOnce();
    return serialised == null ? null : trust.read(serialised);
  }

  @Override
  BodyType bodyType() {
    return BodyType.OBJECT;
  }

  @Override
  void decodeBody(MessageReader reader) {
    serialised = reader.objectBody();
  }

  @Override
  void encodeBody(MessageWriter writer) {
    writer.objectBody(serialised);
  }

  @Override
  void emptyBody() {
    serialised = null;
  }

  @Override
  @Nullable Object bodyValue() throws JMSException {
    return getObject();
  }

  @Override
  boolean fits(Class<?> wanted, Object value) {
    return wanted.isInstance(value);
  }
}
