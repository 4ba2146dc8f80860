package io.lightmq.client.message;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.JMSException;
import jakarta.jms.TextMessage;
import org.jspecify.annotations.Nullable;

/** A text, which may be null. */
final class LightmqTextMessage extends LightmqMessage implements TextMessage {
  private @Nullable String text;

  @Override
  public void setText(@Nullable String newText) throws JMSException {
    requireWritableBody();
    text = newText;
  }

  @Override
  public @Nullable String getText() throws JMSException {
    decodeBodyOnce();
    return text;
  }

  @Override
  BodyType bodyType() {
    return BodyType.TEXT;
  }

  @Override
  void decodeBody(MessageReader reader) {
    text = reader.textBody();
  }

  @Override
  void encodeBody(MessageWriter writer) {
    writer.textBody(text);
  }

  @Override
  void emptyBody() {
    text = null;
  }

  @Override
  @Nullable Object bodyValue() throws JMSException {
    return getText();
  }

  @Override
  boolean fits(Class<?> wanted, Object value) {
    return wanted.isInstance(value);
  }
}
