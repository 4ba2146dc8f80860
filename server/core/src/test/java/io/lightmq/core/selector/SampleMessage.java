package io.lightmq.core.selector;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageWriter;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message for selectors to look at; headers go by their JMS names. */
final class SampleMessage {
  private final MessageWriter writer = new MessageWriter(1 << 23);

  /** Encodes what a selector may see; the bytes lie behind some others, as in a run. */
  ByteBuffer encode(Map<String, @Nullable Object> values) {
    Map<String, @Nullable Object> properties = new LinkedHashMap<>(values);
    properties
        .keySet()
        .removeIf(
            name -> name.startsWith("JMS") && !name.startsWith("JMSX") && !name.startsWith("JMS_"));
    Object priority = values.getOrDefault("JMSPriority", 4);
    writer.start(
        BodyType.TEXT,
        (Integer) (priority == null ? 4 : priority),
        !"NON_PERSISTENT".equals(values.get("JMSDeliveryMode")),
        0,
        0);
    if (values.get("JMSTimestamp") instanceof Long timestamp) {
      writer.timestampMillis(timestamp);
    }
    if (values.get("JMSMessageID") instanceof String id) {
      MessageId parsed = MessageId.parse(id);
      if (parsed == null) {
        throw new IllegalArgumentException(id);
      }
      writer.messageId(parsed.most(), parsed.least(), parsed.number());
    }
    if (values.get("JMSCorrelationID") instanceof byte[] bytes) {
      writer.correlationIdBytes(bytes);
    } else {
      writer.correlationId((String) values.get("JMSCorrelationID"));
    }
    writer.type((String) values.get("JMSType"));
    writer.properties(properties).textBody("body");
    byte[] message = new byte[writer.finish()];
    System.arraycopy(writer.array(), 0, message, 0, message.length);
    return ByteBuffer.allocate(message.length + 8).position(8).put(message).flip();
  }

  /** Whether a selector matches. */
  static boolean matches(Selector selector, ByteBuffer encoded) {
    return selector.evaluator().matches(encoded, 8, encoded.limit() - 8, new Work());
  }
}
