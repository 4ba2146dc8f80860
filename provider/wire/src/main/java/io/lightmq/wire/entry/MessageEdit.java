package io.lightmq.wire.entry;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Changes properties and time to live of an encoded message; headers and body are copied as they
 * are. The broker uses it where it moves a message and says why.
 */
public final class MessageEdit {
  /** What the names of properties begin with that the broker sets on moved messages. */
  public static final String PREFIX = "JMS_LightMQ_";

  private MessageEdit() {}

  /**
   * The message without the broker's own properties, with others in their place and another time to
   * live, under a new CRC.
   *
   * @param set properties to set, as {@link MessageWriter#properties} takes them
   * @throws MalformedMessageException if the message does not follow its layout or its CRC is
   *     wrong: a new one would make damage look like what the producer sent
   */
  public static ByteBuffer withProperties(
      ByteBuffer buffer,
      int at,
      int messageBytes,
      Map<String, ? extends @Nullable Object> set,
      long timeToLiveMillis) {
    MessageReader.check(buffer, at, messageBytes);
    MessageReader reader = new MessageReader(buffer, at, messageBytes);
    Map<String, @Nullable Object> properties = new LinkedHashMap<>(reader.properties());
    properties.keySet().removeIf(name -> name.startsWith(PREFIX));
    properties.putAll(set);
    if (properties.size() > MessageLayout.MAX_PROPERTIES) {
      properties.keySet().removeAll(set.keySet()); // the application's own are more important
    }
    return rewritten(buffer, at, messageBytes, reader, properties, timeToLiveMillis);
  }

  /**
   * The message without what only the provider may set, under a new CRC; see {@link ProviderNames}.
   *
   * @throws MalformedMessageException if the message does not follow its layout or its CRC is
   *     wrong: whoever reads it finds that out
   */
  public static ByteBuffer withoutProviderNames(ByteBuffer buffer, int at, int messageBytes) {
    MessageReader.check(buffer, at, messageBytes);
    MessageReader reader = new MessageReader(buffer, at, messageBytes);
    Map<String, @Nullable Object> properties = new LinkedHashMap<>(reader.properties());
    properties.keySet().removeIf(ProviderNames::isOwned);
    long timeToLiveMillis = MessageReader.timeToLiveMillis(buffer, at);
    return rewritten(buffer, at, messageBytes, reader, properties, timeToLiveMillis);
  }

  private static ByteBuffer rewritten(
      ByteBuffer buffer,
      int at,
      int messageBytes,
      MessageReader reader,
      Map<String, @Nullable Object> properties,
      long timeToLiveMillis) {
    ByteSink sink = new ByteSink(Integer.MAX_VALUE);
    int fixed = reader.headersEndIn() - at;
    byte[] copied = new byte[fixed];
    buffer.get(at, copied);
    sink.putBytes(copied, 0, fixed);
    int frame = sink.openFrame();
    if (!properties.isEmpty()) {
      sink.putVarint(properties.size());
      properties.forEach(
          (name, value) -> {
            sink.putString(name);
            sink.putValue(value);
          });
    }
    sink.closeFrame(frame);
    byte[] body = new byte[reader.bodyBytes()];
    buffer.get(at + messageBytes - body.length, body);
    sink.putBytes(body, 0, body.length);
    sink.setLong(MessageLayout.TIME_TO_LIVE, timeToLiveMillis);
    ByteBuffer edited = ByteBuffer.wrap(sink.bytes(), 0, sink.length());
    sink.setInt(MessageLayout.CRC, Crc.of(edited, MessageLayout.VERSION_AT, sink.length()));
    return edited;
  }
}
