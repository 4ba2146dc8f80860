package io.lightmq.client.message;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import org.jspecify.annotations.Nullable;

/** A message without a body. */
final class PlainMessage extends LightmqMessage {
  @Override
  BodyType bodyType() {
    return BodyType.MESSAGE;
  }

  @Override
  void decodeBody(MessageReader reader) {}

  @Override
  void encodeBody(MessageWriter writer) {}

  @Override
  void emptyBody() {}

  @Override
  @Nullable Object bodyValue() {
    return null;
  }

  @Override
  boolean fits(Class<?> wanted, Object value) {
    return true;
  }
}
